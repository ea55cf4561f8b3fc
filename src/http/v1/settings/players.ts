// /api/v1/settings/plans, public-address and pac: the plans by which accounts are created, renewed and upgraded, and what players’
// programs are told.
import { z } from 'zod';
import { isPlanName, MAX_PLAN_DAYS, MAX_PLAN_NAME, MAX_PLANS } from '../../../core/accounts/plans/plans.js';
import { isPacMatch, MAX_PAC_RULES } from '../../../core/accounts/player/pac.js';
import {
  isPublicHost,
  type LinkAddress as Link,
  linkAddress,
} from '../../../core/accounts/player/proxy-link.js';
import { EXIT_NAME } from '../../../core/exits/exit.js';
import { invalid } from '../../api/problem.js';
import { component, fault } from '../../api/schemas.js';
import type { LinkServices, Source } from '../../services.js';
import { AccountLimits } from '../accounts/field-schemas.js';
import { settingRoutes } from './setting-routes.js';

/** The address in links, QR codes and files for players. */
export const LinkAddress = component('LinkAddress', {
  host: z.string(),
  port: z.int().min(0).max(65_535),
  /** The source of a guessed host: the listener, or the address that this browser uses. Null: the host is set. */
  guess: z.enum(['listener', 'browser', 'interface']).nullable(),
});

const PublicHost = z.string().min(1).max(253).nullable();
const PublicPort = z.int().min(1).max(65_535).nullable();
const PublicSource = z.enum(['default', 'file', 'environment', 'flag', 'console']);

/** Null: not set. A saved value takes precedence over the configuration. */
const PublicAddress = component('PublicAddress', {
  host: PublicHost,
  hostSource: PublicSource,
  port: PublicPort,
  portSource: PublicSource,
  /** The values of the configuration: socks.publicHost and socks.publicPort. */
  configured: z.object({ host: PublicHost, port: PublicPort }),
  link: LinkAddress,
});

export const publicAddressRoutes = settingRoutes({
  name: 'public-address',
  schema: PublicAddress,
  body: component('PublicAddressChange', { host: PublicHost, port: PublicPort }),
  get: [
    'getPublicAddress',
    'The server address for players, as links contain it.',
    'The values, their sources, and the address in links.',
  ],
  put: [
    'setPublicAddress',
    'Sets the host and port in links; null restores the value of the configuration.',
    'As saved.',
  ],
  present(services, { hostname }) {
    const { publicAddress, configuredAddress: configured } = services;
    const saved = publicAddress.saved();
    const { host, port } = publicAddress.current();
    const source = (isSaved: boolean, isSet: boolean, from: Source) =>
      isSaved ? 'console' : isSet ? from : 'default';
    const body = {
      host,
      hostSource: source(saved.host !== null, host !== null, configured.hostFrom),
      port,
      portSource: source(saved.port !== null, port !== null, configured.portFrom),
      configured: { host: configured.host, port: configured.port },
      link: linkAddressFor(services, hostname),
    };
    return { body, version: saved };
  },
  async save({ body: { host, port }, by }, { publicAddress }, otherVersion) {
    if (host !== null && !isPublicHost(host)) return invalid('body.host', 'host');
    return publicAddress.save(() => ({ host, port }), by, otherVersion);
  },
});

/** @param hostname the host in the request of the caller's browser */
export function linkAddressFor({ publicAddress, socks }: LinkServices, hostname: string): Link {
  const [listener = ':1080'] = socks();
  const at = listener.lastIndexOf(':');
  return linkAddress(
    publicAddress.current(),
    { host: withoutBrackets(listener.slice(0, at)), port: Number(listener.slice(at + 1)) },
    { host: withoutBrackets(hostname), guess: 'browser' },
  );
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

const PacWay = z.enum(['proxy', 'direct']).meta({ id: 'PacWay' });

const PacMatch = z
  .string()
  .min(1)
  .max(255)
  .superRefine((entry, context) => {
    if (!isPacMatch(entry)) context.addIssue({ code: 'custom', ...fault('pac-match', { entry }) });
  });

const PacRules = component('PacRules', {
  /** The first matching rule wins: example.com, *.example.com (every name below it), an address or a network. */
  rules: z.array(z.object({ match: PacMatch, via: PacWay })).max(MAX_PAC_RULES),
  /** For hosts without a matching rule. */
  otherwise: PacWay,
});

export const pacRoutes = settingRoutes({
  name: 'pac',
  schema: PacRules,
  body: PacRules,
  get: ['getPacRules', 'Which hosts the players’ PAC files send through the proxy.', 'The rules, in order.'],
  put: ['setPacRules', 'Saves the rules of the players’ PAC files.', 'As saved.', { bulkBody: true }],
  present: ({ pac }) => ({ body: pac.current() }),
  save: ({ body, by }, { pac }, otherVersion) => pac.save(() => body, by, otherVersion),
});

const asConfigured = AccountLimits.shape.connectionsPerMinute.default(null);

/** Scripts of earlier versions do not know the limits of the guard. */
const PlanLimits = AccountLimits.omit({ egressClass: true })
  .extend({
    connectionsPerSecond: asConfigured,
    connectionsPerMinute: asConfigured,
    destinationsPerMinute: asConfigured,
    udpDestinationsPerSecond: asConfigured,
    failedConnectionsPerMinute: asConfigured,
    lookupsPerMinute: asConfigured,
    maxConnections: asConfigured,
  })
  .meta({ id: 'PlanLimits' });

const Plan = component('Plan', {
  name: z.string().min(1).max(MAX_PLAN_NAME).refine(isPlanName, fault('plan-name')),
  /** Duration in days; null: without end. */
  days: z.int().min(1).max(MAX_PLAN_DAYS).nullable(),
  /** The days of an account that has never logged in start at its first login. */
  startsAtFirstLogin: z.boolean(),
  limits: PlanLimits,
  /** Name of the exit that accounts of the plan get; null: theirs stays. */
  exit: z.string().regex(EXIT_NAME).nullable().default(null),
});

const Plans = component('Plans', { plans: z.array(Plan).max(MAX_PLANS) });

export const planRoutes = settingRoutes({
  name: 'plans',
  schema: Plans,
  body: Plans,
  get: ['getPlans', 'The plans, in the order in which they are offered.', 'All of them.', 'accounts:read'],
  put: [
    'setPlans',
    'Saves all plans; existing accounts of a changed or removed plan stay unchanged.',
    'As saved.',
    { bulkBody: true },
  ],
  present: ({ plans }) => ({ body: { plans: plans.list() }, version: plans.list() }),
  async save({ body, by }, { accounts, plans }, otherVersion) {
    const unknown = body.plans.findIndex(
      ({ name, exit }) => exit !== plans.byName(name)?.exit && !accounts.hasExit(exit),
    );
    if (unknown >= 0) return invalid(`body.plans.${unknown}.exit`, 'exit');
    const names = body.plans.map(({ name }) => name);
    const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
    if (twice >= 0) return invalid(`body.plans.${twice}.name`, 'plan-twice');
    return plans.save(() => body.plans, by, otherVersion);
  },
});
