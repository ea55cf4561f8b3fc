// Penalties of sources over all nodes: publishes the penalties of this node.
import { createPenalties, type Penalties } from '../../core/auth/penalties.js';
import type { Log } from '../../core/log.js';
import type { Core } from '../core.js';
import type { Part } from '../lifecycle.js';
import { createTasks } from '../lifecycle.js';

/** How often penalties are published, in ms. */
const INTERVAL_MS = 250;

export type PenaltiesPart = Part & Pick<Penalties, 'of' | 'publish' | 'read'>;

export function createPenaltiesPart(deps: {
  readonly core: Pick<Core, 'store'>;
  readonly log: Log;
}): PenaltiesPart {
  const store = deps.core.store.penalties;
  const { of, publish, read, flush } = createPenalties({ store, monotonicNow: () => performance.now() });
  if (!store) return { name: 'penalties', of, publish, read };
  const tasks = createTasks(deps.log);
  return {
    name: 'penalties',
    of,
    publish,
    read,
    start: () => tasks.every(INTERVAL_MS, 'penalties', flush),
    stop: tasks.stop,
  };
}
