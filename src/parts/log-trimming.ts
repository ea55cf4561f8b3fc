// Deletes old entries of the login log and the audit log, and old records of sessions, once a minute.
import type { Config } from '../config.js';
import { MINUTE_MS } from '../core/clock.js';
import type { Log } from '../core/log.js';
import { trimLogs } from '../store/trim-logs.js';
import type { Core } from './core.js';
import { createTasks, type Part } from './lifecycle.js';
import type { OperatorSettings } from './operator-settings.js';

export function createLogTrimmingPart(deps: {
  readonly config: Pick<Config, 'admin'>;
  readonly core: Pick<Core, 'store'>;
  readonly settings: Pick<OperatorSettings, 'retention'>;
  readonly log: Log;
  readonly now: () => number;
}): Part {
  const { now } = deps;
  const { store } = deps.core;
  const { retention } = deps.settings;
  const stopped = new AbortController();
  const tasks = createTasks(deps.log);
  const maxLogins = deps.config.admin.logins.maxEntries;
  const trim = () => trimLogs({ store, retention, maxLogins, now: now(), signal: stopped.signal });
  return {
    name: 'log trimming',
    start: () => tasks.every(MINUTE_MS, 'log trimming', trim),
    stop() {
      stopped.abort();
      return tasks.stop();
    },
  };
}
