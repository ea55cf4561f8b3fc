// Outgoing notices to the operator: each is sent once, and stored until it is delivered.
import type { Account } from '../accounts/account.js';
import { type Clock, DAY_MS } from '../clock.js';
import { sourceText } from '../source.js';

export type NoticeType =
  | 'account.expiring'
  | 'account.quota-80'
  | 'account.quota-100'
  | 'logins.failing'
  | 'run.failed';

export interface Notice {
  /** Says what it is about, so that the same is not sent twice. */
  readonly key: string;
  readonly type: NoticeType;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface DueNotice extends Notice {
  /** GUID: the same at every try, so that a receiver can tell repeats. */
  readonly id: string;
  readonly tries: number;
}

export interface NoticeStore {
  /** Adds those whose key is not known. */
  add(notices: readonly (Notice & { readonly id: string })[]): Promise<void>;
  /** At most `limit` that are to be sent by `now`, the oldest first. */
  due(now: number, limit: number): Promise<DueNotice[]>;
  /** When the next one is to be sent; null without one. */
  nextDueAt(): Promise<number | null>;
  /** A try was made: `nextAt` null ends it, delivered or given up. */
  tried(key: string, nextAt: number | null): Promise<void>;
  /** Runs that failed since a moment, the oldest first. */
  failedRuns(
    since: number,
    limit: number,
  ): Promise<{ id: string; agent: string; status: string; error: string | null; finishedAt: number }[]>;
  /** Forgets what ended before a moment. */
  trim(before: number): Promise<void>;
}

export interface NoticeOptions {
  readonly store: NoticeStore;
  readonly accounts: () => Iterable<Account>;
  /** What of its quota an account has used, 1 is all; and what tells one period from the next. */
  readonly quotaUse: (account: Account) => { readonly share: number; readonly period: string } | null;
  readonly expiringMs: number;
  readonly maxLoginFailures: number;
  readonly loginFailureWindowMs: number;
  readonly now: Clock;
  readonly newId: () => string;
}

export interface Notices {
  /** A login of a player failed. */
  loginFailed(client: string): void;
  /** Looks for what is to be sent, and stores it. Meant to be called about once a minute. */
  look(): Promise<void>;
}

const MAX_SOURCES = 10_000;
const BATCH = 50;
/** Longer than any period of a quota: after it, the same is announced again. */
const REMEMBERED_MS = 90 * DAY_MS;
const SHARES = [
  [0.8, 'account.quota-80'],
  [1, 'account.quota-100'],
] as const;

export function createNotices(options: NoticeOptions): Notices {
  const { store, now } = options;
  const failures = new Map<string, { since: number; count: number }>();
  let runsSince = now();

  function* found(at: number): Generator<Notice> {
    for (const account of options.accounts()) {
      const { id, username, expiresAt } = account;
      if (!account.isEnabled) continue;
      if (expiresAt !== null && expiresAt > at && expiresAt <= at + options.expiringMs) {
        const data = { account: id, username, expiresAt: new Date(expiresAt).toISOString() };
        yield { key: `expiring ${id} ${expiresAt}`, type: 'account.expiring', at, data };
      }
      const use = options.quotaUse(account);
      if (!use) continue;
      // Of both only the higher one, when both are new.
      const reached = SHARES.findLast(([share]) => use.share >= share);
      if (reached) {
        const data = { account: id, username, used: Math.floor(use.share * 100) };
        yield { key: `${reached[1]} ${id} ${use.period}`, type: reached[1], at, data };
      }
    }
    for (const [client, { since, count }] of failures) {
      if (count >= options.maxLoginFailures) {
        const data = { client, failures: count, since: new Date(since).toISOString() };
        yield { key: `failing ${client} ${since}`, type: 'logins.failing', at, data };
      }
      if (at - since >= options.loginFailureWindowMs) failures.delete(client);
    }
  }

  async function runs(at: number): Promise<Notice[]> {
    const failed = await store.failedRuns(runsSince, BATCH);
    return failed.map(({ id, agent, status, error, finishedAt }) => {
      runsSince = Math.max(runsSince, finishedAt);
      return { key: `run ${id}`, type: 'run.failed', at, data: { run: id, agent, status, error } };
    });
  }

  return {
    loginFailed(address) {
      const client = sourceText(address);
      const known = failures.get(client);
      if (known) known.count += 1;
      else if (failures.size < MAX_SOURCES) failures.set(client, { since: now(), count: 1 });
    },

    async look() {
      const at = now();
      const notices = [...found(at), ...(await runs(at))];
      await store.add(notices.map((notice) => ({ ...notice, id: options.newId() })));
      await store.trim(at - REMEMBERED_MS);
    },
  };
}
