// What happens and what happened, for the console's pages: live numbers, charts, logins, and the bell that tells pages
// what to read again.
import { LiveActivity } from '../core/accounts/live-activity.js';
import { createLoginLog, type LoginLog } from '../core/accounts/login-log.js';
import type { Heartbeat } from '../core/heartbeats/heartbeat.js';
import { createHeartbeatSums, type HeartbeatSums } from '../core/heartbeats/heartbeat-sums.js';
import type { Session, SessionRegistry } from '../core/sessions/session.js';
import { type ChangeBell, createChangeBell } from '../core/stats/change-signal.js';
import { createHistory, type History } from '../core/stats/history.js';
import { createOverview, type OverviewNow } from '../core/stats/overview.js';
import type { Core } from './core.js';

export interface Happenings {
  readonly bell: ChangeBell;
  readonly activity: LiveActivity;
  readonly heartbeatSums: HeartbeatSums;
  readonly history: History;
  readonly overview: () => Promise<OverviewNow>;
  readonly logins: LoginLog;
  /** Rings the bell when the numbers of runs have changed, whoever has changed them. */
  watchRuns(): Promise<void>;
  /** Told of every session. */
  readonly live: { opened(session: Session): void; closed(session: Session): void };
  /** Counts a heartbeat entry. */
  heartbeat(entry: Heartbeat): void;
}

/** Groups of logins that are remembered for a minute. */
const MAX_LOGIN_GROUPS = 20_000;
const BELL_QUIET_MS = 300;
const DAY_MS = 86_400_000;

/** Starts from what the database has of today. Rejects when it cannot be read. */
export async function openHappenings(uses: {
  readonly core: Pick<Core, 'store' | 'directory'>;
  readonly sessions: SessionRegistry;
  /** GameIDs of an account that one step of a chart counts apart. */
  readonly maxGamesPerAccount: number;
  /** Names of a blocked source that the log of logins notes apart. */
  readonly maxBlockedNames: number;
  readonly now: () => number;
}): Promise<Happenings> {
  const { sessions, now } = uses;
  const { store, directory } = uses.core;
  const bell = createChangeBell(BELL_QUIET_MS);
  directory.onChanged((id) => {
    bell.ring('accounts', id);
    bell.ring('audit');
  });
  const activity = new LiveActivity(now());
  const today = Math.floor(now() / DAY_MS);
  const [ofToday] = await store.samples.list('day', today * DAY_MS);
  activity.load(ofToday, await store.samples.trafficOf(today));
  directory.onClosed((account, reason) => {
    if (reason === 'account-removed') activity.forget(account.id);
  });
  const heartbeatSums = createHeartbeatSums({
    store: store.heartbeatSums,
    maxGames: uses.maxGamesPerAccount,
    now,
  });
  const history = createHistory({ store: store.samples, activity, now });
  const overview = createOverview({
    directory,
    sessions,
    activity,
    samples: store.samples,
    heartbeatSums,
    now,
  });
  const logins = createLoginLog({
    store: store.logins,
    now,
    monotonicNow: () => performance.now(),
    maxGroups: MAX_LOGIN_GROUPS,
    maxBlockedNames: uses.maxBlockedNames,
    onNote: (outcome) => activity.noteLogin(outcome),
  });

  let runsTold = '';
  return {
    bell,
    activity,
    heartbeatSums,
    history,
    overview,
    logins,

    // Runs change in many places: pages are told when their numbers have.
    async watchRuns() {
      const { runs } = await overview();
      const told = JSON.stringify(runs);
      if (told === runsTold) return;
      runsTold = told;
      bell.ring('runs');
      bell.ring('agents');
    },

    live: {
      opened(session) {
        activity.opened(session);
        bell.ring('sessions');
      },
      closed(session) {
        activity.closed(session);
        bell.ring('sessions');
      },
    },

    heartbeat(entry) {
      activity.noteHeartbeat();
      heartbeatSums.record(entry);
    },
  };
}
