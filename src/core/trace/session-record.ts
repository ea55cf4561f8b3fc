// What is kept of each session, to answer later who used a destination at a time: its account, client, way out and destination.
// Nothing of what it transferred. The database interface of these records.
import { type AddressRange, type Endpoint, formatIp, parseIp, sortable, unmap } from '../ip.js';
import type { Protocol } from '../sessions/session.js';

/** One connection, or one destination of an association. */
export interface SessionRecord {
  /** GUID of the session; the destinations of an association have the same. */
  readonly session: string;
  readonly accountId: string;
  /** At that time. Records remain when the account is removed. */
  readonly username: string;
  readonly node: string;
  readonly client: string;
  /** Our end as the destination sees it; address '' or port 0: unknown. */
  readonly outgoing: Endpoint;
  /** The name of the exit; null: none. */
  readonly exit: string | null;
  /** As the client asked for it; OTHER_DESTINATIONS: those of an association beyond the number that is recorded. */
  readonly host: string;
  /** '' when only the upstream proxy knows it. */
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** Null while it runs. */
  readonly endedAt: number | null;
  /** Of the whole association. Null: the daemon was killed, and `endedAt` is its next start. */
  readonly bytesUp: number | null;
  readonly bytesDown: number | null;
}

export const OTHER_DESTINATIONS = '*';

/** The end of a session whose record is written. */
export type SessionRecordEnd = Pick<SessionRecord, 'session'> & {
  readonly [Field in 'endedAt' | 'bytesUp' | 'bytesDown']: number;
};

/** Records that were dropped, because the database did not take them. */
export interface RecordGap {
  readonly node: string;
  readonly from: number;
  to: number;
  count: number;
}

export interface RecordBatch {
  readonly records: readonly SessionRecord[];
  readonly ends: readonly SessionRecordEnd[];
  readonly gap: RecordGap | null;
}

export interface TraceQuestion {
  /** A name in lower case, or addresses; null: any. */
  readonly destination: string | AddressRange | null;
  readonly port: number | null;
  readonly outgoing: { readonly address: string | null; readonly port: number | null };
  /** Sessions that ran at some time of this range, both ends inside. */
  readonly from: number;
  readonly to: number;
}

/** The order of answers: the last started first. */
export interface RecordPlace {
  readonly startedAt: number;
  readonly id: number;
}

/** What ran in the range of a question and cannot be compared with it. */
export interface Unmatched {
  /** Records that were dropped. */
  readonly dropped: number;
  /** Associations with more destinations than are recorded. */
  readonly otherDestinations: number;
  /** Sessions whose destination's address only the upstream proxy knows. */
  readonly unknownAddresses: number;
}

export interface SessionRecordStore {
  /** Writes a batch in one transaction. A batch with the number of an earlier one is already written. */
  write(batch: RecordBatch, number: number): Promise<void>;
  /** Ends the records that a killed process of this node has left open. */
  cutOff(node: string, at: number): Promise<void>;
  /** At most `limit`, after `place` in the order of answers. */
  search(
    question: TraceQuestion,
    place: RecordPlace | null,
    limit: number,
  ): Promise<(SessionRecord & RecordPlace)[]>;
  unmatched(question: TraceQuestion): Promise<Unmatched>;
  /** When the oldest record started; null: there is none. */
  oldest(): Promise<number | null>;
  /**
   * Deletes at most `limit` records of sessions that ended before `before`, or that nodes which are no more began before it; returns
   * their number.
   */
  trim(before: number, limit: number): Promise<number>;
}

/** The sortable text of an address; '' for other text. */
export function sortableAddress(text: string): string {
  const ip = parseIp(text);
  return ip === null ? '' : sortable(unmap(ip));
}

/** The address of a sortable one. */
export function addressOf(text: string): string {
  return text === '' ? '' : formatIp(Buffer.from(text.slice(1), 'hex'));
}
