// When an account was seen, and in which game: heartbeat entries joined into stretches.
import type { Heartbeat } from './heartbeat.js';

export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly gameId: string | null;
  readonly heartbeats: number;
}

/**
 * Joins entries (oldest first) of the same game that are at most `gapMs` apart. A session that is closed and opened
 * within that time goes on; another game begins another stretch, and one with a game is not broken by entries without.
 */
export function stretchesOf(entries: readonly Pick<Heartbeat, 'at' | 'gameId'>[], gapMs: number): Stretch[] {
  const stretches: { from: number; to: number; gameId: string | null; heartbeats: number }[] = [];
  const openByGame = new Map<string | null, (typeof stretches)[number]>();
  for (const { at, gameId } of entries) {
    const open = openByGame.get(gameId);
    if (open && at - open.to <= gapMs) {
      open.to = at;
      open.heartbeats += 1;
      continue;
    }
    const stretch = { from: at, to: at, gameId, heartbeats: 1 };
    stretches.push(stretch);
    openByGame.set(gameId, stretch);
  }
  return stretches;
}
