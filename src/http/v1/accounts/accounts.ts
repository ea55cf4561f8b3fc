// /api/v1/accounts: finds, creates, changes and deletes accounts one at a time.
import { z } from 'zod';
import type { Account as StoredAccount } from '../../../core/accounts/account.js';
import type { AccountView } from '../../../core/accounts/account-query.js';
import { refused } from '../../../core/accounts/accounts.js';
import { countEach } from '../../../core/maps.js';
import type { ProblemAnswer } from '../../api/problem.js';
import { type Answered, matches, routesOf } from '../../api/route.js';
import { Count, component, pageOf } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import type { Services } from '../../services.js';
import { credentialsInFormats, NewSubscription, newLink, randomPassword } from './credentials.js';
import { AccountChange, NewAccount, Tag } from './field-schemas.js';
import {
  Account,
  AccountQuery,
  accountEtag,
  CredentialsInFormats,
  pageOfAccounts,
  presentAccount,
} from './schemas.js';
import {
  changeOf,
  matcherFor,
  NO_ACCOUNT,
  NO_SETTINGS,
  namesProblem,
  ownerOf,
  problemOf,
  rightsProblem,
  withTerms,
} from './shared.js';

const { route } = routesOf('Accounts');

const TagUses = component('TagUses', {
  items: z.array(z.object({ tag: Tag, accounts: Count })),
});

export const accountTagRoutes = [
  route('GET /api/v1/accounts/tags', 'listTags', 'accounts:read', {
    summary: 'The tags in use, each with its number of accounts.',
    success: [200, 'Sorted by tag.', TagUses],
    async handle(_input, { accounts }) {
      const counts = countEach(accounts.list().flatMap(({ account }) => account.tags));
      const items = [...counts].sort().map(([tag, count]) => ({ tag, accounts: count }));
      return { body: { items } };
    },
  }),
];

export const accountRoutes = [
  route('GET /api/v1/accounts', 'listAccounts', 'accounts:read', {
    summary: 'Accounts, searched, filtered, sorted, in pages of up to 1,000.',
    request: { query: AccountQuery },
    success: [200, 'A page.', pageOf(Account, 'AccountPage')],
    async handle({ query: { limit, cursor, sort, ...filter } }, deps) {
      const all = deps.accounts.list();
      const matching = all.filter(matcherFor(deps, filter, deps.now()));
      const { items, ...rest } = pageOfAccounts(matching, { limit, cursor, sort }, deps);
      const shown = items.map((view) => presented(deps, view));
      return { body: { items: shown, ...rest, total: all.length } };
    },
  }),
  route('POST /api/v1/accounts', 'createAccount', 'accounts:write', {
    summary: 'Creates one account; only this answer contains its credentials.',
    request: { body: NewAccount },
    success: [
      201,
      'Created; `Location` is its address.',
      component('CreatedAccount', {
        account: Account,
        credentials: CredentialsInFormats,
        /** null: none was asked for, or links are off. */
        subscription: NewSubscription.nullable(),
      }),
    ],
    problems: [409],
    async handle({ body, caller, kept, ctx }, deps) {
      const refused = rightsProblem(caller, body, NO_SETTINGS);
      if (refused) return refused;
      const password = body.password ?? kept.secret('password', randomPassword);
      const { username, plan, subscription, ...fields } = body;
      const made = subscription && deps.playerPage.enabled ? newLink(deps, kept, ctx) : null;
      const change = withTerms(deps, changeOf(fields), plan);
      if ('problem' in change) return change;
      const added = await deps.accounts.add(
        { ...change, username, password, link: made?.link },
        actorOf(caller),
      );
      if (!added.ok) return problemOf(added);
      const { id } = added.account;
      const shown = shownAccount(deps, id);
      if ('problem' in shown) return shown;
      return {
        body: {
          account: shown.body,
          credentials: credentialsInFormats(deps, ctx.hostname, { id, username, password }),
          subscription: made?.shown ?? null,
        },
        headers: { ...shown.headers, Location: `/api/v1/accounts/${id}` },
      };
    },
  }),
  route('GET /api/v1/accounts/{id}', 'getAccount', 'accounts:read', {
    summary: 'One account.',
    etag: true,
    success: [200, 'The account.', Account],
    handle: async ({ params }, deps) => shownAccount(deps, params.id),
  }),
  route('PATCH /api/v1/accounts/{id}', 'changeAccount', 'accounts:write', {
    summary: 'Changes the given fields.',
    etag: true,
    request: { body: AccountChange },
    success: [200, 'The account as it is now.', Account],
    problems: [409],
    async handle({ params: { id }, body, caller, ifMatch }, deps) {
      const { accounts } = deps;
      const wrong =
        rightsProblem(caller, body, accounts.get(id)?.account ?? {}) ??
        namesProblem(deps, { owner: body.owner });
      if (wrong) return wrong;
      const change = changeOf(body);
      const changed = await accounts.patch(
        id,
        (stored) => (isCurrent(stored, ifMatch) ? change : refused('changed-meanwhile')),
        actorOf(caller),
      );
      if (!changed.ok) return problemOf(changed);
      return shownAccount(deps, id);
    },
  }),
  route('DELETE /api/v1/accounts/{id}', 'deleteAccount', 'accounts:write', {
    summary: 'Deletes the account with its heartbeat data; its live sessions end.',
    etag: true,
    success: [
      200,
      'What was deleted with it.',
      component('DeletedAccount', { heartbeatsRemoved: Count, sessionsEnded: Count }),
    ],
    async handle({ params: { id }, caller, ifMatch }, deps) {
      const view = deps.accounts.get(id);
      if (!view) return NO_ACCOUNT;
      const sessionsEnded = deps.sessions.countOf(id);
      const removed = await deps.accounts.remove(id, actorOf(caller), (stored) =>
        isCurrent(stored, ifMatch) ? null : 'changed-meanwhile',
      );
      if (!removed.ok) return problemOf(removed);
      return { body: { heartbeatsRemoved: view.dataCount, sessionsEnded } };
    },
  }),
];

function presented(deps: Services, view: AccountView): Record<string, unknown> {
  const { usage, activity, now, schedules } = deps;
  const { account } = view;
  const today = activity.todayOf(account.id);
  return presentAccount(view, usage.lastView(account), today, now(), ownerOf(deps, account), schedules);
}

function shownAccount(deps: Services, id: string): Answered | ProblemAnswer {
  const view = deps.accounts.get(id);
  if (!view) return NO_ACCOUNT;
  return { body: presented(deps, view), headers: { ETag: accountEtag(view.account) } };
}

/** Returns whether `If-Match` names the current version of the account. */
const isCurrent = (account: StoredAccount, ifMatch: string | null): boolean =>
  matches(ifMatch, accountEtag(account));
