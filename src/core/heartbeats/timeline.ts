// The timeline of an account: heartbeat entries of one game, close to one another, joined into spans of time.
import type { Heartbeat } from './heartbeat.js';

interface PlayedSpan {
  readonly from: number;
  to: number;
  readonly gameId: string | null;
  heartbeats: number;
}

/**
 * Joins entries (oldest first) of the same GameID that are at most `gapMs` apart. A session that is closed and opened again within
 * that time continues the span. Spans of different games may overlap.
 */
export function playedSpans(
  entries: readonly Pick<Heartbeat, 'at' | 'gameId'>[],
  gapMs: number,
): readonly Readonly<PlayedSpan>[] {
  const spans: PlayedSpan[] = [];
  const openByGame = new Map<string | null, PlayedSpan>();
  for (const { at, gameId } of entries) {
    const open = openByGame.get(gameId);
    if (open && at - open.to <= gapMs) {
      open.to = at;
      open.heartbeats += 1;
      continue;
    }
    const span = { from: at, to: at, gameId, heartbeats: 1 };
    spans.push(span);
    openByGame.set(gameId, span);
  }
  return spans;
}
