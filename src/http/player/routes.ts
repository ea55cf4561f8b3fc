// The routes of the player page. They always concern the account of the secret address; no request names an account.
import { z } from 'zod';
import type { Account } from '../../core/accounts/account.js';
import type { Actor } from '../../core/audit/audit.js';
import { invalid, type ProblemAnswer } from '../api/problem.js';
import { type Answered, routesOf } from '../api/route.js';
import { component } from '../api/schemas.js';
import { credentialsInFormats, randomPassword } from '../v1/accounts/credentials.js';
import { Password } from '../v1/accounts/field-schemas.js';
import { CredentialsInFormats } from '../v1/accounts/schemas.js';
import { problemOf } from '../v1/accounts/shared.js';
import { Traffic, trafficOf } from '../v1/activity/logins.js';
import { endRecords } from '../v1/activity/sessions.js';
import { ownNetwork, type PlayerContext, type PlayerServices, PlayerStatus, shown } from './status.js';
import { changeableOf } from './subscription.js';

const { route } = routesOf<PlayerServices>('Player');
const path = '/sub/{token}';
/** Shown by the page. */
const TRAFFIC_DAYS = 7;
export const Seen = component('Seen', { address: z.string() });
const success = [200, 'The account as it is now.', PlayerStatus] as const;

export const playerRoutes = [
  route(`GET ${path}/status`, 'playerStatus', 'public', {
    summary: 'The account: remaining days and traffic, limits, connected devices.',
    success,
    async handle({ ctx }, deps) {
      const account = playerOf(ctx, deps);
      return account ? shown(ctx, account, deps) : GONE;
    },
  }),
  route(`GET ${path}/traffic`, 'playerTraffic', 'public', {
    summary: 'The traffic of the last seven days, oldest first.',
    success: [200, 'Days.', Traffic],
    async handle({ ctx }, deps) {
      const account = playerOf(ctx, deps);
      return account ? { body: await trafficOf(account.id, TRAFFIC_DAYS, deps) } : GONE;
    },
  }),
  route(`GET ${path}/seen`, 'playerSeen', 'public', {
    summary: 'The address that this request came from, for a test of the connection.',
    success: [200, 'The address.', Seen],
    handle: async ({ ctx }) => ({ body: { address: ctx.state.client } }),
  }),
  route(`POST ${path}/password`, 'playerPassword', 'public', {
    summary: 'Sets the given password or a random one; live sessions end.',
    request: { body: z.object({ password: Password.optional() }) },
    success: [200, 'The credentials, shown once.', CredentialsInFormats],
    async handle({ ctx, body }, deps) {
      const account = mayChange(ctx, deps, 'password');
      if ('problem' in account) return account;
      const { minCharacters: min } = deps.playerPage;
      if (body.password !== undefined && [...body.password].length < min)
        return invalid('body.password', 'short-password', { min });
      const { id, username } = account;
      const password = body.password ?? randomPassword();
      const changed = await deps.accounts.patch(id, () => ({ password }), actorOf(ctx, account));
      if (!changed.ok) return problemOf({ reason: changed.reason });
      return { body: credentialsInFormats(deps, ctx.hostname, { id, username, password }) };
    },
  }),
  route(`POST ${path}/devices/end`, 'playerEndDevice', 'public', {
    summary: 'Ends the live sessions that the account has from a client address.',
    request: { body: z.object({ address: z.string().max(64) }) },
    success,
    async handle({ ctx, body }, deps) {
      const account = mayChange(ctx, deps);
      if ('problem' in account) return account;
      const own = await deps.liveSessions.ofAccount(account.id);
      const ended = own.filter(({ client }) => client.address === body.address);
      await deps.liveSessions.end(ended);
      await deps.audit.add(endRecords(ended, actorOf(ctx, account)));
      return shown(ctx, account, deps);
    },
  }),
  route(`POST ${path}/addresses`, 'playerAddAddress', 'public', {
    summary: 'Authorizes the client address of the request; for IPv6 its /64.',
    request: { body: z.object({}) },
    success,
    async handle({ ctx }, deps) {
      const account = mayChange(ctx, deps, 'authorizedAddresses');
      if ('problem' in account) return account;
      const own = ownNetwork(ctx, deps);
      if (own === null) return UNKNOWN_ADDRESS;
      return changeAddresses(ctx, account, (stored) => [...stored, own], deps);
    },
  }),
  route(`POST ${path}/addresses/remove`, 'playerRemoveAddress', 'public', {
    summary: 'Removes an authorized address of the account.',
    request: { body: z.object({ address: z.string().max(64) }) },
    success,
    async handle({ ctx, body }, deps) {
      const account = mayChange(ctx, deps, 'authorizedAddresses');
      if ('problem' in account) return account;
      const without = (stored: Addresses) => stored.filter((each) => each !== body.address);
      return changeAddresses(ctx, account, without, deps);
    },
  }),
];

/** Returns the account of the secret address; null: it was deleted a moment ago. */
function playerOf({ state }: PlayerContext, { accounts }: PlayerServices): Account | null {
  return accounts.get(state.player ?? '')?.account ?? null;
}

const GONE: ProblemAnswer = { problem: 'not-found' };

/**
 * Returns the account of the secret address if it may be changed now, and counts the change. `what`: a change that the
 * configuration must allow.
 */
function mayChange(
  ctx: PlayerContext,
  deps: PlayerServices,
  what?: PlayerServices['playerPage']['mayChange'][number],
): Account | ProblemAnswer {
  const account = playerOf(ctx, deps);
  if (!account) return GONE;
  if (!account.isEnabled) return { problem: 'forbidden', detail: 'the account is disabled' };
  if (what !== undefined && !changeableOf(deps.playerPage, account).includes(what))
    return { problem: 'forbidden', detail: `players may not change this (admin.playerPage.mayChange)` };
  const waitMs = deps.countChange(account.id);
  if (waitMs === null) return account;
  return { ...TOO_MANY_CHANGES, retryAfterS: Math.ceil(waitMs / 1000) };
}

const TOO_MANY_CHANGES = {
  problem: 'too-many-requests',
  detail: 'too many changes of this account (admin.playerPage.maxChangesPerHour)',
} as const;

const UNKNOWN_ADDRESS: ProblemAnswer = {
  problem: 'conflict',
  detail: 'the address of this client is not known here (admin.trustedProxies)',
};

const actorOf = ({ state }: PlayerContext, { username }: Account): Actor => ({
  name: username,
  via: 'player',
  address: state.client,
});

type Addresses = Account['authorizedAddresses'];

/** Saves what `next` returns for the stored addresses. */
async function changeAddresses(
  ctx: PlayerContext,
  account: Account,
  next: (stored: Addresses) => Addresses,
  deps: PlayerServices,
): Promise<Answered | ProblemAnswer> {
  const changed = await deps.accounts.patch(
    account.id,
    ({ authorizedAddresses }) => ({ authorizedAddresses: next(authorizedAddresses) }),
    actorOf(ctx, account),
  );
  // The address of the refusal would name the other account, so the answer omits the explanation.
  return changed.ok ? shown(ctx, changed.account, deps) : problemOf({ reason: changed.reason });
}
