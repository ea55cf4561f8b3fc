// What sessions have used of each exit since the start: bytes, and how long connections took in the last hour.
import type { Clock } from '../clock.js';
import type { Session, SessionObserver } from '../sessions/session.js';

const HOUR_MS = 3_600_000;
/** The newest connections of an exit that percentiles are computed from. */
const MAX_SAMPLES = 1_000;

interface Used {
  bytesUp: number;
  bytesDown: number;
  readonly samples: { readonly at: number; readonly ms: number }[];
  /** Where the next sample is written, once there are MAX_SAMPLES. */
  next: number;
}

export class ExitFigures implements Partial<SessionObserver> {
  readonly #now: Clock;
  readonly #used = new Map<string, Used>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Bytes of an exit, and its connect times of the last hour in ms (null: none); zeros for one that no session has used. */
  of(name: string) {
    const { bytesUp = 0, bytesDown = 0, samples = [] } = this.#used.get(name) ?? {};
    const since = this.#now() - HOUR_MS;
    const times = samples.flatMap(({ at, ms }) => (at < since ? [] : [ms])).sort((a, b) => a - b);
    const at = (share: number): number | null => times[Math.floor((times.length - 1) * share)] ?? null;
    return { bytesUp, bytesDown, connectMs: { p50: at(0.5), p95: at(0.95) } };
  }

  /** Forgets exits that are no more. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#used.keys()) if (!names.has(name)) this.#used.delete(name);
  }

  opened({ exit, connectMs }: Session): void {
    if (exit === null || connectMs === null) return;
    const used = this.#of(exit);
    used.samples[used.next] = { at: this.#now(), ms: connectMs };
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

  #of(name: string): Used {
    const known = this.#used.get(name) ?? { bytesUp: 0, bytesDown: 0, samples: [], next: 0 };
    this.#used.set(name, known);
    return known;
  }
}
