// Live statistics, charts, the login log, and the change events on which pages of the console reload.
import { createLoginLog } from '../core/accounts/access/login-log.js';
import { LiveActivity } from '../core/accounts/usage/live-activity.js';
import type { Heartbeat } from '../core/heartbeats/heartbeat.js';
import { createHeartbeatSums } from '../core/heartbeats/heartbeat-sums.js';
import type { NodeLoad } from '../core/nodes/nodes.js';
import type { Session } from '../core/sessions/session.js';
import { createChangeSignal } from '../core/stats/change-signal.js';
import { createHistory } from '../core/stats/history.js';
import { createOverview } from '../core/stats/overview.js';
import { nodeTimers } from '../core/time/timers.js';
import { everyStep } from '../core/time/turns.js';
import type { PartDeps } from './core.js';
import type { NodePart } from './database/node.js';
import { createTasks } from './lifecycle.js';

type Load = Pick<NodeLoad, 'sessions' | 'accountsOnline' | 'bytesPerSecondUp' | 'bytesPerSecondDown'>;

const MAX_LOGIN_GROUPS = 20_000;
/** Changes of a topic are published at most once per this time, in ms. */
const SIGNAL_QUIET_MS = 300;
const TICK_MS = 1_000;
const RUNS_EVERY_MS = 2_000;
const SUMS_EVERY_MS = 20_000;

export type StatsPart = Awaited<ReturnType<typeof createStatsPart>>;

/** Loads today's values from the database. Rejects when it cannot be read. */
export async function createStatsPart(
  deps: PartDeps<'heartbeats' | 'admin', 'store' | 'directory' | 'sessions' | 'settings'> & {
    readonly node: Pick<NodePart, 'isFirst'>;
  },
) {
  const { config, now } = deps;
  const { store, directory, sessions, settings } = deps.core;
  const changes = createChangeSignal(SIGNAL_QUIET_MS, nodeTimers);
  settings.onReloaded(() => changes.notify('settings'));
  directory.onChanged(({ id, before, after }) => {
    changes.notify('accounts', id);
    if (before !== after) changes.notify('audit');
    if (!after) activity.forget(id);
  });
  const { calendar } = store;
  const activity = new LiveActivity(now(), calendar);
  const today = calendar.firstDay('day', now()) ?? 0;
  const ofToday = await store.samples.list('day', calendar.startOfDay(today));
  activity.load(ofToday, await store.samples.trafficSince(today));
  const heartbeatSums = createHeartbeatSums({
    store: store.heartbeatSums,
    maxGames: config.heartbeats.gamesPerAccount,
    now,
  });
  const history = createHistory({
    store: store.samples,
    activity,
    isFirst: () => deps.node.isFirst(),
    calendar,
    now,
  });
  const overview = createOverview({
    directory,
    sessions,
    activity,
    samples: store.samples,
    heartbeatSums,
    calendar,
    now,
  });
  const logins = createLoginLog({
    store: store.logins,
    now,
    monotonicNow: () => performance.now(),
    maxGroups: MAX_LOGIN_GROUPS,
    maxBlockedNames: config.admin.logins.maxBlockedNames,
    onNote: (outcome) => activity.countLogin(outcome),
  });
  const tasks = createTasks(deps.log);
  const closed = ({ id }: Session): void => {
    activity.closed(id);
    changes.notify('sessions');
  };
  sessions.subscribe({
    opened: () => changes.notify('sessions'),
    traffic: ({ id, accountId }, bytesUp, bytesDown) =>
      activity.addTraffic(id, accountId, bytesUp, bytesDown),
    closed,
    passed: closed,
    counted: () => activity.tick(now()),
  });

  const flush = () => everyStep(logins.flush, heartbeatSums.flush);
  let publishedRuns = '';
  /** Runs change in many places, so this compares their counts. */
  async function publishRuns(): Promise<void> {
    const runs = JSON.stringify((await overview()).runs);
    if (runs === publishedRuns) return;
    publishedRuns = runs;
    changes.notify('runs');
    changes.notify('agents');
  }

  return {
    name: 'stats',
    changes,
    activity,
    heartbeatSums,
    history,
    overview,
    logins,

    start() {
      tasks.every(TICK_MS, 'session counts', () => history.observe(sessions.total, sessions.totalAccounts));
      tasks.every(TICK_MS, 'chart history', history.sampleIfDue);
      tasks.every(TICK_MS, 'login log', logins.flush);
      tasks.every(RUNS_EVERY_MS, 'run state', () => (changes.hasListeners() ? publishRuns() : undefined));
      tasks.every(SUMS_EVERY_MS, 'heartbeat sums', heartbeatSums.flush);
    },

    flush,

    async stop() {
      await tasks.stop();
      changes.close();
      await flush();
    },

    load: (): Load => ({
      sessions: sessions.size,
      accountsOnline: sessions.accountCount,
      bytesPerSecondUp: activity.rate.up,
      bytesPerSecondDown: activity.rate.down,
    }),

    countHeartbeat(entry: Heartbeat): void {
      activity.countHeartbeat();
      heartbeatSums.record(entry);
    },
  };
}
