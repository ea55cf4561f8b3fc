// What applies to every worker, as it was said last: a worker that is started later is told too, and so is the next process.
import type { GeoFiles } from '../../geo.js';
import type { PlaneState } from '../handover/state.js';
import type { WorkerMessage } from '../messages.js';
import type { PlaneWorker } from './worker-handle.js';

type Rule = Extract<WorkerMessage, { kind: 'games' | 'exits' | 'exit-ways' | 'geo' | 'refuse' }>;
/** What the control plane may tell all workers; see messages.ts. */
export type PlaneMessage = Rule | Extract<WorkerMessage, { kind: 'end-account' | 'end-all' | 'penalties' }>;

export class PlaneRules {
  readonly #told: { [Kind in Rule['kind']]: Extract<Rule, { kind: Kind }> };

  /** @param handed by another process */
  constructor(files: GeoFiles, handed: PlaneState | undefined) {
    this.#told = {
      geo: { kind: 'geo', files },
      games: { kind: 'games', games: handed?.games ?? [] },
      exits: { kind: 'exits', exits: handed?.exits ?? [] },
      'exit-ways': { kind: 'exit-ways', ways: new Map(handed?.exitWays) },
      refuse: { kind: 'refuse', isRefusing: handed?.isRefusing ?? false },
    };
  }

  keep(message: PlaneMessage): void {
    if (message.kind in this.#told) Object.assign(this.#told, { [message.kind]: message });
  }

  sendAll(worker: PlaneWorker): void {
    for (const message of Object.values(this.#told)) worker.send(message);
  }

  handOver(): Pick<PlaneState, 'games' | 'exits' | 'exitWays' | 'isRefusing'> {
    const { games, exits, 'exit-ways': exitWays, refuse } = this.#told;
    const { isRefusing } = refuse;
    return { games: games.games, exits: exits.exits, exitWays: [...exitWays.ways], isRefusing };
  }
}
