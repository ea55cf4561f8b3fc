// The memory that the workers share, in the main thread: allocates it, and removes the counts of dead workers.
import type { ProxySettings } from '../plane-settings.js';
import { allocateOwnPorts, createOwnPorts, type OwnPorts } from './own-ports.js';
import { allocateOwnedDescriptors } from './owned-descriptors.js';
import { allocateSessionCounts } from './session-counts.js';
import { allocateGauges, type Gauges, viewGauges } from './shared.js';
import { allocateSourceTable, SourceTable, sourceName } from './source-table.js';

/** Maximum number of rows in the tables of handshakes and connections. */
const MAX_SOURCE_ROWS = 1_000_000;

/** What one worker sees: the memory of all, and its own `sessionCounts` and `owned` descriptors. */
export type SharedMemory = ReturnType<PlaneMemory['allocateFor']>;
type Limits = Pick<ProxySettings, 'maxConnections' | 'maxHandshakes' | 'maxConnectionsPerSource' | 'login'>;

export class PlaneMemory {
  readonly shared: ReturnType<typeof allocateTables>;
  readonly gauges: Gauges;
  readonly ownPorts: OwnPorts;
  readonly #tables: readonly SourceTable[];
  readonly #maxSessions: number;
  readonly #maxDescriptors: number;

  /**
   * @param maxDescriptors that the process may have
   * @param handed number of sessions that another process has handed over, whatever the limits are
   */
  constructor(workers: number, limits: Limits, maxDescriptors: number, handed: number) {
    this.shared = allocateTables(workers, limits);
    this.gauges = viewGauges(this.shared.gauges);
    this.ownPorts = createOwnPorts(this.shared.ownPorts, 0);
    const { handshakes, connectionSources, loginSources, loginNames } = this.shared;
    const memories = [handshakes, connectionSources, loginSources, loginNames];
    this.#tables = memories.map((memory) => new SourceTable(memory, -1));
    this.#maxSessions = Math.min(limits.maxConnections, maxDescriptors) + 1024 + handed;
    this.#maxDescriptors = maxDescriptors;
  }

  /** Returns the memory for a worker that is about to start. */
  allocateFor(worker: number) {
    // Another worker may have counted for the previous worker while that one died.
    this.gauges.clear(worker);
    return {
      ...this.shared,
      sessionCounts: allocateSessionCounts(this.#maxSessions),
      owned: allocateOwnedDescriptors(this.#maxDescriptors),
    };
  }

  /** Removes the counts of a dead worker, and releases its locks. */
  clear(worker: number): void {
    this.gauges.clear(worker);
    this.ownPorts.clear(worker + 1);
    for (const table of this.#tables) table.release(worker + 1);
    // Its handshakes cannot be distinguished from those of others, so the table is cleared.
    this.#tables[0]?.clear();
    this.#tables[1]?.removeNamed(sourceName(worker));
  }
}

function allocateTables(
  workers: number,
  { maxConnections, maxHandshakes, maxConnectionsPerSource, login }: Limits,
) {
  const sourceRows =
    maxConnectionsPerSource === null ? 1 : Math.min(MAX_SOURCE_ROWS, 2 * maxConnections + 64);
  return {
    ownPorts: allocateOwnPorts(workers),
    gauges: allocateGauges(),
    handshakes: allocateSourceTable(Math.min(MAX_SOURCE_ROWS, 2 * maxHandshakes + 64)),
    /** Places of sessions by source; see places.ts. */
    connectionSources: allocateSourceTable(sourceRows),
    loginSources: allocateSourceTable(login.maxSources),
    loginNames: allocateSourceTable(login.maxSources),
  };
}
