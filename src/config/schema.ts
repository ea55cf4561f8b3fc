// Every configuration key with its type and default. etc/pulsegate.yaml documents the keys.
import { z } from 'zod';
import type { GuardLimit } from '../core/accounts/usage/guard.js';
import {
  coveringPorts,
  DENIED_PORTS_FORMS,
  ENTRY_FORMS,
  parseDeniedPorts,
  parseEgressEntry,
} from '../core/egress/egress-entry.js';
import { createGameRules, GameRuleError } from '../core/heartbeats/game-rules.js';
import { isTimeZone } from '../core/time/time-zone.js';
import { compilePattern } from '../games-pattern.js';
import { adminSchema } from './admin-schema.js';
import {
  about,
  CONNECTION_FORM,
  connectionString,
  duration,
  flag,
  httpUrl,
  oneOf,
  orNull,
  report,
  secret,
  section,
  size,
  text,
  textThat,
  whole,
} from './fields.js';
import { socksSchema } from './socks-schema.js';
import type { WithUnits } from './units.js';
import { agentsSchema, checkWebhookAgents, signingSecret, webhooksSchema } from './webhooks-schema.js';

const log = section({
  level: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
  recent: section({
    lines: whole(1, 100_000).default(1_000),
    memory: size({ min: '64KiB', max: '16MiB' }).prefault('1MiB'),
  }).prefault({}),
});

const database = section({
  client: oneOf('auto', 'sqlite3', 'node:sqlite', '@photostructure/sqlite', 'better-sqlite3', 'pg').default(
    'auto',
  ),
  connection: orNull(connectionString()),
  connectionFile: orNull(text('a file path')),
  poolSize: whole(1, 1_000).default(10),
  busyTimeout: duration({ min: '0ms', max: '1h' }).prefault('5s'),
  answerTimeout: duration({ min: '100ms', max: '1m' }).prefault('3s'),
  checkInterval: duration({ min: '100ms', max: '1h' }).prefault('5s'),
  readers: whole(1, 64).default(2),
  readTimeout: duration({ min: '10ms', max: '10m' }).prefault('3s'),
}).superRefine(({ client, connection, connectionFile }, context) => {
  const refuse = (key: string, allowed: string) => report(context, [key], allowed);
  if (connection && connectionFile) refuse('connectionFile', 'null, because database.connection is also set');
  const form = `${CONNECTION_FORM} (or set database.connectionFile), because database.client is pg`;
  if (client === 'pg' && !connection && !connectionFile) refuse('connection', form);
  if (client !== 'pg' && (connection || connectionFile))
    refuse(connection ? 'connection' : 'connectionFile', 'null, unless database.client is pg');
});

const node = section({
  name: orNull(text('a name of 1 to 253 letters, digits, dots, dashes and underscores', /^[\w.-]{1,253}$/)),
  lease: duration({ min: '1s', max: '5m' }).prefault('10s'),
});

const dns = section({
  servers: z
    .array(
      text('an address of a name server, with or without a port: 1.1.1.1, 1.1.1.1:53, [2606:4700::1]:53'),
    )
    .default([]),
  timeout: duration({ min: '10ms', max: '1m' }).prefault('5s'),
  cacheSize: whole(1, 1_000_000).default(10_000),
  maxPending: whole(1, 1_000_000).default(4000),
  maxPendingPerAccount: whole(1, 1_000_000).default(256),
  maxPendingPerSource: whole(1, 1_000_000).default(512),
  maxLookupsPerMinutePerAccount: whole(1, 10_000_000).default(1_000),
  maxLookupsPerMinutePerSource: whole(1, 10_000_000).default(5_000),
});

const destinations = () =>
  z.array(textThat(ENTRY_FORMS, (entry) => parseEgressEntry(entry) !== null)).default([]);

const deniedPorts = () =>
  z.array(
    z
      .union([z.int(), z.string()])
      .refine((ports) => parseDeniedPorts(ports).length > 0)
      .register(about, { allowed: DENIED_PORTS_FORMS }),
  );

/** What one account may open; 0: any number. */
const guardLimits = {
  connectionsPerSecond: whole(0, 1_000_000),
  connectionsPerMinute: whole(0, 10_000_000),
  destinationsPerMinute: whole(0, 10_000_000),
  udpDestinationsPerSecond: whole(0, 1_000_000),
  failedConnectionsPerMinute: whole(0, 10_000_000),
} satisfies Record<GuardLimit, z.ZodType>;

/** Of an egress class, in place of `dns.maxLookupsPerMinutePerAccount` and `socks.maxConnectionsPerAccount`. */
const classLimits = { lookupsPerMinute: whole(0, 10_000_000), maxConnections: whole(0, 1_000_000) };

const guard = section({
  connectionsPerSecond: guardLimits.connectionsPerSecond.default(1_000),
  connectionsPerMinute: guardLimits.connectionsPerMinute.default(10_000),
  destinationsPerMinute: guardLimits.destinationsPerMinute.default(1_500),
  udpDestinationsPerSecond: guardLimits.udpDestinationsPerSecond.default(500),
  failedConnectionsPerMinute: guardLimits.failedConnectionsPerMinute.default(200),
  maxWait: duration({ min: '0ms', max: '5s' }).prefault('1s'),
  suspend: section({
    after: whole(0, 10_000_000).default(0),
    within: duration({ min: '1s', max: '1d' }).prefault('1m'),
    for: duration({ min: '1s', max: '30d' }).prefault('1h'),
  }).prefault({}),
});

const egress = section({
  exitTest: textThat('an http:// URL', (url) => /^http:\/\/[^/@\s]+(?:\/\S*)?$/.test(url)).default(
    'http://checkip.amazonaws.com/',
  ),
  exitChecks: section({
    interval: duration({ min: '0ms', max: '1h' }).prefault('30s'),
    timeout: duration({ min: '10ms', max: '1m' }).prefault('5s'),
  }).prefault({}),
  private: oneOf('deny', 'allow').default('deny'),
  allow: destinations(),
  deny: destinations(),
  denyPorts: deniedPorts().default(['smtp']),
  bittorrent: oneOf('deny', 'allow').default('allow'),
  allowUnderscore: flag().default(false),
  classes: z
    .record(
      text('the name of a class: 1 to 64 letters, digits, dots, dashes and underscores', /^[\w.-]{1,64}$/),
      section({
        private: oneOf('deny', 'allow').default('deny'),
        allow: destinations(),
        deny: destinations(),
        denyPorts: deniedPorts().optional(),
        bittorrent: oneOf('deny', 'allow').optional(),
        guard: section({ ...guardLimits, ...classLimits })
          .partial()
          .default({}),
      }),
    )
    .default({}),
});

const geo = section({
  country: orNull(text('a file path')),
  asn: orNull(text('a file path')),
});

const game = section({
  id: text('the GameID, 1 to 128 visible characters').optional(),
  gameId: text('a linear-time regular expression (RE2 syntax) with a group').optional(),
  match: section({
    hosts: z.array(text('a host name, *.name, an address or a network')).optional(),
    ports: z
      .array(
        z
          .union([z.int(), z.string()])
          .register(about, { allowed: 'a port from 1 to 65535, or a range such as "7100-7200"' }),
      )
      .optional(),
    protocol: oneOf('tcp', 'udp').optional(),
  }).prefault({}),
  maxBytes: size({ min: '1B', max: '64KiB' }).prefault('4KiB'),
}).superRefine(({ maxBytes, ...rule }, context) => {
  try {
    createGameRules([{ ...rule, maxBytes: maxBytes.value }], compilePattern);
  } catch (error) {
    if (!(error instanceof GameRuleError)) throw error;
    // `[0].match.ports[1]`: drop the first step, the index in the list of one rule.
    const path = [...error.path.matchAll(/\w+/g)]
      .slice(1)
      .map(([step]) => (/^\d+$/.test(step) ? Number(step) : step));
    context.addIssue({ code: 'custom', path, message: error.message, params: { isSentence: true } });
  }
});

const heartbeats = section({
  interval: duration({ min: '1s', max: '24h' }).prefault('30s'),
  gameInterval: duration({ min: '10ms', max: '24h' }).prefault('1s'),
  gamesPerAccount: whole(1, 10_000).default(32),
  flushInterval: duration({ min: '10ms', max: '1m' }).prefault('500ms'),
  maxPending: whole(1, 10_000_000).default(200_000),
  retention: section({
    days: whole(1, 36_500).default(30),
    perAccount: whole(1, 100_000_000).default(10_000),
  }).prefault({}),
  games: z.array(game).max(1000).default([]),
});

const trace = section({
  retention: section({ days: whole(0, 36_500).default(90) }).prefault({}),
  destinationsPerAssociation: whole(0, 10_000).default(256),
});

const traffic = section({
  maxDays: whole(1, 36_500).default(366),
  retention: section({ days: whole(1, 36_500).default(92) }).prefault({}),
});

const metrics = section({ token: orNull(secret('a token of 16 characters or more')) });

const events = section({
  timeout: duration({ min: '10ms', max: '5m' }).prefault('15s'),
  maxTries: whole(1, 100).default(10),
  backoff: duration({ min: '10ms', max: '1h' }).prefault('1s'),
  maxReceivers: whole(1, 100).default(10),
  sellerPerHour: whole(1, 1_000_000).default(1_000),
  sessionBatch: duration({ min: '10ms', max: '1h' }).prefault('5s'),
  keptPerReceiver: whole(1, 1_000_000).default(10_000),
});

const notices = section({
  url: orNull(httpUrl()),
  secret: orNull(signingSecret()),
  timeout: duration({ min: '10ms', max: '5m' }).prefault('15s'),
  maxTries: whole(1, 100).default(10),
  backoff: duration({ min: '10ms', max: '1h' }).prefault('1s'),
  lookEvery: duration({ min: '10ms', max: '1h' }).prefault('1m'),
  expiryDays: z
    .array(whole(0, 365))
    .max(8)
    .register(about, { allowed: 'at most 8 whole numbers of days from 0 to 365' })
    .default([7, 1, 0]),
  quotaPercent: z
    .array(whole(1, 100))
    .max(8)
    .register(about, { allowed: 'at most 8 whole numbers from 1 to 100' })
    .default([80, 100]),
  digestHour: whole(0, 23).default(9),
  sellerPerHour: whole(1, 100_000).default(60),
  loginFailures: whole(1, 1_000_000).default(50),
  loginFailureWindow: duration({ min: '1s', max: '24h' }).prefault('10m'),
});

export const configSchema = section({
  dataDir: text('a folder').default('./data'),
  shutdownGrace: duration({ min: '0s', max: '1h' }).prefault('30s'),
  stopTimeout: duration({ min: '100ms', max: '10m' }).prefault('10s'),
  timeZone: textThat('an IANA time zone such as Asia/Shanghai or UTC', isTimeZone).default('UTC'),
  controlPlaneNice: whole(0, 19).default(5),
  log: log.prefault({}),
  database: database.prefault({}),
  node: node.prefault({}),
  socks: socksSchema.prefault({}),
  dns: dns.prefault({}),
  egress: egress.prefault({}),
  guard: guard.prefault({}),
  geo: geo.prefault({}),
  heartbeats: heartbeats.prefault({}),
  trace: trace.prefault({}),
  traffic: traffic.prefault({}),
  admin: adminSchema.prefault({}),
  metrics: metrics.prefault({}),
  events: events.prefault({}),
  notices: notices.prefault({}),
  webhooks: webhooksSchema.prefault({}),
  agents: agentsSchema,
})
  .superRefine(checkWebhookAgents)
  .superRefine(checkGeoRules);

/** Refuses entries for countries or networks without a file that knows them: they would never apply. */
function checkGeoRules(
  config: { egress: Egress; geo: z.output<typeof geo> },
  context: z.RefinementCtx,
): void {
  const check = (entries: readonly string[], path: readonly string[]): void => {
    for (const [i, entry] of entries.entries()) {
      const { target = null } = parseEgressEntry(entry) ?? {};
      if (target === null || !('kind' in target) || config.geo[target.kind] !== null) continue;
      const allowed = `such an entry once geo.${target.kind} names a file in the MaxMind DB format`;
      report(context, [...path, i], allowed);
    }
  };
  for (const [at, { allow, deny }] of ruleSets(config.egress)) {
    check(allow, [...at, 'allow']);
    check(deny, [...at, 'deny']);
  }
}

type Egress = z.output<typeof egress>;

/** The rules of the configuration and those of each class, with their paths. */
function ruleSets({ classes, ...rules }: Egress) {
  return [
    [['egress'], rules] as const,
    ...Object.entries(classes).map(([name, each]) => [['egress', 'classes', name], each] as const),
  ];
}

/** Exceptions that `denyPorts` overrules. */
export function egressWarnings({ egress: all }: { egress: Egress }): string[] {
  return ruleSets(all).flatMap(([at, { allow, denyPorts = all.denyPorts }]) =>
    allow.flatMap((entry, i) => {
      const by = coveringPorts(denyPorts, parseEgressEntry(entry)?.ports);
      return by ? [`${at.join('.')}.allow[${i}]: ${entry} stays denied by denyPorts (${by})`] : [];
    }),
  );
}

/** The configuration as read: keys as in the file, durations and sizes as quantities, secrets wrapped. */
export type ConfigAsRead = z.output<typeof configSchema>;

/** The configuration as the daemon uses it: durations under names that end in `Ms`, sizes in `Bytes`. */
export type Config = WithUnits<ConfigAsRead>;
