// Heartbeat entries and records of sessions: records them for live sessions, writes them in batches, and deletes old ones; old entries
// of the login log and the audit log too.
import type { Heartbeat } from '../core/heartbeats/heartbeat.js';
import { createRecorder } from '../core/heartbeats/heartbeat-recorder.js';
import { createHeartbeatWriter } from '../core/heartbeats/heartbeat-writer.js';
import { DAY_MS, MINUTE_MS } from '../core/time/clock.js';
import { nodeTimers } from '../core/time/timers.js';
import { SessionRecorder } from '../core/trace/session-recorder.js';
import type { Store } from '../store/store.js';
import type { PartDeps } from './core.js';
import { createTasks, type Part } from './lifecycle.js';
import type { OperatorSettings } from './operator-settings.js';

/** How often retention by age is applied, in ms. */
const TRIM_INTERVAL_MS = MINUTE_MS;

export type HeartbeatsPart = ReturnType<typeof createHeartbeatsPart>;

export function createHeartbeatsPart(
  deps: PartDeps<'heartbeats' | 'trace', 'store' | 'directory' | 'pool' | 'usage' | 'sessions'> & {
    readonly settings: Pick<OperatorSettings, 'heartbeatRetention' | 'retention'>;
    readonly node: { readonly nodeName: string };
    readonly stats: { countHeartbeat(entry: Heartbeat): void };
  },
) {
  const { config, log, now } = deps;
  const { store, directory, pool, sessions } = deps.core;
  const recorder = createRecorder({
    pool: {
      record(entry) {
        // A session may end shortly after its account was removed: drop its entries.
        if (!directory.byId(entry.accountId)) return;
        pool.record(entry);
        deps.stats.countHeartbeat(entry);
      },
    },
    intervalMs: config.heartbeats.intervalMs,
    now,
  });
  sessions.subscribe(recorder);
  const records = new SessionRecorder({
    store: store.sessionRecords,
    isOn: () => deps.settings.retention.current().sessionDays > 0,
    node: deps.node.nodeName,
    maxPending: config.heartbeats.maxPending,
    maxDestinations: config.trace.destinationsPerAssociation,
    now,
  });
  sessions.subscribe(records);
  const writer = createHeartbeatWriter({
    pool,
    directory,
    heartbeats: store.heartbeats,
    accounts: store.accounts,
    traffic: deps.core.usage,
    records,
    retention: deps.settings.heartbeatRetention,
    flushIntervalMs: config.heartbeats.flushIntervalMs,
    trimIntervalMs: TRIM_INTERVAL_MS,
    now,
    timers: nodeTimers,
    log,
  });
  return {
    name: 'heartbeats',
    /** Reloads the totals of these accounts after other nodes have written entries. */
    refresh: writer.refresh,
    /** Writes what waits for the database. */
    write: writer.flush,
    /** Entries of all sessions are written before the handover: after it, each hands over the bytes of some milliseconds. */
    flush() {
      sessions.count();
      recorder.beat();
      return writer.flush();
    },
    async start() {
      const resumed = Array.from(sessions.all(), ({ id }) => id);
      await store.sessionRecords.cutOff(deps.node.nodeName, now(), resumed);
      writer.start();
    },
    stop: () => writer.stop(),
  };
}

export function createLogTrimmingPart(
  deps: PartDeps<'admin' | 'traffic', 'store'> & {
    readonly settings: Pick<OperatorSettings, 'retention'>;
  },
): Part {
  const { now } = deps;
  const { store } = deps.core;
  const { retention } = deps.settings;
  const stopped = new AbortController();
  const tasks = createTasks(deps.log);
  const maxLogins = deps.config.admin.logins.maxEntries;
  const trafficDays = deps.config.traffic.retention.days;
  const { signal } = stopped;
  const trim = () => trimLogs({ store, retention, maxLogins, trafficDays, now: now(), signal });
  return {
    name: 'log trimming',
    start: () => tasks.every(MINUTE_MS, 'log trimming', trim),
    stop() {
      stopped.abort();
      return tasks.stop();
    },
  };
}

/** Entries deleted by one statement. Other writers can write between two statements. */
const SLICE = 5_000;

/**
 * Deletes slice after slice until no old entry is left, because more than one slice may be added per minute.
 * Rejects when the database cannot be written.
 */
export async function trimLogs(deps: {
  readonly store: Pick<Store, 'logins' | 'audit' | 'sessionRecords' | 'trafficReport' | 'calendar'>;
  readonly retention: Pick<OperatorSettings['retention'], 'current'>;
  /** Most login entries that are kept, regardless of their age. */
  readonly maxLogins: number;
  /** For which the traffic of games and exits is kept. */
  readonly trafficDays: number;
  readonly now: number;
  /** Ends the deletion after the current slice. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { store, maxLogins, trafficDays, now, signal } = deps;
  const { loginDays, auditDays, sessionDays } = deps.retention.current();
  for (const trim of [
    () => store.logins.trim(now - loginDays * DAY_MS, maxLogins, SLICE),
    () => store.audit.trim(now - auditDays * DAY_MS, SLICE),
    () => store.sessionRecords.trim(now - sessionDays * DAY_MS, SLICE),
    () => store.trafficReport.trimParts(store.calendar.dayOf(now - trafficDays * DAY_MS), SLICE),
  ]) {
    while ((await trim()) === SLICE && !signal.aborted);
    if (signal.aborted) return;
  }
}
