// /api/v1/accounts: finds, creates, changes and deletes accounts one at a time.
import { z } from 'zod';
import type { Account as StoredAccount } from '../../../core/accounts/account.js';
import type { AddRefusal } from '../../../core/accounts/account-input.js';
import type { AccountView } from '../../../core/accounts/account-views.js';
import { refused } from '../../../core/accounts/accounts.js';
import { fromIsoOrNull } from '../../../core/clock.js';
import { matches } from '../../api/etag.js';
import type { ProblemAnswer } from '../../api/problem.js';
import { type Answered, routesOf } from '../../api/route.js';
import { Count, IdParams, pageOf } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import type { Services } from '../../services.js';
import { pageSortedBy } from '../sorted.js';
import { credentialsInFormats, randomPassword } from './credentials.js';
import { matcherFor } from './filter.js';
import { accountEtag, presentAccount } from './present.js';
import { Account, AccountChange, AccountQuery, CredentialsInFormats, NewAccount } from './schemas.js';
import {
  accountSortKeys,
  contactsOf,
  explained,
  limitsOf,
  NO_ACCOUNT,
  ownerOf,
  PATCH_PROBLEMS,
  refuseEgressClass,
  refuseOwner,
  termsOfNew,
} from './shared.js';

const { route } = routesOf('Accounts');

export const accountRoutes = [
  route(
    {
      method: 'GET',
      path: '/api/v1/accounts',
      operationId: 'listAccounts',
      summary: 'Accounts, searched, filtered, sorted, in pages of up to 1,000.',
      access: 'accounts:read',
      request: { query: AccountQuery },
      responses: { 200: { description: 'A page.', schema: pageOf(Account).meta({ id: 'AccountPage' }) } },
    },
    async ({ query: { limit, cursor, sort, ...filter } }, deps) => {
      const all = deps.accounts.list();
      const matching = all.filter(matcherFor(deps, filter, deps.now()));
      const { items, ...rest } = pageSortedBy(
        matching,
        { limit, cursor, sort },
        accountSortKeys(deps),
        (view) => view.account.id,
      );
      const shown = items.map((view) => presented(deps, view));
      return { status: 200, body: { items: shown, ...rest, total: all.length } };
    },
  ),
  route(
    {
      method: 'POST',
      path: '/api/v1/accounts',
      operationId: 'createAccount',
      summary: 'Creates one account; only this answer contains its credentials.',
      access: 'accounts:write',
      request: { body: NewAccount },
      responses: {
        201: {
          description: 'Created; `Location` is its address.',
          schema: z
            .object({ account: Account, credentials: CredentialsInFormats })
            .meta({ id: 'CreatedAccount' }),
        },
      },
      problems: [409],
    },
    async ({ body, caller, ctx }, deps) => {
      const wrongClass = refuseEgressClass(deps, body.limits, caller, null);
      if (wrongClass) return wrongClass;
      const password = body.password ?? randomPassword();
      const { username, isEnabled, remarks, tags, authorizedAddresses, allowedClients, schedule } = body;
      const terms = termsOfNew(deps, body);
      if ('problem' in terms) return terms;
      const contacts = contactsOf(body);
      const own = { username, password, isEnabled, remarks, tags, contacts };
      const input = { ...own, authorizedAddresses, allowedClients, schedule, ...terms };
      const added = await deps.accounts.add(input, actorOf(caller));
      if (!added.ok) return explained(ADD_PROBLEMS[added.reason], added);
      const { id } = added.account;
      const shown = shownAccount(deps, id);
      if ('problem' in shown) return shown;
      return {
        status: 201,
        body: {
          account: shown.body,
          credentials: credentialsInFormats(deps, ctx.hostname, { id, username, password }),
        },
        headers: { ...shown.headers, Location: `/api/v1/accounts/${id}` },
      };
    },
  ),
  route(
    {
      method: 'GET',
      path: '/api/v1/accounts/{id}',
      operationId: 'getAccount',
      summary: 'One account.',
      access: 'accounts:read',
      etag: true,
      request: { params: IdParams },
      responses: { 200: { description: 'The account.', schema: Account } },
      problems: [404],
    },
    async ({ params }, deps) => shownAccount(deps, params.id.toLowerCase()),
  ),
  route(
    {
      method: 'PATCH',
      path: '/api/v1/accounts/{id}',
      operationId: 'changeAccount',
      summary: 'Changes the given fields.',
      access: 'accounts:write',
      etag: true,
      request: { params: IdParams, body: AccountChange },
      responses: { 200: { description: 'The account as it is now.', schema: Account } },
      problems: [404, 409, 412],
    },
    async ({ params, body, caller, ifMatch }, deps) => {
      const { accounts } = deps;
      const id = params.id.toLowerCase();
      const wrongClass = refuseEgressClass(
        deps,
        body.limits,
        caller,
        accounts.get(id)?.account.limits.egressClass,
      );
      if (wrongClass) return wrongClass;
      const wrongOwner = refuseOwner(deps, body.owner, caller, 'body.owner');
      if (wrongOwner) return wrongOwner;
      const { username, isEnabled, remarks, tags, authorizedAddresses, allowedClients, schedule } = body;
      const owner = body.owner?.toLowerCase() ?? body.owner;
      const expiresAt = body.expiresAt === undefined ? undefined : fromIsoOrNull(body.expiresAt);
      const fields = { username, isEnabled, remarks, tags, expiresAt, owner, schedule };
      const addresses = { authorizedAddresses, allowedClients };
      const change = { ...fields, ...addresses, limits: limitsOf(body), contacts: contactsOf(body) };
      const changed = await accounts.patch(
        id,
        (stored) => (isCurrent(stored, ifMatch) ? change : refused('changed-meanwhile')),
        actorOf(caller),
      );
      if (!changed.ok) return explained(PATCH_PROBLEMS[changed.reason], changed);
      return shownAccount(deps, id);
    },
  ),
  route(
    {
      method: 'DELETE',
      path: '/api/v1/accounts/{id}',
      operationId: 'deleteAccount',
      summary: 'Deletes the account with its heartbeat data; its live sessions end.',
      access: 'accounts:write',
      etag: true,
      request: { params: IdParams },
      responses: {
        200: {
          description: 'What was deleted with it.',
          schema: z.object({ heartbeatsRemoved: Count, sessionsEnded: Count }).meta({ id: 'DeletedAccount' }),
        },
      },
      problems: [404, 412],
    },
    async ({ params, caller, ifMatch }, deps) => {
      const id = params.id.toLowerCase();
      const view = deps.accounts.get(id);
      if (!view) return NO_ACCOUNT;
      const sessionsEnded = deps.sessions.countOf(id);
      const removed = await deps.accounts.remove(id, actorOf(caller), (stored) =>
        isCurrent(stored, ifMatch) ? null : 'changed-meanwhile',
      );
      if (!removed.ok) return PATCH_PROBLEMS[removed.reason];
      return { status: 200, body: { heartbeatsRemoved: view.dataCount, sessionsEnded } };
    },
  ),
];

function presented(deps: Services, view: AccountView): Record<string, unknown> {
  const { usage, activity, now } = deps;
  const { account } = view;
  const owner = ownerOf(deps, account);
  return presentAccount(
    view,
    usage.lastView(account),
    activity.todayOf(account.id),
    now(),
    owner,
    deps.schedules,
  );
}

function shownAccount(deps: Services, id: string): Answered | ProblemAnswer {
  const view = deps.accounts.get(id);
  if (!view) return NO_ACCOUNT;
  return { status: 200, body: presented(deps, view), headers: { ETag: accountEtag(view.account) } };
}

/** Returns whether `If-Match` names the current version of the account. */
function isCurrent(account: StoredAccount, ifMatch: string | null): boolean {
  return matches(ifMatch, accountEtag(account));
}

const ADD_PROBLEMS: Readonly<Record<AddRefusal, ProblemAnswer>> = {
  'empty-credentials': PATCH_PROBLEMS['invalid-username'],
  'invalid-username': PATCH_PROBLEMS['invalid-username'],
  'invalid-password': PATCH_PROBLEMS['invalid-password'],
  'invalid-remarks': PATCH_PROBLEMS['invalid-remarks'],
  'invalid-tags': PATCH_PROBLEMS['invalid-tags'],
  'invalid-expiry': PATCH_PROBLEMS['invalid-expiry'],
  'invalid-schedule': PATCH_PROBLEMS['invalid-schedule'],
  'invalid-email': PATCH_PROBLEMS['invalid-email'],
  'invalid-telegram': PATCH_PROBLEMS['invalid-telegram'],
  'unknown-egress-class': PATCH_PROBLEMS['unknown-egress-class'],
  'invalid-addresses': PATCH_PROBLEMS['invalid-addresses'],
  'invalid-allowed-clients': PATCH_PROBLEMS['invalid-allowed-clients'],
  'address-taken': PATCH_PROBLEMS['address-taken'],
  'username-taken': PATCH_PROBLEMS['username-taken'],
};
