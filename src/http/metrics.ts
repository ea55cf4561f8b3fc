// /metrics for Prometheus: with its own token, or, when no token is configured, from this host only.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Middleware, ParameterizedContext } from 'koa';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { isLoopback } from '../core/addresses/ip.js';
import { readWay } from '../core/exits/exit.js';
import type { AdminState } from './caller.js';
import type { AdminAttempts } from './guards/attempts.js';
import { headerValues } from './request.js';

/** The labels of a metric that has a value for each of several keys. */
interface Labels {
  readonly names: string[];
  readonly of: (key: string) => Record<string, string>;
}

const by = (name: string): Labels => ({ names: [name], of: (key) => ({ [name]: key }) });
/** The key of exits is the id of a way. */
const BY_WAY: Labels = { names: ['exit', 'way'], of: (id) => ({ ...readWay(id) }) };

/** Each metric by what is measured. Totals count from the start of the daemon. */
const METRICS = {
  build: ['pulsegate_build_info', 'Always 1; the label is the version.', by('version')],
  accounts: ['pulsegate_accounts', 'Accounts by state; expired ones may be enabled.', by('state')],
  accountsOnline: ['pulsegate_accounts_online', 'Accounts with at least one live session.'],
  bytes: ['pulsegate_relayed_bytes_total', 'Bytes relayed for players.', by('direction')],
  logins: ['pulsegate_logins_total', 'Logins of players by outcome.', by('outcome')],
  heartbeats: ['pulsegate_heartbeats_total', 'Heartbeat entries created.'],
  pending: ['pulsegate_heartbeats_pending', 'Heartbeat entries not yet written to the database.'],
  dropped: ['pulsegate_heartbeats_dropped_total', 'Heartbeat entries dropped before they were written.'],
  runs: ['pulsegate_runs', 'Unfinished runs of agents by state.', by('state')],
  databaseBytes: ['pulsegate_database_bytes', 'Size of the database on disk.'],
  sessions: ['pulsegate_sessions', 'Live SOCKS sessions.'],
  workers: ['pulsegate_proxy_workers', 'Workers of the data plane by engine.', by('engine')],
  listenerCertificates: [
    'pulsegate_listener_certificate_expiry_seconds',
    'Unix time at which the certificate of a listener for players expires.',
    by('listener'),
  ],
  exitUp: ['pulsegate_exit_up', 'Whether a proxy or address of an exit works.', BY_WAY],
  adminCertificate: [
    'pulsegate_admin_certificate_expiry_seconds',
    'Unix time at which the certificate of the admin port expires.',
  ],
} as const;
type Name = keyof typeof METRICS;
type Row = readonly [name: string, help: string, labels?: Labels];

/** A metric without a value (null) is absent: a certificate that ended in 1970 would raise an alarm. */
type Measured = {
  readonly [N in Name]: (typeof METRICS)[N] extends readonly [string, string, Labels]
    ? Iterable<readonly [key: string, value: number]>
    : number | null;
};

export interface MetricsDeps {
  readonly measure: () => Promise<Omit<Measured, 'adminCertificate'>>;
  /** The name of this node among the daemons that share the database. */
  readonly node: string;
  /** null: only this host may request the metrics. */
  readonly metricsToken: string | null;
  /** A wrong token counts as a failed login, together with every other way to log in to the admin API. */
  readonly attempts: Pick<AdminAttempts, 'begin' | 'succeeded'>;
  /** End of the certificate of the admin API, in ms; null: it serves none. */
  readonly certificateExpiresAt: () => number | null;
}

export function metricsRoute(deps: MetricsDeps): Middleware<AdminState> {
  const { metricsToken, attempts } = deps;
  // Made for the first scrape: prom-client's measurement of the event loop wakes the process 100 times a second.
  let made: ReturnType<typeof createRegistry> | undefined;
  // Not async: every other request passes here.
  return (ctx, next) => {
    if (ctx.path !== '/metrics' || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
    return answer(ctx);
  };

  async function answer(ctx: ParameterizedContext<AdminState>): Promise<void> {
    ctx.set('Content-Type', 'text/plain; charset=utf-8');
    const given = headerValues(ctx.req, 'authorization');
    // A request without a token is no guess, like a request without a password.
    const isGuess = metricsToken !== null && given.length > 0;
    const waitSeconds = isGuess ? attempts.begin(ctx.state.client) : null;
    if (waitSeconds !== null) {
      ctx.status = 429;
      ctx.set('Retry-After', String(waitSeconds));
      ctx.body = 'too many failures\n';
      return;
    }
    const isAllowed =
      metricsToken === null ? isLoopback(ctx.state.client) : isSame(given, `Bearer ${metricsToken}`);
    if (!isAllowed) {
      ctx.status = metricsToken === null ? 403 : 401;
      if (metricsToken !== null) ctx.set('WWW-Authenticate', 'Bearer realm="Pulsegate metrics"');
      ctx.body = 'not allowed\n';
      return;
    }
    if (isGuess) attempts.succeeded(ctx.state.client);
    made ??= createRegistry(deps);
    const { registry, refresh } = made;
    await refresh();
    ctx.set('Content-Type', registry.contentType);
    ctx.body = await registry.metrics();
  }
}

function isSame(given: readonly string[], expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return given.length === 1 && timingSafeEqual(digest(given[0] ?? ''), digest(expected));
}

/** Copies all values at once before they are rendered. Otherwise each metric would be of another moment. */
function createRegistry({ measure, node, certificateExpiresAt }: MetricsDeps) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registry.setDefaultLabels({ node });
  const made = new Map<Name, Pick<Gauge, 'reset' | 'inc'>>();

  function create([name, help, labels]: Row) {
    const Kind = name.endsWith('_total') ? Counter : Gauge;
    return new Kind({ name, help, labelNames: labels?.names ?? [], registers: [registry] });
  }

  return {
    registry,
    async refresh() {
      const end = certificateExpiresAt();
      const adminCertificate = end === null ? null : end / 1000;
      const measured: Measured = { ...(await measure()), adminCertificate };
      for (const [key, row] of Object.entries(METRICS) as [Name, Row][]) {
        const found = measured[key];
        if (found === null) continue;
        const metric = made.get(key) ?? create(row);
        made.set(key, metric);
        // The totals are counted elsewhere.
        metric.reset();
        if (typeof found === 'number') metric.inc(found);
        else for (const [each, value] of found) metric.inc(row[2]?.of(each) ?? {}, value);
      }
    },
  };
}
