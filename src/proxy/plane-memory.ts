// The memory that the workers share, as the main thread has it: allocated, and cleared of what a dead worker had counted.
import type { SharedMemory } from './messages.js';
import { allocateOwnPorts, createOwnPorts, type OwnPorts } from './own-ports.js';
import { allocateOwnedDescriptors } from './owned-descriptors.js';
import { allocateSessionCounts } from './session-counts.js';
import type { ProxySettings } from './settings.js';
import { allocateGauges, type Gauges, viewGauges } from './shared.js';
import { allocateSourceTable, SourceTable } from './source-table.js';

/** Rows of the table of handshakes at most. */
const MAX_HANDSHAKE_ROWS = 1_000_000;

export class PlaneMemory {
  readonly shared: Omit<SharedMemory, 'sessionCounts' | 'owned'>;
  readonly gauges: Gauges;
  readonly ownPorts: OwnPorts;
  readonly #tables: readonly SourceTable[];
  readonly #maxSessions: number;
  readonly #maxDescriptors: number;

  /** @param maxDescriptors that the process may have */
  constructor(
    workers: number,
    {
      maxConnections,
      maxHandshakes,
      login,
    }: Pick<ProxySettings, 'maxConnections' | 'maxHandshakes' | 'login'>,
    maxDescriptors: number,
  ) {
    this.shared = {
      ownPorts: allocateOwnPorts(workers),
      gauges: allocateGauges(),
      handshakes: allocateSourceTable(Math.min(MAX_HANDSHAKE_ROWS, 2 * maxHandshakes + 64)),
      loginSources: allocateSourceTable(login.maxSources),
      loginNames: allocateSourceTable(login.maxSources),
    };
    this.gauges = viewGauges(this.shared.gauges);
    this.ownPorts = createOwnPorts(this.shared.ownPorts, 0);
    const { handshakes, loginSources, loginNames } = this.shared;
    this.#tables = [handshakes, loginSources, loginNames].map((memory) => new SourceTable(memory, -1));
    this.#maxSessions = Math.min(maxConnections, maxDescriptors) + 1024;
    this.#maxDescriptors = maxDescriptors;
  }

  /** For a worker that is to be started. */
  allocateFor(worker: number): SharedMemory {
    // Another worker may have counted for the one before just as it died.
    this.gauges.clear(worker);
    return {
      ...this.shared,
      sessionCounts: allocateSessionCounts(this.#maxSessions),
      owned: allocateOwnedDescriptors(this.#maxDescriptors),
    };
  }

  /** Drops what a worker that has died had counted, and releases its locks. */
  clear(worker: number): void {
    this.gauges.clear(worker);
    this.ownPorts.clear(worker + 1);
    for (const table of this.#tables) table.release(worker + 1);
    // The handshakes that it had counted are not known apart from others': the table begins anew.
    this.#tables[0]?.clear();
  }
}
