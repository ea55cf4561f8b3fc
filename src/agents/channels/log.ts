// The `log` channel: writes the reply as one line to the daemon's log.
import type { Channel } from '../../core/agents/runs.js';
import type { Log } from '../../core/log.js';

export function createLogChannel(log: Pick<Log, 'info'>): Channel {
  return {
    type: 'log',
    async deliver(reply) {
      log.info({ delivery: reply }, 'agent reply');
      return { ok: true, detail: 'logged' };
    },
  };
}
