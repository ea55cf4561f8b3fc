// The traffic of a range of days by account, tag, plan, seller, game or exit.
import type { Account } from '../account.js';
import type { Traffic } from './limits.js';

export const TRAFFIC_BY = ['account', 'tag', 'plan', 'seller', 'game', 'exit'] as const;
/** The orders of a report, with a leading minus descending. `bytes`: both directions. */
export const TRAFFIC_SORTS = [
  ...(['label', 'accounts', 'sessions', 'bytesUp', 'bytesDown', 'bytes'] as const),
  ...(['-label', '-accounts', '-sessions', '-bytesUp', '-bytesDown', '-bytes'] as const),
] as const;
export type TrafficBy = (typeof TRAFFIC_BY)[number];

/** Ranges of day numbers, both ends inside (calendar.ts). */
export type DayRanges = readonly (readonly [first: number, last: number])[];

export interface AccountTraffic extends Traffic {
  readonly accountId: string;
  readonly sessions: number;
}

/** The traffic of a game or an exit, of OTHER_GAMES, or (null) without any. */
export interface NamedTraffic extends Traffic {
  readonly name: string | null;
  /** With traffic; null: unknown. */
  readonly accounts: number | null;
}

export interface TrafficReportStore {
  /** @param owner here and below undefined: of all accounts */
  byAccount(days: DayRanges, owner?: string): Promise<AccountTraffic[]>;
  /**
   * @param knownFrom day before which games and exits are no longer kept
   * @returns besides the sums the bytes of days whose games and exits are unknown
   */
  byPart(
    kind: 'game' | 'exit',
    days: DayRanges,
    knownFrom: number,
    owner?: string,
  ): Promise<{ readonly sums: NamedTraffic[]; readonly unknown: Traffic }>;
  /** Deletes at most `limit` games and exits of days before `day`; returns their number. */
  trimParts(day: number, limit: number): Promise<number>;
}

export function sumOf(of: readonly Traffic[]): Traffic {
  const sum = { bytesUp: 0, bytesDown: 0 };
  for (const { bytesUp, bytesDown } of of) {
    sum.bytesUp += bytesUp;
    sum.bytesDown += bytesDown;
  }
  return sum;
}

export interface TrafficLine extends Traffic {
  /** Id of the account or seller, tag, or name; null: accounts or traffic without one. */
  readonly key: string | null;
  readonly accounts: number | null;
  /** Sessions that began in the range; null: unknown. */
  readonly sessions: number | null;
}

type Line = { -readonly [Name in keyof TrafficLine]: TrafficLine[Name] } & {
  accounts: number;
  sessions: number;
};

/** @param keysOf of an account with several keys, such as tags, the traffic counts for each of them */
export function groupTraffic(
  traffic: readonly AccountTraffic[],
  keysOf: (accountId: string) => readonly (string | null)[],
): TrafficLine[] {
  const lines = new Map<string | null, Line>();
  for (const { accountId, bytesUp, bytesDown, sessions } of traffic) {
    for (const key of keysOf(accountId)) {
      const line = lines.get(key) ?? { key, accounts: 0, sessions: 0, bytesUp: 0, bytesDown: 0 };
      line.accounts += 1;
      line.sessions += sessions;
      line.bytesUp += bytesUp;
      line.bytesDown += bytesDown;
      lines.set(key, line);
    }
  }
  return [...lines.values()];
}

export function trafficKeys(by: Exclude<TrafficBy, 'game' | 'exit'>, account: Account): (string | null)[] {
  if (by === 'account') return [account.id];
  if (by === 'tag') return account.tags.length > 0 ? [...account.tags] : [null];
  return [by === 'plan' ? account.plan : account.owner];
}
