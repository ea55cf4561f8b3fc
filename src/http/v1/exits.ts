// /api/v1/exits: the named ways out that accounts and plans may use, and those of the configuration.
import { z } from 'zod';
import {
  EXIT_FAMILIES,
  EXIT_NAME,
  type Exit,
  INTERFACE_NAME,
  isExitAddress,
  MAX_EXIT_ADDRESSES,
  MAX_EXIT_SELLERS,
  MAX_EXIT_UPSTREAMS,
  MAX_MARK,
  NEW_EXIT,
  parseProxy,
  upstreamId,
} from '../../core/exits/exit.js';
import type { ExitRefusal } from '../../core/exits/exits-setting.js';
import { countEach, withoutUndefined } from '../../core/maps.js';
import { failure, invalid, type ProblemAnswer } from '../api/problem.js';
import { DONE, routesOf } from '../api/route.js';
import { Bytes, component, fault, listOf } from '../api/schemas.js';
import { actorOf } from '../caller.js';
import type { Services } from '../services.js';

const Name = z.string().regex(EXIT_NAME);
const Login = z.string().min(1).max(255).nullable().default(null);

const Upstream = z.object({
  /**
   * `host:port`, `socks5://host:port`, `http://host:port`; with TLS `socks5s://` or `https://`, then also with `?ca=/FILE` (authorities to
   * trust, PEM) or `?fingerprint=SHA-256` of the only certificate to trust.
   */
  proxy: z
    .string()
    .max(300)
    .refine((text) => parseProxy(text) !== null, fault('proxy')),
  username: Login,
  /** Left out: the stored one of the same proxy and user name. */
  password: z.string().min(1).max(255).nullable().optional(),
});

const Fields = z.object({
  /** Addresses of this machine, and IPv6 networks of which each account or session gets an address of its own. */
  addresses: z.array(z.string().max(64).refine(isExitAddress, fault('exit-address'))).max(MAX_EXIT_ADDRESSES),
  /** `account`: always the same address; `session`: the addresses in turn, or a new one of the network. */
  choose: z.enum(['account', 'session']),
  /** SO_BINDTODEVICE, for routes by policy. */
  interface: z.string().regex(INTERFACE_NAME).nullable(),
  /** SO_MARK, for routes by policy; the daemon needs CAP_NET_ADMIN. */
  mark: z.int().min(1).max(MAX_MARK).nullable(),
  /** Null: both, IPv6 first. */
  family: z.enum(EXIT_FAMILIES).nullable(),
  /** Proxies in their order; the first that answers is used. None: directly. */
  upstreams: z.array(Upstream).max(MAX_EXIT_UPSTREAMS),
  /** Where names are resolved, with upstreams. */
  names: z.enum(['here', 'proxy']),
  /** For accounts without an exit. At most one is. */
  isDefault: z.boolean(),
  /** Ids of the sellers whose accounts may use it; accounts that already do keep it. */
  sellers: z.array(z.string().max(36)).max(MAX_EXIT_SELLERS),
});

const NewExit = Fields.partial().extend({ name: Name }).meta({ id: 'NewExit' });
const ExitChange = Fields.partial().meta({ id: 'ExitChange' });

const Milliseconds = z.int().min(0).nullable();

const ShownExit = Fields.extend({
  name: Name,
  upstreams: z.array(
    z.object({
      proxy: z.string(),
      username: z.string().nullable(),
      hasPassword: z.boolean(),
      /** Whether it answers; null: this daemon has not tried it yet. */
      isUp: z.boolean().nullable(),
    }),
  ),
  /** It is in the configuration (`socks.upstreams`) and cannot be changed here. */
  isFixed: z.boolean(),
  accounts: z.int().min(0),
  /** Live sessions of this daemon. */
  sessions: z.int().min(0),
  /** Since the start of this daemon. */
  bytesUp: Bytes,
  bytesDown: Bytes,
  /**
   * As this daemon finds: `degraded` when some proxies or addresses do not work, `down` when none does; null: none has been
   * tried yet.
   */
  state: z.enum(['up', 'degraded', 'down']).nullable(),
  /** Connections that failed in the last hour, of this daemon. */
  failures: z.int().min(0),
  /** Connect time in the last hour. */
  connectMs: z.object({ p50: Milliseconds, p95: Milliseconds }),
}).meta({ id: 'Exit' });

const TestResult = component('ExitTest', {
  ok: z.boolean(),
  /** Why it failed, as in the log; null: it did not. */
  reason: z.string().nullable(),
  local: z.string().nullable(),
  /** The address that the other side sees; null: the answer contains none. */
  seen: z.string().nullable(),
  connectMs: Milliseconds,
});

const { route } = routesOf('Exits');
const request = { params: z.object({ name: Name }) };

export const exitRoutes = [
  route('GET /api/v1/exits', 'listExits', 'settings:read', {
    summary: 'The exits of the configuration, and those that operators have made, by name.',
    success: [200, 'All of them.', listOf(ShownExit, 'Exits')],
    handle: async (_, services) => ({ body: { items: services.exits.list().map(presenterOf(services)) } }),
  }),
  route('POST /api/v1/exits', 'addExit', 'settings:write', {
    summary: 'Adds an exit, for sessions that begin from now on.',
    request: { body: NewExit },
    success: [201, 'Added.', ShownExit],
    problems: [409],
    handle: ({ body: { name, ...fields }, caller }, services) =>
      written(services, name, fields, () => services.exits.add(name, fields, actorOf(caller))),
  }),
  route('GET /api/v1/exits/{name}', 'getExit', 'settings:read', {
    summary: 'One exit.',
    request,
    success: [200, 'The exit.', ShownExit],
    handle: async ({ params: { name } }, services) => shown(services, name),
  }),
  route('PATCH /api/v1/exits/{name}', 'changeExit', 'settings:write', {
    summary: 'Changes the given fields; live sessions keep what they have.',
    request: { ...request, body: ExitChange },
    success: [200, 'Changed.', ShownExit],
    problems: [409],
    handle: ({ params: { name }, body, caller }, services) =>
      written(services, name, body, () => services.exits.set(name, body, actorOf(caller))),
  }),
  route('DELETE /api/v1/exits/{name}', 'removeExit', 'settings:write', {
    summary: 'Removes an exit that no account uses; its live sessions go on.',
    request,
    success: [204, 'Removed.'],
    problems: [409],
    async handle({ params: { name }, caller }, services) {
      const isUsed = (exit: string): boolean =>
        services.accounts.list().some(({ account }) => account.exit === exit) ||
        services.plans.list().some((plan) => plan.exit === exit);
      const refusal = await services.exits.remove(name, isUsed, actorOf(caller));
      if (refusal) return problemOf(refusal);
      services.onSettingChanged();
      return DONE;
    },
  }),
  route('POST /api/v1/exits/{name}/test', 'testExit', 'settings:write', {
    summary:
      'Connects out through the exit, to the server of egress.exitTest, and says which address that sees.',
    request,
    success: [200, 'How it went.', TestResult],
    async handle({ params: { name } }, { exits, testExit }) {
      if (exits.byName(name) === null) return problemOf('no-exit');
      const trial = await testExit(name);
      return { body: { reason: null, local: null, seen: null, connectMs: null, ...trial } };
    },
  }),
];

async function written(
  services: Services,
  name: string,
  fields: z.output<typeof ExitChange>,
  write: () => Promise<ExitRefusal | null>,
) {
  const unusable = problemOfFields(services, name, fields);
  if (unusable) return unusable;
  const refusal = await write();
  if (refusal) return problemOf(refusal);
  services.onSettingChanged();
  return shown(services, name);
}

function shown(services: Services, name: string) {
  const exit = services.exits.byName(name);
  return exit ? { body: presenterOf(services)(exit) } : problemOf('no-exit');
}

/** Returns how exits are shown. Accounts and sessions are counted once for all of them. */
function presenterOf({ accounts, exits, exitFigures, sessions }: Services) {
  const accountsOf = countEach(accounts.list().map(({ account }) => account.exit));
  const sessionsOf = countEach([...sessions.all()].map(({ exit }) => exit));
  return (shownExit: Exit) => {
    const { upstreams, ...exit } = shownExit;
    const isFixed = exits.isFixed(exit.name);
    return {
      ...exit,
      upstreams: upstreams.map(({ proxy, username, password }) => ({
        proxy,
        username,
        hasPassword: isFixed ? username !== null : password !== null,
        isUp: exitFigures.isUp(upstreamId(exit.name, { proxy, username })),
      })),
      isFixed,
      accounts: accountsOf.get(exit.name) ?? 0,
      sessions: sessionsOf.get(exit.name) ?? 0,
      ...exitFigures.of(shownExit),
    };
  };
}

/** Why this machine cannot use such an exit, or who is no seller. Sellers that are no more may stay. */
function problemOfFields(
  { machineProblem, operators, exits }: Services,
  name: string,
  body: z.output<typeof ExitChange>,
): ProblemAnswer | null {
  const problem = machineProblem({ ...NEW_EXIT, ...withoutUndefined(body) });
  if (problem) return failure('conflict', problem);
  const { addresses, family } = { ...(exits.byName(name) ?? NEW_EXIT), ...withoutUndefined(body) };
  const isOther = (address: string): boolean => family === (address.includes(':') ? 'ipv4' : 'ipv6');
  if (addresses.length > 0 && addresses.every(isOther)) return invalid('body.family', 'exit-family');
  const { sellers = [] } = body;
  const known = new Set(exits.list().flatMap((exit) => exit.sellers));
  const unknown = sellers.findIndex((id) => operators.get(id)?.role !== 'seller' && !known.has(id));
  return unknown < 0 ? null : invalid(`body.sellers.${unknown}`, 'seller');
}

const problemOf = (refusal: ExitRefusal): ProblemAnswer =>
  failure(refusal === 'no-exit' ? 'not-found' : 'conflict', refusal);
