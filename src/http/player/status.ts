// The player page's view of its account.
import type { ParameterizedContext } from 'koa';
import { z } from 'zod';
import { includesAddress } from '../../core/accounts/access/address-list.js';
import { type Account, isExpired, isSuspended } from '../../core/accounts/account.js';
import { socksLink } from '../../core/accounts/player/proxy-link.js';
import { isByGuard } from '../../core/accounts/usage/guard.js';
import { sumOf } from '../../core/accounts/usage/traffic-report.js';
import { isLoopback, parseIp } from '../../core/addresses/ip.js';
import { grouped } from '../../core/maps.js';
import type { LiveSessionView } from '../../core/sessions/session.js';
import { iso, isoOrNull } from '../../core/time/clock.js';
import type { Answered } from '../api/route.js';
import { Bytes, Count, component, Time } from '../api/schemas.js';
import type { AdminState } from '../caller.js';
import type { Services } from '../services.js';
import { AccountLimits, AccountUsage as Usage } from '../v1/accounts/field-schemas.js';
import { presentSchedule, presentUsage } from '../v1/accounts/schemas.js';
import { linkAddressFor } from '../v1/settings/players.js';
import { changeableOf, entriesFor, playerOrigin, subscriptionUrl, supportUrlOf } from './subscription.js';

export type PlayerContext = ParameterizedContext<AdminState>;

export interface PlayerServices extends Services {
  /** Counts a change of an account. Returns null if it may be made, or the ms to wait. */
  readonly countChange: (accountId: string) => number | null;
  readonly isTrustedProxy: (address: string) => boolean;
}

/** The live sessions of one client address. */
const Device = component('Device', {
  address: z.string(),
  /** Whether the request came from this address. */
  isThis: z.boolean(),
  games: z.array(z.string()),
  /** Start of its oldest session. */
  since: Time,
  sessions: Count,
  bytesUp: Bytes,
  bytesDown: Bytes,
});

export const PlayerStatus = z.object({
  username: z.string(),
  isEnabled: z.boolean(),
  isExpired: z.boolean(),
  /** null: the account is not suspended. */
  suspendedUntil: Time.nullable(),
  /** The words of the operator; null: the guard suspended it. */
  suspendReason: z.string().nullable(),
  expiresAt: Time.nullable(),
  daysFromFirstLogin: z.int().nullable(),
  plan: z.string().nullable(),
  /** The days and hours at which the account may be used, in `timeZone`; null: always. */
  schedule: z.string().nullable(),
  isOutsideSchedule: z.boolean(),
  /** When the schedule opens or closes next; null: never. */
  scheduleChangesAt: Time.nullable(),
  timeZone: z.string(),
  limits: AccountLimits.omit({ egressClass: true }),
  usage: Usage,
  devices: z.array(Device),
  /** How to connect. The link has no password, because the daemon stores only its hash. */
  link: z.string(),
  host: z.string(),
  port: z.int(),
  mayChange: z.array(z.enum(['password', 'authorizedAddresses'])),
  /** Fewest characters of a chosen password. */
  minCharacters: Count,
  authorizedAddresses: z.array(z.string()),
  maxAuthorizedAddresses: Count,
  /** The network that `POST addresses` would add; null: it is unknown, or already in the list. */
  ownAddress: z.string().nullable(),
  /** The link for client programs, which is the address of this page; null: the page has an address of an earlier version. */
  subscription: z.string().nullable(),
  /** The address of the PAC file, a format of the link; null: there is none. */
  pac: z.string().nullable(),
  /** Some programs connect to it by HTTPS: there is a listener with a certificate. */
  hasTls: z.boolean(),
  /** The operator's name, the colour of the page's edge (null: none), and whether `picture` below this address is one. */
  title: z.string(),
  color: z.string().nullable(),
  hasPicture: z.boolean(),
  /** The operator's text for players who need help; null: none. */
  contact: z.string().nullable(),
  /** The first address in it: of http, https, mailto or tg. */
  contactUrl: z.string().nullable(),
  now: Time,
});

export async function shown(ctx: PlayerContext, account: Account, deps: PlayerServices): Promise<Answered> {
  const { id, username, isEnabled, expiresAt, daysFromFirstLogin, plan } = account;
  const { authorizedAddresses } = account;
  const { egressClass: _, ...limits } = account.limits;
  const { host, port } = linkAddressFor(deps, ctx.hostname);
  const { playerPage, maxAuthorizedAddresses } = deps;
  const token = ctx.state.subscription?.token;
  const subscription = token === undefined ? null : subscriptionUrl(playerOrigin(playerPage, ctx), token);
  const entries = await entriesFor(deps, ctx, { username, password: '', owner: account.owner });
  const now = deps.now();
  const body = {
    username,
    isEnabled,
    plan,
    daysFromFirstLogin,
    limits,
    host,
    port,
    isExpired: isExpired(account, now),
    suspendedUntil: isSuspended(account, now) ? isoOrNull(account.suspendedUntil) : null,
    suspendReason: isByGuard(account.suspendReason) ? null : account.suspendReason,
    expiresAt: isoOrNull(expiresAt),
    ...presentSchedule(account, deps.schedules, now),
    timeZone: deps.timeZone,
    usage: presentUsage(deps.usage.view(account)),
    devices: devicesOf(await deps.liveSessions.ofAccount(id), ctx.state.client),
    link: socksLink({ username, password: null }, { host, port }),
    authorizedAddresses,
    maxAuthorizedAddresses,
    mayChange: changeableOf(playerPage, account),
    minCharacters: playerPage.minCharacters,
    ownAddress: includesAddress(authorizedAddresses, ctx.state.client) ? null : ownNetwork(ctx, deps),
    subscription,
    pac: playerPage.pac && subscription !== null ? `${subscription}?format=pac` : null,
    hasTls: entries.some(({ isTls }) => isTls),
    title: playerPage.title,
    color: playerPage.color,
    hasPicture: playerPage.picture !== null,
    contact: playerPage.contact,
    contactUrl: supportUrlOf(playerPage.contact),
    now: iso(now),
  };
  return { body };
}

/** Returns the network that the player calls "my address"; null when a proxy hides it, or when it is this machine's own address. */
export function ownNetwork({ state }: PlayerContext, { isTrustedProxy }: PlayerServices): string | null {
  const { client, isForwarded } = state;
  const ip = parseIp(client);
  if (ip === null || isForwarded || isLoopback(client) || isTrustedProxy(client)) return null;
  return ip.length === 4 ? client : `${client}/64`;
}

/** Returns the devices, oldest first. @param client address of the request's client */
function devicesOf(sessions: readonly LiveSessionView[], client: string): z.infer<typeof Device>[] {
  const oldestFirst = [...sessions].sort((one, other) => one.openedAt - other.openedAt);
  const byAddress = grouped(oldestFirst, ({ client: { address } }) => address);
  return Array.from(byAddress, ([address, own]) => ({
    address,
    isThis: address === client,
    games: [...new Set(own.flatMap(({ gameId }) => gameId ?? []))],
    since: iso(own[0]?.openedAt ?? 0),
    sessions: own.length,
    ...sumOf(own),
  }));
}
