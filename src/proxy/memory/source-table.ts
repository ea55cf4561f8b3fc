// Counts by source that all workers share: a bounded table in shared memory. A source is an IPv4 address or an IPv6 /64
// (core/addresses/ip.ts), which fits into 64 bits, so that two sources never share a row.
import { parseIp, unmap } from '../../core/addresses/ip.js';

/** Number of rows in which a key can be stored; when all are in use, the least recently used one is replaced. */
const WAYS = 16;
/** In 32-bit words: three of the key, count, expiry of the count, flags, last use, and one unused. */
const ROW = 8;
const KEY = 0;
const NAME = 2;
const COUNT = 3;
const ENDS_AT = 4;
const FLAGS = 5;
const USED_AT = 6;
const LOCK = 0;
/** Incremented with each use, to find the least recently used row. */
const USES = 1;
const HEADER = 8;
const IPV4 = 1;
const IPV6 = 2;

/** A source, optionally with a name. */
export interface SourceKey {
  readonly high: number;
  readonly low: number;
  readonly name: number;
}

let lastAddress = '';
let lastBytes: Uint8Array | null = null;

/** Cache: the same address is looked up several times in a row. */
function bytesOf(address: string): Uint8Array | null {
  if (address === lastAddress) return lastBytes;
  const ip = parseIp(address);
  lastAddress = address;
  lastBytes = ip === null ? null : unmap(ip);
  return lastBytes;
}

/** The source of an address; null for what has none (a Unix socket). `name`: a hash that tells names of one source apart. */
export function sourceKey(address: string, name = 0): SourceKey | null {
  const bytes = bytesOf(address);
  if (bytes === null) return null;
  const word = (at: number): number =>
    ((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0);
  if (bytes.length === 4) return { high: 0, low: word(0), name: (name & ~3) | IPV4 };
  return { high: word(0), low: word(4), name: (name & ~3) | IPV6 };
}

/** The name under which a worker counts a source, so that the counts of a dead worker can be removed. */
export const sourceName = (worker: number): number => (worker + 1) << 2;

export function allocateSourceTable(rows: number): SharedArrayBuffer {
  const sets = Math.max(1, Math.ceil(rows / WAYS));
  return new SharedArrayBuffer((HEADER + sets * WAYS * ROW) * Int32Array.BYTES_PER_ELEMENT);
}

/** A row, valid only during the callback. Times are whole units of the caller's clock. */
export interface Row {
  count: number;
  endsAt: number;
  flags: number;
}

export class SourceTable {
  readonly #words: Int32Array;
  readonly #sets: number;
  readonly #thread: number;

  /** @param thread unique number of this thread, not 0 */
  constructor(memory: SharedArrayBuffer, thread: number) {
    this.#words = new Int32Array(memory);
    this.#sets = (this.#words.length - HEADER) / (WAYS * ROW);
    this.#thread = thread;
  }

  /** Changes the row of a key, created with zeros if missing; a row whose count is then 0 is freed. */
  update<Result>(key: SourceKey, change: (row: Row) => Result): Result {
    this.#acquire();
    try {
      const at = this.#find(key);
      const words = this.#words;
      const row = {
        count: words[at + COUNT] ?? 0,
        endsAt: words[at + ENDS_AT] ?? 0,
        flags: words[at + FLAGS] ?? 0,
      };
      const result = change(row);
      words[at + COUNT] = row.count;
      words[at + ENDS_AT] = row.endsAt;
      words[at + FLAGS] = row.flags;
      if (row.count <= 0) words.fill(0, at, at + ROW);
      return result;
    } finally {
      Atomics.store(this.#words, LOCK, 0);
    }
  }

  /** The count of a key; 0 when it is missing. */
  get(key: SourceKey): number {
    this.#acquire();
    try {
      const at = this.#rowOf(key);
      return at === -1 ? 0 : (this.#words[at + COUNT] ?? 0);
    } finally {
      Atomics.store(this.#words, LOCK, 0);
    }
  }

  removeNamed(name: number): void {
    this.#acquire();
    const words = this.#words;
    for (let at = HEADER; at < words.length; at += ROW)
      if (((words[at + NAME] ?? 0) & ~3) === name) words.fill(0, at, at + ROW);
    Atomics.store(words, LOCK, 0);
  }

  release(thread: number): void {
    Atomics.compareExchange(this.#words, LOCK, thread, 0);
  }

  clear(): void {
    this.#acquire();
    this.#words.fill(0, HEADER);
    Atomics.store(this.#words, LOCK, 0);
  }

  #acquire(): void {
    while (Atomics.compareExchange(this.#words, LOCK, 0, this.#thread) !== 0);
  }

  /** The first row of the set in which a key can be stored. */
  #setOf({ high, low, name }: SourceKey): number {
    const mixed = Math.imul(high ^ Math.imul(low, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(name, 0xc2b2ae35);
    return HEADER + (((mixed ^ (mixed >>> 15)) >>> 0) % this.#sets) * WAYS * ROW;
  }

  /** The row of a key; -1 when it is missing. */
  #rowOf(key: SourceKey): number {
    const words = this.#words;
    const first = this.#setOf(key);
    for (let at = first; at < first + WAYS * ROW; at += ROW) {
      if (words[at + KEY] === key.high && words[at + KEY + 1] === key.low && words[at + NAME] === key.name)
        return at;
    }
    return -1;
  }

  #find(key: SourceKey): number {
    const { high, low, name } = key;
    const words = this.#words;
    const use = ((words[USES] ?? 0) + 1) | 0;
    words[USES] = use;
    const known = this.#rowOf(key);
    if (known !== -1) {
      words[known + USED_AT] = use;
      return known;
    }
    const first = this.#setOf(key);
    let oldest = first;
    for (let at = first; at < first + WAYS * ROW; at += ROW) {
      // A free row is older than any.
      const isOlder =
        (words[at + COUNT] ?? 0) === 0 ||
        use - (words[at + USED_AT] ?? 0) > use - (words[oldest + USED_AT] ?? 0);
      if ((words[oldest + COUNT] ?? 0) !== 0 && isOlder) oldest = at;
    }
    words.fill(0, oldest, oldest + ROW);
    words[oldest + KEY] = high;
    words[oldest + KEY + 1] = low;
    words[oldest + NAME] = name;
    words[oldest + USED_AT] = use;
    return oldest;
  }
}
