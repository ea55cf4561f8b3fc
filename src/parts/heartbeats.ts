// What the log says of the heartbeat writer.
import type { WriterEvent } from '../core/heartbeats/heartbeat-writer.js';
import type { Log } from '../core/log.js';

/** Tells the operator what became of the heartbeats. */
export function reportWriter(log: Log, event: WriterEvent): void {
  switch (event.kind) {
    case 'write-failed':
      return log.error(
        { err: event.error, pending: event.pending },
        'heartbeats not written; kept and tried again',
      );
    case 'write-recovered':
      return log.info({ outageMs: event.outageMs }, 'heartbeats are written again');
    case 'entries-dropped':
      return log.warn(
        { entries: event.entries },
        'heartbeat entries given up: heartbeats.maxPending reached',
      );
    case 'trim-failed':
      return log.error({ err: event.error }, 'old heartbeats not removed; tried again');
    case 'entries-lost':
      return log.error(
        { err: event.error, entries: event.entries },
        'heartbeats lost: the database did not answer',
      );
  }
}
