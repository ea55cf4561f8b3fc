// Heartbeat entries. They contain only metadata: no payload is stored, and traffic is never altered.
import type { TimeRange } from '../time/clock.js';
import type { SessionEntry } from '../trace/session-record.js';

export type HeartbeatKind = 'open' | 'beat' | 'game' | 'close';

/** One record of a live session of an account, and of the game that it plays. */
export interface Heartbeat extends SessionEntry {
  readonly accountId: string;
  /** In entries read from the database: the current name of the account. */
  readonly username: string;
  /** Client address, no port. */
  readonly client: string;
  /** Bytes client to destination since the session's previous entry. */
  readonly bytesUp: number;
  /** Bytes destination to client since the session's previous entry. */
  readonly bytesDown: number;
  readonly kind: HeartbeatKind;
  readonly gameId: string | null;
}

export interface HeartbeatTotals {
  readonly accountId: string;
  /** Number of stored entries, after retention. */
  readonly count: number;
  /** GameID of the newest entry that has one. */
  readonly latestGameId: string | null;
}

/** How long entries are kept: whichever of the two limits is reached first. */
export interface HeartbeatRetention {
  readonly maxAgeMs: number;
  readonly maxPerAccount: number;
}

export interface HeartbeatFilter extends TimeRange {
  readonly accountId?: string;
  /** Only accounts of this seller. */
  readonly owner?: string;
  readonly gameId?: string;
}

/** An entry with its position in the order of arrival. */
type StoredHeartbeat = Heartbeat & { readonly place: number };

export interface HeartbeatStore {
  /** Totals of every account that has entries, to load the pool at the start. */
  totals(): Promise<HeartbeatTotals[]>;
  /** Totals of these accounts, zero for accounts without entries. */
  totalsOf(accountIds: readonly string[]): Promise<HeartbeatTotals[]>;
  /**
   * Writes a batch in one transaction, applies `maxPerAccount`, and returns the new totals of every account in it.
   * Entries of accounts that no longer exist are dropped, and their account reported with count 0.
   * @param number of the batch, which increases in this process. Where a commit may be unknown (`isCommitUnknown`), a batch with the
   * number of a written one is not written again.
   */
  append(
    batch: readonly Heartbeat[],
    retention: HeartbeatRetention,
    number?: number,
  ): Promise<HeartbeatTotals[]>;
  /** Removes at most `limit` entries older than `before`. Returns the new totals of the affected accounts, and whether more are left. */
  trim(before: number, limit: number): Promise<{ changed: HeartbeatTotals[]; more: boolean }>;
  /** Newest first, at most `limit`, all before the position `before`. */
  list(filter: HeartbeatFilter, before: number | null, limit: number): Promise<StoredHeartbeat[]>;
}

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
