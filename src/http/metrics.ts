// /metrics for Prometheus: with its own token, or, when no token is configured, from this host only.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Middleware, ParameterizedContext } from 'koa';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { readWay } from '../core/exits/exit.js';
import { isLoopback } from '../core/ip.js';
import type { AdminState } from './caller.js';
import { headerValues } from './fields.js';
import type { AdminAttempts } from './guards/attempts.js';

/** The current measurements. Totals count from the start of the daemon. */
interface Measured {
  readonly version: string;
  /** The name of this node among the daemons that share the database. */
  readonly node: string;
  readonly sessions: number;
  /** Number of data plane workers, by engine. */
  readonly workers: Readonly<Record<'native' | 'node', number>>;
  readonly accountsOnline: number;
  readonly accounts: { readonly enabled: number; readonly disabled: number; readonly expired: number };
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** By outcome. */
  readonly logins: ReadonlyMap<string, number>;
  readonly heartbeats: number;
  readonly heartbeatsPending: number;
  readonly heartbeatsDropped: number;
  readonly runs: { readonly queued: number; readonly running: number };
  readonly databaseBytes: number | null;
  /** End of the certificates of the players' listeners, in ms, by the listener's key in the configuration. */
  readonly listenerCertificates: ReadonlyMap<string, number>;
  /** Whether the proxies and addresses of exits work; see waysOf. */
  readonly exitWays: ReadonlyMap<string, boolean>;
}

export interface MetricsDeps {
  readonly measure: () => Promise<Measured>;
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
function createRegistry({ measure, certificateExpiresAt }: MetricsDeps) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });

  const build = gauge('pulsegate_build_info', 'Always 1; the label is the version.', ['version']);
  const accounts = gauge('pulsegate_accounts', 'Accounts by state; expired ones may be enabled.', ['state']);
  const online = gauge('pulsegate_accounts_online', 'Accounts with at least one live session.');
  const bytes = counter('pulsegate_relayed_bytes_total', 'Bytes relayed for players.', ['direction']);
  const logins = counter('pulsegate_logins_total', 'Logins of players by outcome.', ['outcome']);
  const heartbeats = counter('pulsegate_heartbeats_total', 'Heartbeat entries created.');
  const pending = gauge('pulsegate_heartbeats_pending', 'Heartbeat entries not yet written to the database.');
  const dropped = counter(
    'pulsegate_heartbeats_dropped_total',
    'Heartbeat entries dropped before they were written.',
  );
  const runs = gauge('pulsegate_runs', 'Unfinished runs of agents by state.', ['state']);
  const database = gauge('pulsegate_database_bytes', 'Size of the database on disk.');
  const sessions = gauge('pulsegate_sessions', 'Live SOCKS sessions.');
  const workers = gauge('pulsegate_proxy_workers', 'Workers of the data plane by engine.', ['engine']);

  const listenerCertificates = gauge(
    'pulsegate_listener_certificate_expiry_seconds',
    'Unix time at which the certificate of a listener for players expires.',
    ['listener'],
  );

  const exitUp = gauge('pulsegate_exit_up', 'Whether a proxy or address of an exit works.', ['exit', 'way']);

  // Without a certificate the metric is absent: an end in 1970 would raise an alarm.
  const certificateEnd =
    certificateExpiresAt() === null
      ? null
      : gauge(
          'pulsegate_admin_certificate_expiry_seconds',
          'Unix time at which the certificate of the admin port expires.',
        );

  return {
    registry,
    async refresh() {
      certificateEnd?.set((certificateExpiresAt() ?? 0) / 1000);
      const now = await measure();
      registry.setDefaultLabels({ node: now.node });
      for (const [listener, end] of now.listenerCertificates)
        listenerCertificates.set({ listener }, end / 1000);
      exitUp.reset();
      for (const [id, isUp] of now.exitWays) exitUp.set({ ...readWay(id) }, isUp ? 1 : 0);
      sessions.set(now.sessions);
      build.set({ version: now.version }, 1);
      for (const [engine, count] of Object.entries(now.workers)) workers.set({ engine }, count);
      for (const [state, count] of Object.entries(now.accounts)) accounts.set({ state }, count);
      online.set(now.accountsOnline);
      set(bytes, now.bytesUp, { direction: 'up' });
      set(bytes, now.bytesDown, { direction: 'down' });
      for (const [outcome, count] of now.logins) set(logins, count, { outcome });
      set(heartbeats, now.heartbeats);
      pending.set(now.heartbeatsPending);
      set(dropped, now.heartbeatsDropped);
      for (const [state, count] of Object.entries(now.runs)) runs.set({ state }, count);
      if (now.databaseBytes !== null) database.set(now.databaseBytes);
    },
  };
}

/** The totals are counted elsewhere. This function sets the counter to the current total. */
function set(counter: Counter, total: number, labels: Record<string, string> = {}): void {
  counter.remove(labels);
  counter.inc(labels, total);
}
