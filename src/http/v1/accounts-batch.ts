// /api/v1: many accounts created at once, from a pattern or a list, with a preview.
import type { z } from 'zod';
import { isValidPassword, isValidUsername } from '../../core/accounts/account.js';
import type { NewAccount } from '../../core/accounts/accounts.js';
import { NO_LIMITS } from '../../core/accounts/limits.js';
import { namesOfPattern } from '../../core/accounts/name-pattern.js';
import type { Log } from '../../core/log.js';
import { actorOf } from '../caller.js';
import { type AccountUses, given, invalid, refuseLimits } from './accounts.js';
import type { manyAccountRoutes, SkippedAccount } from './contract/accounts-many.js';
import { credentials, randomPassword } from './credentials.js';
import type { Handlers, ProblemAnswer } from './serve.js';
import { inSlices } from './slices.js';
import { fromIsoOrNull } from './times.js';

type BatchRoute = Extract<(typeof manyAccountRoutes)[number], { operationId: 'createAccounts' }>;
type Skipped = z.infer<typeof SkippedAccount>;

const MAX_AT_ONCE = 10_000;

export function batchHandlers(
  uses: AccountUses & { readonly log: Pick<Log, 'error'> },
): Handlers<BatchRoute> {
  const { accounts, limits } = uses;

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
      const wrong = await refuseLimits(uses, body.limits, caller, null);
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
      const undone = await inSlices(news, uses.log, async (slice) => {
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
  };
}

interface Listed {
  readonly username: string;
  readonly password?: string | undefined;
  readonly remarks?: string | null | undefined;
}

function refuse(username: string, password: string, isTaken: boolean): Skipped['reason'] | null {
  if (!isValidUsername(username)) return 'bad-username';
  if (!isValidPassword(password)) return 'bad-password';
  return isTaken ? 'username-taken' : null;
}
