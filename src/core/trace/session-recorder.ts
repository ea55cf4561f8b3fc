// Records sessions for traces: a record when a session opens, its end when it closes. They wait here until they are written with the
// heartbeat entries. A session that has ended meanwhile is written once.
import { getOrAdd } from '../maps.js';
import type { DatagramDestination, Session, SessionObserver, SessionSummary } from '../sessions/session.js';
import type { Clock } from '../time/clock.js';
import {
  OTHER_DESTINATIONS,
  type RecordBatch,
  type RecordGap,
  type SessionRecord,
  type SessionRecordEnd,
  type SessionRecordStore,
} from './session-record.js';

const BATCH_SIZE = 5_000;

type Waiting = { -readonly [Field in keyof SessionRecord]: SessionRecord[Field] };

export class SessionRecorder
  implements Pick<SessionObserver, 'opened' | 'resumed' | 'destinationChanged' | 'closed' | 'passed'>
{
  readonly #records: Waiting[] = [];
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #ends: SessionRecordEnd[] = [];
  readonly #destinations = new Map<string, Set<string>>();
  /** Live sessions with a record. */
  readonly #recorded = new Set<string>();
  #gap: RecordGap | null = null;
  /** Not yet confirmed as written; the next flush sends it again under the same number. */
  #batch: RecordBatch | null = null;
  #number = 0;

  constructor(
    private readonly options: {
      readonly store: Pick<SessionRecordStore, 'write'>;
      readonly isOn: () => boolean;
      readonly node: string;
      /** Most records that wait for the database; more are dropped and counted. */
      readonly maxPending: number;
      /** Most destinations of one association. */
      readonly maxDestinations: number;
      readonly now: Clock;
    },
  ) {}

  readonly opened = (session: Session): void => {
    if (session.protocol === 'udp') this.#destinations.set(session.id, new Set());
    else this.#add(session, destinationOf(session));
  };

  /** The process before this one has recorded it, if sessions are recorded. */
  readonly resumed = (session: Session, recorded: readonly DatagramDestination[]): void => {
    if (session.protocol === 'udp') this.#destinations.set(session.id, new Set(recorded.map(keyOf)));
    if (this.options.isOn()) this.#recorded.add(session.id);
  };

  readonly destinationChanged = (session: Session): void => {
    this.#addDestination(session, destinationOf(session), this.options.now());
  };

  /** Most sessions are short: such a record is complete at once, and nothing waits for its end. */
  readonly passed = (session: Session, summary: SessionSummary): void => {
    if (session.protocol === 'tcp') {
      const record = this.#record(session, destinationOf(session), session.openedAt);
      if (record !== null) finish(record, session, summary);
      return;
    }
    this.opened(session);
    this.closed(session, summary);
  };

  readonly closed = (session: Session, summary: SessionSummary): void => {
    // Those that were replaced in a long batch of events.
    for (const each of summary.destinations ?? []) this.#addDestination(session, each, session.openedAt);
    this.#destinations.delete(session.id);
    if (!this.#recorded.delete(session.id)) return;
    const waiting = this.#waiting.get(session.id);
    for (const record of waiting ?? []) finish(record, session, summary);
    if (waiting !== undefined && session.protocol === 'tcp') return;
    const { bytesUp, bytesDown, durationMs } = summary;
    this.#ends.push({ session: session.id, endedAt: session.openedAt + durationMs, bytesUp, bytesDown });
  };

  /** Writes what waits. Rejects with the error of the database, and keeps it then. One call at a time. */
  async flush(): Promise<void> {
    const waiting = Math.max(this.#records.length, this.#ends.length, this.#gap ? 1 : 0);
    // What is recorded meanwhile is left to the next flush.
    let batches = Math.ceil(waiting / BATCH_SIZE) + (this.#batch === null ? 0 : 1);
    for (; batches > 0; batches -= 1) {
      this.#batch ??= this.#take();
      await this.options.store.write(this.#batch, this.#number);
      this.#batch = null;
    }
  }

  #take(): RecordBatch {
    this.#number += 1;
    const records = this.#records.splice(0, BATCH_SIZE);
    // An association may have more records than one batch takes.
    for (const record of records)
      if (this.#waiting.get(record.session)?.at(-1) === record) this.#waiting.delete(record.session);
    const gap = this.#gap;
    this.#gap = null;
    return { records, ends: this.#ends.splice(0, BATCH_SIZE), gap };
  }

  #addDestination(session: Session, destination: DatagramDestination, startedAt: number): void {
    const known = this.#destinations.get(session.id);
    const key = keyOf(destination);
    if (known === undefined || known.has(key) || known.size > this.options.maxDestinations) return;
    known.add(key);
    if (known.size <= this.options.maxDestinations) return this.#add(session, destination, startedAt);
    const others = { host: OTHER_DESTINATIONS, address: '', port: 0, outgoing: null, via: null, exit: null };
    this.#add(session, others, startedAt);
  }

  #add(session: Session, destination: DatagramDestination, startedAt = session.openedAt): void {
    const record = this.#record(session, destination, startedAt);
    if (record === null) return;
    this.#recorded.add(session.id);
    getOrAdd(this.#waiting, session.id, () => []).push(record);
  }

  /** Null: sessions are not recorded, or too many records wait. */
  #record(
    session: Session,
    { host, address, port, outgoing, via, exit }: DatagramDestination,
    startedAt: number,
  ): Waiting | null {
    const { isOn, node, maxPending, now } = this.options;
    if (!isOn()) return null;
    if (this.#records.length >= maxPending) {
      this.#gap ??= { node, from: startedAt, to: 0, count: 0 };
      this.#gap.to = now();
      this.#gap.count += 1;
      return null;
    }
    const record: Waiting = {
      session: session.id,
      accountId: session.accountId,
      username: session.username,
      node,
      client: session.client.address,
      // Behind an upstream proxy, the destination sees an address of the proxy.
      outgoing: (via === null ? outgoing : null) ?? { address: '', port: 0 },
      exit,
      host,
      address,
      port,
      protocol: session.protocol,
      startedAt,
      connectMs: session.connectMs,
      endedAt: null,
      bytesUp: null,
      bytesDown: null,
    };
    this.#records.push(record);
    return record;
  }
}

function destinationOf({ destination, outgoing, via, exit }: Session): DatagramDestination {
  const { host, address, port } = destination;
  return { host, address, port, outgoing, via, exit };
}

function finish(record: Waiting, { openedAt }: Session, summary: SessionSummary): void {
  record.endedAt = openedAt + summary.durationMs;
  record.bytesUp = summary.bytesUp;
  record.bytesDown = summary.bytesDown;
}

function keyOf({ host, address, port }: DatagramDestination): string {
  return `${host} ${address} ${port}`;
}
