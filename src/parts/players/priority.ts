// The priority of the control plane: players come first when the processors are busy.
import type { Config } from '../../config.js';
import type { Log } from '../../core/log.js';
import { preparePriorities, yieldToPlayers } from '../../proxy/thread-priority.js';
import type { Part } from '../lifecycle.js';

/** Created before the threads of players, and started when all of them run. */
export function createPriorityPart({ controlPlaneNice }: Config, log: Log): Part {
  if (controlPlaneNice > 0) preparePriorities();
  return {
    name: 'priority',
    start() {
      if (!yieldToPlayers(controlPlaneNice))
        log.warn({ controlPlaneNice }, 'the system refused to lower the priority of the control plane');
    },
  };
}
