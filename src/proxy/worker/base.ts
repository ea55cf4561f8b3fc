// What every part of a worker uses: its engine, settings and counts, its events and log, and the way to the other workers.
import type { Question } from '../dns/messages.js';
import type { Io } from '../io/io.js';
import { viewGauges } from '../memory/shared.js';
import type { PassedConnection, WorkerEvent, WorkerMessage, WorkerStart } from '../messages.js';
import { createEventLog, Events } from './events.js';

/** What thread.ts gives a worker. */
export interface WorkerDeps {
  readonly io: Io;
  readonly start: WorkerStart;
  /** Sends events to the control plane. */
  readonly post: (events: readonly WorkerEvent[]) => void;
  /** Sends a lookup to the resolver's thread. */
  readonly ask: (question: Question) => void;
  /** Sends a message to another worker, if it is alive. */
  readonly sendToPeer: (worker: number, message: WorkerMessage) => void;
  /** Passes a connection to another worker; false when that worker is dead: the caller still owns the descriptor. */
  readonly passConnection: (worker: number, connection: PassedConnection) => boolean;
  /** Reads pending messages of the control plane. */
  readonly readMessages: () => void;
  /** Called when events wait for `events.flush`. */
  readonly onEventsWaiting: () => void;
  /** Ends the loop. */
  readonly stop: () => void;
}

export type WorkerBase = ReturnType<typeof createBase>;

export function createBase({ io, start, post, onEventsWaiting, ...deps }: WorkerDeps) {
  const { settings, shared, index, workers } = start;
  const gauges = viewGauges(shared.gauges);
  const events = new Events({
    post,
    setWaiting(isWaiting) {
      gauges.setSign(index, 'eventsWaiting', isWaiting ? 1 : 0);
      if (isWaiting) onEventsWaiting();
    },
    batchesRead: () => gauges.getSign(index, 'batchesRead'),
    now: () => io.now(),
    date: Date.now,
  });
  return { ...deps, io, settings, index, workers, gauges, events, log: createEventLog(events) };
}
