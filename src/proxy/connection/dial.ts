// Connects to a destination with several addresses: RFC 8305 ("happy eyeballs") §4 and §5. Every attempt continues until one
// of them succeeds, so that a slow address is not given up for one that does not respond.
import type { Timer } from '../../core/time/timers.js';
import type { Attempt, Io, Stream } from '../io/io.js';
import type { ExitUse } from '../upstreams/exits.js';

/** How long an attempt runs alone before the next one starts beside it, in ms (RFC 8305 §5 recommends 250). */
const ATTEMPT_DELAY_MS = 250;
/** The errors to report first: an answer of the destination is more useful than "unreachable". */
const FAILURE_PRIORITY = ['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'];

export interface DialOptions {
  /** Permitted addresses in the order of the resolver; at least one. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** Where it leaves from; its families are those of `addresses`. Null: as the system chooses. */
  readonly exit?: ExitUse | null;
  /** For all attempts together, in ms. */
  readonly timeoutMs: number;
  /** How long an attempt runs alone, in ms; left out: ATTEMPT_DELAY_MS. */
  readonly attemptDelayMs?: number;
  readonly onConnected: (stream: Stream, address: string) => void;
  /** The most useful system error code of all attempts (see FAILURE_PRIORITY), such as ECONNREFUSED. */
  readonly onFailed: (code: string) => void;
}

/** Starts connecting. Neither callback is called before it returns, nor after `cancel`. */
export function dial(io: Pick<Io, 'connect' | 'timer'>, options: DialOptions): Attempt {
  return new Dial(io, options);
}

class Dial implements Attempt {
  readonly #addresses: readonly string[];
  readonly #attempts = new Set<Attempt>();
  readonly #failures: string[] = [];
  readonly #deadline: Timer;
  #stagger: Timer | null = null;
  #next = 0;

  constructor(
    private readonly io: Pick<Io, 'connect' | 'timer'>,
    private readonly options: DialOptions,
  ) {
    this.#addresses = interleaveFamilies(options.addresses, options.exit?.prefersIpv4);
    this.#deadline = io.timer(options.timeoutMs, () => this.#fail('ETIMEDOUT'));
    this.#startNext();
  }

  cancel(): void {
    this.#deadline.clear();
    this.#stagger?.clear();
    for (const attempt of this.#attempts) attempt.cancel();
    this.#attempts.clear();
  }

  #startNext(): void {
    this.#stagger?.clear();
    const address = this.#addresses[this.#next];
    if (address === undefined) return;
    this.#next += 1;
    const { exit } = this.options;
    const end = address.includes(':') ? exit?.ipv6 : exit?.ipv4;
    const attempt: Attempt = this.io.connect(
      { address, port: this.options.port },
      {
        onConnected: (stream) => {
          this.#attempts.delete(attempt);
          this.cancel();
          this.options.onConnected(stream, address);
        },
        onFailed: (code) => {
          this.#attempts.delete(attempt);
          this.#failures.push(code);
          if (this.#next < this.#addresses.length) this.#startNext();
          else if (this.#attempts.size === 0) this.#fail(mostUseful(this.#failures));
        },
      },
      end ?? undefined,
    );
    this.#attempts.add(attempt);
    if (this.#next < this.#addresses.length) {
      this.#stagger = this.io.timer(this.options.attemptDelayMs ?? ATTEMPT_DELAY_MS, () => this.#startNext());
    }
  }

  #fail(code: string): void {
    this.cancel();
    this.options.onFailed(code);
  }
}

/** Both families in turn, IPv6 first unless `prefersIpv4`, each in its given order (RFC 8305 §4). */
export function interleaveFamilies(addresses: readonly string[], prefersIpv4 = false): readonly string[] {
  if (addresses.length < 2) return addresses;
  const first = addresses.filter((address) => address.includes(':') !== prefersIpv4);
  const second = addresses.filter((address) => address.includes(':') === prefersIpv4);
  const length = Math.max(first.length, second.length);
  const rounds = Array.from({ length }, (_, i) => [first[i], second[i]]);
  return rounds.flat().filter((address) => address !== undefined);
}

function mostUseful(failures: readonly string[]): string {
  return FAILURE_PRIORITY.find((code) => failures.includes(code)) ?? failures[0] ?? 'UNKNOWN';
}
