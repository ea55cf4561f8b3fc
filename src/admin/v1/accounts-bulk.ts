// /api/v1: many accounts at once, created from a pattern or a list, or changed by a selection; each with a preview.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { isValidPassword, isValidUsername } from '../../core/accounts/account.js';
import { accountMatcher } from '../../core/accounts/account-query.js';
import type { AccountChange, AccountView, NewAccount } from '../../core/accounts/accounts.js';
import { NO_LIMITS } from '../../core/accounts/limits.js';
import { namesOfPattern } from '../../core/accounts/name-pattern.js';
import type { Log } from '../../core/log.js';
import type { Actor } from '../../core/operator/audit.js';
import { actorOf } from '../caller.js';
import {
  type AccountUses,
  accountFacts,
  credentials,
  given,
  randomPassword,
  refuseLimits,
} from './accounts.js';
import type { accountRoutes, BulkRequest, SkippedAccount } from './contract/accounts.js';
import type { Handlers, ProblemAnswer } from './serve.js';
import { fromIsoOrNull, isoOrNull } from './times.js';

type ManyAccountsRoute = Extract<
  (typeof accountRoutes)[number],
  { operationId: 'createAccounts' | 'changeAccounts' }
>;
type Skipped = z.infer<typeof SkippedAccount>;
type Action = z.infer<typeof BulkRequest>['action'];

const MAX_AT_ONCE = 10_000;
/** Accounts in one transaction: logins and other writers come in between two. */
const SLICE = 250;
const DAY_MS = 86_400_000;
const MAX_SHOWN_CHANGES = 100;
const MAX_SHOWN_SKIPPED = 1_000;

export function bulkHandlers(
  uses: AccountUses & { readonly log: Pick<Log, 'error'> },
): Handlers<ManyAccountsRoute> {
  const { accounts, limits, sessions, log, now } = uses;
  const facts = accountFacts(uses);

  function wishes(body: {
    pattern?: string | undefined;
    list?: readonly Listed[] | undefined;
  }): Listed[] | ProblemAnswer {
    if ((body.pattern === undefined) === (body.list === undefined)) {
      return invalid('body', 'give exactly one of pattern and list');
    }
    if (body.list) return [...body.list];
    const names = namesOfPattern(body.pattern ?? '', MAX_AT_ONCE);
    if (!names)
      return invalid('body.pattern', `no pattern such as player{001-120}, of at most ${MAX_AT_ONCE} names`);
    return names.map((username) => ({ username }));
  }

  return {
    async createAccounts({ body, caller, ctx }) {
      const wanted = wishes(body);
      if (!Array.isArray(wanted)) return wanted;
      const wrong = await refuseLimits(uses, body.limits);
      if (wrong) return wrong;
      const { isEnabled, dryRun } = body;
      const expiresAt = fromIsoOrNull(body.expiresAt);
      const skipped: Skipped[] = [];
      const news: NewAccount[] = [];
      const seen = new Set<string>();
      for (const { username, password = randomPassword(), remarks = body.remarks } of wanted) {
        const reason = seen.has(username)
          ? 'username-twice'
          : refuse(username, password, accounts.getByUsername(username) !== null);
        seen.add(username);
        if (reason) skipped.push({ id: null, username, reason });
        else news.push({ username, password, isEnabled, remarks, expiresAt });
      }
      if (dryRun) {
        const usernames = news.map(({ username }) => username);
        return { status: 200, body: { dryRun, count: news.length, created: [], usernames, skipped } };
      }
      const by = actorOf(caller);
      const set = body.limits && { ...NO_LIMITS, ...given(body.limits) };
      const created: Record<string, unknown>[] = [];
      const undone = await inSlices(news, async (slice) => {
        const { added, refused } = await accounts.addMany(slice, by, set);
        for (const { index, account } of added) {
          const { id, username } = account;
          if (set) limits.adopt(id, set);
          const password = slice[index]?.password ?? '';
          created.push(credentials(uses, ctx.hostname, { id, username, password }));
        }
        for (const { index, reason } of refused) {
          const username = slice[index]?.username ?? '';
          skipped.push({ id: null, username, reason: reason === 'username-taken' ? reason : 'failed' });
        }
      });
      for (const { username } of undone) skipped.push({ id: null, username, reason: 'failed' });
      return { status: 200, body: { dryRun, count: created.length, created, usernames: [], skipped } };
    },

    async changeAccounts({ body, caller }) {
      const { ids, filter, action, dryRun } = body;
      if ((ids === undefined) === (filter === undefined)) {
        return invalid('body', 'give exactly one of ids and filter');
      }
      const wrong = action.type === 'set-limits' ? await refuseLimits(uses, action.limits) : null;
      if (wrong) return wrong;
      const at = now();
      const skipped: Skipped[] = [];
      const chosen: AccountView[] = [];
      if (ids) {
        for (const id of new Set(ids.map((each) => each.toLowerCase()))) {
          const view = accounts.get(id);
          if (view) chosen.push(view);
          else skipped.push({ id, username: '', reason: 'not-found' });
        }
      } else chosen.push(...accounts.list().filter(accountMatcher(filter ?? {}, facts, at)));

      const planned: Planned[] = [];
      for (const view of chosen) {
        const plan = planFor(view, action, at);
        if (typeof plan === 'string') {
          skipped.push({ id: view.account.id, username: view.account.username, reason: plan });
        } else planned.push({ view, ...plan });
      }
      if (body.expectedCount !== undefined && body.expectedCount !== planned.length) {
        const detail = `the preview counted ${body.expectedCount} accounts, by now it is ${planned.length}`;
        return { problem: 'conflict', detail };
      }
      const endsSessions = action.type === 'disable' || action.type === 'delete';
      const affected: Planned[] = [];
      if (dryRun) affected.push(...planned);
      else {
        const skip = ({ view: { account } }: Planned, reason: Skipped['reason']): void => {
          skipped.push({ id: account.id, username: account.username, reason });
        };
        const undone = await inSlices(planned, async (slice) => {
          const changed = await carryOut(slice, action, actorOf(caller));
          for (const each of slice) {
            if (changed.has(each.view.account.id)) affected.push(each);
            else skip(each, 'not-found');
          }
        });
        for (const each of undone) skip(each, 'failed');
      }
      const sum = (count: (each: Planned) => number): number =>
        affected.reduce((total, each) => total + count(each), 0);
      return {
        status: 200,
        body: {
          dryRun,
          count: affected.length,
          changes: affected.slice(0, MAX_SHOWN_CHANGES).map(({ view, before, after }) => ({
            id: view.account.id,
            username: view.account.username,
            before,
            after,
          })),
          skippedCount: skipped.length,
          skipped: skipped.slice(0, MAX_SHOWN_SKIPPED),
          sessionsEnded: endsSessions ? sum(({ live }) => live) : 0,
          heartbeatsRemoved: action.type === 'delete' ? sum(({ view }) => view.dataCount) : 0,
        },
      };
    },
  };

  interface Planned extends Plan {
    readonly view: AccountView;
  }

  function planFor(view: AccountView, action: Action, at: number): Plan | Skipped['reason'] {
    const { account } = view;
    const live = sessions.countOf(account.id);
    switch (action.type) {
      case 'enable':
      case 'disable': {
        const isEnabled = action.type === 'enable';
        if (account.isEnabled === isEnabled) return 'already-so';
        return { live, change: { isEnabled }, before: { isEnabled: !isEnabled }, after: { isEnabled } };
      }
      case 'delete': {
        const before = { remarks: account.remarks, expiresAt: isoOrNull(account.expiresAt) };
        return { live, change: {}, before, after: null };
      }
      case 'set-limits': {
        const set = limits.glance(account.id).limits;
        const wanted = Object.entries(given(action.limits));
        const differing = wanted.filter(([name, value]) => set[name as keyof typeof set] !== value);
        if (differing.length === 0) return 'already-so';
        const before = Object.fromEntries(differing.map(([name]) => [name, set[name as keyof typeof set]]));
        return { live, change: {}, before, after: Object.fromEntries(differing) };
      }
      case 'set-expiry':
        return expiryPlan(view, fromIsoOrNull(action.expiresAt), live);
      case 'extend': {
        if (account.expiresAt === null && action.from === 'expiry') return 'no-expiry';
        const from = action.from === 'now' ? at : (account.expiresAt ?? at);
        const expiresAt = from + action.days * DAY_MS;
        // Beyond what ISO 8601 writes with four digits.
        if (expiresAt < 0 || expiresAt > MAX_EXPIRY) return 'failed';
        return expiryPlan(view, expiresAt, live);
      }
    }
  }

  /** Writes some accounts in one transaction; returns the ids of those that there are. */
  async function carryOut(
    slice: readonly Planned[],
    action: Action,
    by: Actor,
  ): Promise<ReadonlySet<string>> {
    const ids = slice.map(({ view }) => view.account.id);
    if (action.type === 'set-limits') {
      const change = given(action.limits);
      return limits.changeMany(
        ids.map((accountId) => ({ accountId, change })),
        by,
      );
    }
    const changed =
      action.type === 'delete'
        ? await accounts.removeMany(ids, by)
        : await accounts.patchMany(
            slice.map(({ view, change }) => ({ id: view.account.id, change })),
            by,
          );
    return new Set(changed.map(({ id }) => id));
  }

  /**
   * Does the work slice by slice, and returns what was not done because the database could not be written: what was done
   * before is to be answered all the same. Rejects when nothing was.
   */
  async function inSlices<Item>(
    items: readonly Item[],
    work: (slice: readonly Item[]) => Promise<void>,
  ): Promise<readonly Item[]> {
    for (let start = 0; start < items.length; start += SLICE) {
      try {
        await work(items.slice(start, start + SLICE));
      } catch (err) {
        if (start === 0) throw err;
        log.error({ err }, 'accounts not written; those before them are');
        return items.slice(start);
      }
      await nextTurn();
    }
    return [];
  }
}

interface Listed {
  readonly username: string;
  readonly password?: string | undefined;
  readonly remarks?: string | null | undefined;
}

interface Plan {
  /** Live sessions of the account at that moment. */
  readonly live: number;
  readonly change: AccountChange;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>> | null;
}

const MAX_EXPIRY = Date.UTC(9999, 11, 31, 23, 59, 59);

function expiryPlan(
  { account }: AccountView,
  expiresAt: number | null,
  live: number,
): Plan | Skipped['reason'] {
  if (account.expiresAt === expiresAt) return 'already-so';
  return {
    live,
    change: { expiresAt },
    before: { expiresAt: isoOrNull(account.expiresAt) },
    after: { expiresAt: isoOrNull(expiresAt) },
  };
}

function refuse(username: string, password: string, isTaken: boolean): Skipped['reason'] | null {
  if (!isValidUsername(username)) return 'bad-username';
  if (!isValidPassword(password)) return 'bad-password';
  return isTaken ? 'username-taken' : null;
}

function invalid(path: string, message: string): ProblemAnswer {
  return { problem: 'validation', errors: [{ path, message }] };
}
