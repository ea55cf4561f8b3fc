// What this daemon knows of each exit: bytes of its sessions since the start, connect times and failures of the last hour, and which
// of its ways out work.
import { parseIp } from '../addresses/ip.js';
import { addToCount, getOrAdd } from '../maps.js';
import type { Session, SessionObserver } from '../sessions/session.js';
import { type Clock, HOUR_MS, MINUTE_MS } from '../time/clock.js';
import { type Exit, type ExitState, waysOf } from './exit.js';

/** The newest connections of an exit that percentiles are computed from. */
const MAX_SAMPLES = 1_000;

interface Used {
  bytesUp: number;
  bytesDown: number;
  readonly samples: { readonly at: number; readonly ms: number }[];
  /** Where the next sample is written, once there are MAX_SAMPLES. */
  next: number;
  /** Failed connections by the minute; those of the last hour, and perhaps older ones. */
  readonly failures: Map<number, number>;
}

export class ExitFigures implements Partial<SessionObserver> {
  readonly #used = new Map<string, Used>();
  /** By the way; see waysOf. Those that have not been tried are missing. */
  readonly #isUp = new Map<string, boolean>();

  constructor(private readonly now: Clock) {}

  /** Connect times are in ms (null: none). An exit that nobody has used has zeros, and without a tried way no state. */
  of(exit: Exit) {
    const {
      bytesUp = 0,
      bytesDown = 0,
      samples = [],
      failures = new Map(),
    } = this.#used.get(exit.name) ?? {};
    const since = this.now() - HOUR_MS;
    const times = samples.flatMap(({ at, ms }) => (at < since ? [] : [ms])).sort((a, b) => a - b);
    const at = (share: number): number | null => times[Math.floor((times.length - 1) * share)] ?? null;
    for (const minute of failures.keys()) if (minute * MINUTE_MS <= since) failures.delete(minute);
    return {
      state: this.#stateOf(exit),
      failures: [...failures.values()].reduce((sum, count) => sum + count, 0),
      bytesUp,
      bytesDown,
      connectMs: { p50: at(0.5), p95: at(0.95) },
    };
  }

  /** Whether a way out works; null: it has not been tried. */
  isUp(way: string): boolean | null {
    return this.#isUp.get(way) ?? null;
  }

  /** Every way that has been tried. */
  get ways(): ReadonlyMap<string, boolean> {
    return this.#isUp;
  }

  /** Returns whether it is a change. */
  setUp(way: string, isUp: boolean): boolean {
    if (this.isUp(way) === isUp) return false;
    this.#isUp.set(way, isUp);
    return true;
  }

  /** So many connections have failed. */
  failed(exit: string, count: number): void {
    const { failures } = this.#of(exit);
    const minute = Math.floor(this.now() / MINUTE_MS);
    addToCount(failures, minute, count);
    const [first = minute] = failures.keys();
    if (first * MINUTE_MS <= this.now() - HOUR_MS) failures.delete(first);
  }

  /** Forgets exits and ways that are no more. */
  keepOnly(exits: readonly Exit[]): void {
    const kept = new Set([...exits.map(({ name }) => name), ...exits.flatMap(waysOf)]);
    for (const known of [this.#used, this.#isUp])
      for (const key of known.keys()) if (!kept.has(key)) known.delete(key);
  }

  opened({ exit, connectMs }: Session): void {
    if (exit === null || connectMs === null) return;
    const used = this.#of(exit);
    used.samples[used.next] = { at: this.now(), ms: connectMs };
    used.next = (used.next + 1) % MAX_SAMPLES;
  }

  passed(session: Session): void {
    this.opened(session);
  }

  traffic({ exit }: Session, bytesUp: number, bytesDown: number): void {
    if (exit === null) return;
    const used = this.#of(exit);
    used.bytesUp += bytesUp;
    used.bytesDown += bytesDown;
  }

  #stateOf(exit: Exit): ExitState | null {
    const found = waysOf(exit).map((way) => this.isUp(way));
    if (found.every((isUp) => isUp === null)) return null;
    if (!found.includes(false)) return 'up';
    return found.every((isUp) => isUp === false) ? 'down' : 'degraded';
  }

  #of(name: string): Used {
    const unused = () => ({ bytesUp: 0, bytesDown: 0, samples: [], next: 0, failures: new Map() });
    return getOrAdd(this.#used, name, unused);
  }
}

export interface ExitTrialRequest {
  readonly exit: string;
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
  /** What is sent. */
  readonly request: string;
}

export type ExitTrial =
  | {
      readonly ok: true;
      /** The local address of the connection, on this machine. */
      readonly local: string;
      readonly connectMs: number;
      /** The first address in the server's answer, the one that it sees; null: there is none in its first MAX_ANSWER_BYTES. */
      readonly seen: string | null;
    }
  /** `reason` as in the log: a system error code, or why a rule or a proxy refused. */
  | { readonly ok: false; readonly reason: string };

export const MAX_ANSWER_BYTES = 4096;

/** The first address in an HTTP answer's body; null: there is none. */
export function seenAddress(answer: string): string | null {
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return body.split(/[^0-9a-f:.]+/i).find((word) => word.length > 2 && parseIp(word) !== null) ?? null;
}
