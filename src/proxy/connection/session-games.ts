// The GameIDs of one session: detected by the operator's rules, and reported at most once per interval.
import type { GameRules } from '../../core/heartbeats/game-rules.js';
import type { Destination, Protocol } from '../../core/sessions/session.js';
import { GameWatch, type PayloadInspector } from './game-watch.js';

export interface SessionGamesOptions {
  /** Minimum time between two reports, in ms. */
  readonly intervalMs: number;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

/** The session of the games. */
export interface GamesOwner {
  readonly gameId: string | null;
  gameChanged(gameId: string): void;
}

export class SessionGames {
  readonly #options: SessionGamesOptions;
  readonly #owner: GamesOwner;
  readonly #watch = new GameWatch((gameId) => this.#found(gameId));
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** Detected too soon after the last report: reported at the end of the interval. */
  #waiting: string | null = null;

  constructor(owner: GamesOwner, options: SessionGamesOptions) {
    this.#owner = owner;
    this.#options = options;
  }

  /**
   * Applies the rules to a destination.
   * @returns an inspector for the first client bytes; null: not needed; 'no-rule': no rule matches
   */
  ask(rules: GameRules, destination: Destination, protocol: Protocol): PayloadInspector | null | 'no-rule' {
    const verdict = this.#watch.ask(rules, destination, protocol);
    if (verdict === null) return 'no-rule';
    if ('inspect' in verdict) return verdict.inspect;
    this.#found(verdict.gameId);
    return null;
  }

  /** Call it about once a second. */
  tick(now: number): void {
    this.#watch.tick();
    if (this.#waiting !== null && now - this.#reportedAt >= this.#options.intervalMs)
      this.#report(this.#waiting);
  }

  /** The session has ended: returns the GameID that is not reported yet; null: none. */
  end(): string | null {
    return this.#watch.end() ?? this.#waiting;
  }

  #found(gameId: string): void {
    if (this.#options.now() - this.#reportedAt >= this.#options.intervalMs) return this.#report(gameId);
    this.#waiting = gameId === this.#owner.gameId ? null : gameId;
  }

  #report(gameId: string): void {
    this.#reportedAt = this.#options.now();
    this.#waiting = null;
    this.#owner.gameChanged(gameId);
  }
}
