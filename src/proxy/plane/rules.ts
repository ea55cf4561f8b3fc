// What applies to every worker: the latest message of each kind. A worker that is started later gets them too, and so does the next process.
import type { GeoFiles } from '../../geo.js';
import type { PlaneState } from '../handover/state.js';
import type { WorkerMessage } from '../messages.js';
import type { PlaneWorker } from './worker-handle.js';

type Rule = Extract<WorkerMessage, { kind: 'games' | 'exits' | 'exit-ways' | 'geo' | 'refuse' }>;
/** What the control plane may send to all workers; see messages.ts. */
export type PlaneMessage = Rule | Extract<WorkerMessage, { kind: 'end-account' | 'end-all' | 'penalties' }>;

export class PlaneRules {
  readonly #latest: { [Kind in Rule['kind']]: Extract<Rule, { kind: Kind }> };

  /** @param handed by another process */
  constructor(files: GeoFiles, handed: PlaneState | undefined) {
    this.#latest = {
      geo: { kind: 'geo', files },
      games: { kind: 'games', games: handed?.games ?? [] },
      exits: { kind: 'exits', exits: handed?.exits ?? [] },
      'exit-ways': { kind: 'exit-ways', ways: new Map(handed?.exitWays) },
      refuse: { kind: 'refuse', isRefusing: handed?.isRefusing ?? false },
    };
  }

  keep(message: PlaneMessage): void {
    if (message.kind in this.#latest) Object.assign(this.#latest, { [message.kind]: message });
  }

  sendAll(worker: PlaneWorker): void {
    for (const message of Object.values(this.#latest)) worker.send(message);
  }

  handOver(): Pick<PlaneState, 'games' | 'exits' | 'exitWays' | 'isRefusing'> {
    const { games, exits, 'exit-ways': exitWays, refuse } = this.#latest;
    const { isRefusing } = refuse;
    return { games: games.games, exits: exits.exits, exitWays: [...exitWays.ways], isRefusing };
  }
}
