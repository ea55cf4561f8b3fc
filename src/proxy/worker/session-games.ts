// The GameIDs of one session: detected by the operator's rules, from each destination and its first client bytes, and reported at
// most once per interval.
import { parseIp } from '../../core/addresses/ip.js';
import type { GameRules, PayloadMatcher, PayloadVerdict } from '../../core/heartbeats/game-rules.js';
import type { Destination, Protocol } from '../../core/sessions/session.js';

/** Destinations of one session whose first bytes may be under inspection at once; each holds up to `maxBytes` of its rule. */
const MAX_INSPECTED = 16;

/** Receives a flow's first client bytes, chunk by chunk, until it returns false. Neither changes nor keeps them. */
export type PayloadInspector = (chunk: Uint8Array) => boolean;

interface Inspected {
  readonly matcher: PayloadMatcher;
  /** Whether client bytes arrived since the last tick. */
  isFed: boolean;
}

export interface SessionGamesOptions {
  /** Minimum time between two reports, in ms. */
  readonly intervalMs: number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly onGame: (gameId: string) => void;
}

export class SessionGames {
  /** Oldest first: at most one for a stream, one for each destination of an association. */
  #inspected: Inspected[] = [];
  #reported: string | null = null;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** Detected too soon after the last report: reported at the end of the interval. */
  #waiting: string | null = null;

  constructor(private readonly options: SessionGamesOptions) {}

  /**
   * Applies the rules to a destination. When more than MAX_INSPECTED destinations wait for bytes, the oldest is decided as if it
   * had ended.
   * @returns an inspector for the first client bytes; null: not needed; 'no-rule': no rule matches
   */
  ask(
    rules: GameRules,
    { host, address, port }: Destination,
    protocol: Protocol,
  ): PayloadInspector | null | 'no-rule' {
    const verdict = rules.start({ host, ip: parseIp(address), port, protocol });
    if (verdict === null) return 'no-rule';
    if ('gameId' in verdict) {
      this.#found(verdict.gameId);
      return null;
    }
    const [oldest] = this.#inspected;
    if (oldest && this.#inspected.length >= MAX_INSPECTED) this.#decide(oldest, oldest.matcher.end());
    const inspected: Inspected = { matcher: verdict.inspect, isFed: false };
    this.#inspected.push(inspected);
    return (chunk) => {
      if (!this.#inspected.includes(inspected)) return false;
      inspected.isFed = true;
      return this.#decide(inspected, inspected.matcher.feed(chunk));
    };
  }

  /** Accepts GameIDs at the end of the bytes so far when a flow is idle. Call it about once a second. */
  tick(now: number): void {
    for (const inspected of [...this.#inspected]) {
      if (!inspected.isFed) this.#decide(inspected, inspected.matcher.settle());
      inspected.isFed = false;
    }
    if (this.#waiting !== null && now - this.#reportedAt >= this.options.intervalMs)
      this.#report(this.#waiting);
  }

  /** The last GameID, reported or not; null: none. */
  get last(): string | null {
    return this.#waiting ?? this.#reported;
  }

  /** The session has ended: returns the GameID that is not reported yet; null: none. */
  end(): string | null {
    let found = this.#waiting;
    for (const { matcher } of this.#inspected) {
      const verdict = matcher.end();
      if (verdict !== 'done') found = verdict.gameId;
    }
    this.#inspected = [];
    return found;
  }

  /** Acts on a verdict; true while the matcher wants more bytes. */
  #decide(inspected: Inspected, verdict: PayloadVerdict): boolean {
    if (verdict === 'more') return true;
    this.#inspected = this.#inspected.filter((each) => each !== inspected);
    if (verdict !== 'done') this.#found(verdict.gameId);
    return false;
  }

  #found(gameId: string): void {
    if (this.options.now() - this.#reportedAt >= this.options.intervalMs) return this.#report(gameId);
    this.#waiting = gameId === this.#reported ? null : gameId;
  }

  #report(gameId: string): void {
    this.#reported = gameId;
    this.#reportedAt = this.options.now();
    this.#waiting = null;
    this.options.onGame(gameId);
  }
}
