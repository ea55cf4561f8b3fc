// What is kept of each session, to answer later who used a destination at a time: its account, client, way out and destination.
// Nothing of what it transferred. The database interface of these records.
import type { AddressRange, Endpoint } from '../addresses/ip.js';
import { formatIp, normalizeAddress, parseIp, sortable, unmap } from '../addresses/ip.js';
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
  readonly exit: string | null;
  /** As the client asked for it; OTHER_DESTINATIONS: those of an association beyond the number that is recorded. */
  readonly host: string;
  /** '' when only the upstream proxy knows it. */
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** See Session. */
  readonly connectMs: number | null;
  /** Null while it runs. */
  readonly endedAt: number | null;
  /** Of the whole association. Null: the daemon was killed, and `endedAt` is its next start. */
  readonly bytesUp: number | null;
  readonly bytesDown: number | null;
}

export const OTHER_DESTINATIONS = '*';

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

/** What a heartbeat entry has of its session. */
export interface SessionEntry {
  readonly sessionId: string;
  /** `host:port` as requested by the client. */
  readonly destination: string;
  readonly protocol: Protocol;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The order of answers: the last started first. */
export interface RecordPlace {
  readonly startedAt: number;
  readonly id: number;
}

/** What ran in the range of a question and cannot be compared with it. */
export interface Unmatched {
  readonly dropped: number;
  /** Associations with more destinations than are recorded. */
  readonly otherDestinations: number;
  /** Sessions whose destination's address only the upstream proxy knows. */
  readonly unknownAddresses: number;
}

export interface SessionRecordStore {
  /** Writes a batch in one transaction. A batch with the number of an earlier one is already written. */
  write(batch: RecordBatch, number: number): Promise<void>;
  /** Ends the records that a killed process of this node has left open. @param resumed the sessions that continue */
  cutOff(node: string, at: number, resumed: readonly string[]): Promise<void>;
  /** At most `limit`, after `place` in the order of answers. */
  search(
    question: TraceQuestion,
    place: RecordPlace | null,
    limit: number,
  ): Promise<(SessionRecord & RecordPlace)[]>;
  unmatched(question: TraceQuestion): Promise<Unmatched>;
  /** The record of each entry, in their order; undefined: there is none. Ended sessions are found by the time in their id. */
  ofEntries(entries: readonly SessionEntry[]): Promise<(SessionRecord | undefined)[]>;
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
export const addressOf = (text: string): string =>
  text === '' ? '' : formatIp(Buffer.from(text.slice(1), 'hex'));

/** What the words in front of an address or a port say; null: nothing clear. */
type Role = 'outgoing' | 'destination' | null;

interface Report {
  /** An address, a port, or both together. */
  readonly ends: readonly {
    readonly address: string | null;
    readonly port: number | null;
    readonly role: Role;
  }[];
  readonly times: readonly {
    /** As written. */
    readonly text: string;
    /** `2026-11-19T03:21:41`. Where the text has no year, it is the last one in which the time is past. */
    readonly local: string;
    /** `+01:00`; null where the text names no zone, or one that has several meanings. */
    readonly offset: string | null;
  }[];
}

/** Most entries of each kind: reports repeat themselves in hundreds of lines. */
const MAX_FOUND = 20;

/** An address, and a port behind a colon, a space or the word. */
const ADDRESS =
  /(?<![\w.:-])\[?(?<address>\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)|(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?![\w:]))\]?(?:(?::|,?[ \t]+port[ \t]+|[ \t]+|["']?,["']?)(?<port>\d{1,5})(?![\w.:/-]))?/gi;
/** `Source-Port: 1234`, `source port 1234`, `DPT=25`, `"dst_port": 25`, `<Port>25</Port>`. */
const PORT =
  /(?<![\da-z])(?<word>(?:src|source|dst|dest|destination|target)[-_ ]?port|[sd]pt|port|(?:源|目标|目的)?端口)(?:["']?[ \t]*[:=>：][ \t]*["']?|[ \t]+)(?<port>\d{1,5})(?!\w|\.\d)/gi;
const OUTGOING = /(?<![a-z])(?:src|spt|source|from|offend|attack(?:er|ing)|abus|ban|infected|your|源|您)/gi;
const DESTINATION =
  /(?<![a-z])(?:dst|dpt|dest|target|victim|to(?![a-z])|attacked|against|our(?![a-z])|目标|目的)|[=-]>/gi;

const HEADING = /^\s*["']?[a-z]\w*(?:[ .-]\w+){0,2}["']?\s*$/i;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = `(?<month>${MONTHS.join('|')})[a-z]*`;
const CLOCK = '(?<clock>\\d\\d:\\d\\d(?::\\d\\d)?)(?![:\\d])(?:[.,]\\d+)?(?! *[ap]\\.?m\\b)';
const GAP = '(?:[ T,:]|at |um )+';
/** Also `UTC+1` and `(GMT +01:00)`; where a sign follows a name otherwise, there is no zone. */
const ZONE =
  '(?:(?: *Uhr\\b)? *(?<zone>Z|[+-]\\d\\d:?\\d\\d|(?<=\\d)[+-]\\d\\d|\\(?(?:UTC|GMT) ?[+-]\\d{1,2}(?::?\\d\\d)?\\)?|\\(?[A-Z]{3,4}\\)?|[(（]?北京时间)(?! ?[+-]\\d|[\\w:+-]))?';
/** ISO 8601 and its relatives; RFC 5322 §3.3 and access logs; ctime; syslog; days and months in the order of a country; sentences. */
const TIMES = [
  `(?<year>\\d{4})[-./年](?<month>\\d\\d?)[-./月](?<day>\\d\\d?)(?:[T ]+|日 ?)${CLOCK}${ZONE}`,
  `(?<day>\\d{1,2})[ /-]${MONTH}[ /-](?<year>\\d{4})${GAP}${CLOCK}${ZONE}`,
  `${MONTH} +(?<day>\\d{1,2})(?:st|nd|rd|th)?,? +(?<year>\\d{4})${GAP}${CLOCK}${ZONE}`,
  `${MONTH} +(?<day>\\d{1,2}) +${CLOCK} +(?<zone>[A-Z]{3,4}) +(?<year>\\d{4})`,
  `${MONTH} +(?<day>\\d{1,2}) +${CLOCK} +(?<year>\\d{4})${ZONE}`,
  `${MONTH} +(?<day>\\d{1,2}) +${CLOCK}(?! +(?:[A-Z]{3,4} +)?\\d{4})${ZONE}`,
  `(?<day>\\d{1,2})[./-](?<month>\\d{1,2})[./-](?<year>\\d{4})${GAP}${CLOCK}${ZONE}`,
  `(?<month>\\d{1,2})[/-](?<day>\\d{1,2})[/-](?<year>\\d{4})${GAP}${CLOCK}${ZONE}`,
].map((pattern) => new RegExp(`(?<![\\w])${pattern}`, 'gi'));
/** Seconds or milliseconds since the Unix epoch. */
const EPOCH = /(?<![\w.-])(?<seconds>\d{10})(?:\d{3}|\.\d+)?(?![\w:/-])/g;
/** Older ones are not times: a long number may be that of a ticket. */
const OLDEST_EPOCH_MS = 3 * 366 * 86_400_000;
/** Hours of the abbreviations with one meaning: CST, IST and others have several. */
const ZONES: Readonly<Record<string, string>> = Object.fromEntries(
  'Z+00 UTC+00 GMT+00 CET+01 CEST+02 MEZ+01 MESZ+02 北京时间+08 EET+02 EEST+03 MSK+03 JST+09 EST-05 EDT-04 MDT-06 PDT-07 PST-08'
    .split(' ')
    .map((zone) => [zone.slice(0, -3), zone.slice(-3)]),
);

const MAX_OFFSET_HOURS = 14;

/** @param now for times without a year, in ms since the epoch */
export function readReport(text: string, now: number): Report {
  const lines = text.split(/\r?\n/);
  const timesOf = (line: string): Report['times'] =>
    [...TIMES, EPOCH].flatMap((form) => [...line.matchAll(form)].flatMap((found) => timeOf(found, now)));
  return { ends: distinct(withHeadings(lines).flatMap(endsOf)), times: distinct(lines.flatMap(timesOf)) };
}

/** Puts the heading of its column before each cell of a table, whose first line says which address and port is whose. */
function withHeadings(lines: readonly string[]): string[] {
  let headings: readonly string[] = [];
  return lines.map((line) => {
    const cells = line.split(/[,;|\t]/);
    if (cells.length > 2 && cells.every((cell) => HEADING.test(cell)))
      headings = cells.map((cell) => cell.replace(/["']/g, ''));
    else if (cells.length === headings.length)
      return cells.map((cell, column) => `${headings[column]}: ${cell}`).join(', ');
    return line;
  });
}

const distinct = <Item>(items: readonly Item[]): Item[] =>
  [...new Map(items.map((each) => [JSON.stringify(each), each])).values()].slice(0, MAX_FOUND);

function endsOf(line: string): Report['ends'][number][] {
  const found = [...line.matchAll(ADDRESS), ...line.matchAll(PORT)].sort(
    (one, other) => one.index - other.index,
  );
  let end = 0;
  return found.flatMap(({ index, 0: { length }, groups = {} }) => {
    if (index < end) return [];
    const { address = null, port, word = '' } = groups;
    const number = Number(port);
    const before = line.slice(end, index) + word;
    end = index + length;
    if (address !== null && parseIp(address) === null) return [];
    const [destination, outgoing] = [DESTINATION, OUTGOING].map(
      (words) => [...before.matchAll(words)].at(-1)?.index ?? -1,
    );
    const role =
      destination === outgoing ? null : Number(destination) > Number(outgoing) ? 'destination' : 'outgoing';
    const isPort = number > 0 && number < 65_536;
    if (address === null && !isPort) return [];
    return [{ address: address && normalizeAddress(address), port: isPort ? number : null, role }];
  });
}

function timeOf({ 0: text, groups = {} }: RegExpExecArray, now: number): Report['times'] {
  const { year, month = '', day = '', clock = '', zone = '', seconds } = groups;
  const name = MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const localIn = (given: number | string): string =>
    `${given}-${String(name || month).padStart(2, '0')}-${day.padStart(2, '0')}T${clock.padEnd(8, ':00')}`;
  if (seconds !== undefined) {
    const at = 1_000 * Number(seconds);
    if (at < now - OLDEST_EPOCH_MS || at > now + 86_400_000) return [];
    return [{ text, local: new Date(at).toISOString().slice(0, 19), offset: '+00:00' }];
  }
  const thisYear = new Date(now).getUTCFullYear();
  // A day ahead may be today in another zone.
  const isPast = Date.parse(`${localIn(thisYear)}Z`) <= now + 86_400_000;
  const local = localIn(year ?? (isPast ? thisYear : thisYear - 1));
  const at = Date.parse(`${local}Z`);
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(local)) return [];
  return [{ text, local, offset: offsetOf(zone.replace(/[()（]/g, '').toUpperCase()) }];
}

/** Returns `+01:00`; null for a zone without one meaning. */
function offsetOf(zone: string): string | null {
  const [, sign, hours = '', minutes = '00'] = /([+-])(\d{1,2}?)(?::?(\d\d))?$/.exec(zone) ?? [];
  if (sign === undefined) return ZONES[zone] ? `${ZONES[zone]}:00` : null;
  return Number(hours) <= MAX_OFFSET_HOURS ? `${sign}${hours.padStart(2, '0')}:${minutes}` : null;
}
