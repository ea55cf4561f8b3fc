// Detects the game of a session by the operator's rules, from each destination and its first client bytes.

import type { GameRules, PayloadMatcher, PayloadVerdict } from '../../core/heartbeats/game-rules.js';
import { parseIp } from '../../core/ip.js';
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

/** Of one session. `onGame` is called with each GameID that a rule finds after `ask` has returned. */
export class GameWatch {
  readonly #onGame: (gameId: string) => void;
  /** Oldest first: at most one for a stream, one for each destination of an association. */
  #inspected: Inspected[] = [];

  constructor(onGame: (gameId: string) => void) {
    this.#onGame = onGame;
  }

  /**
   * Applies the rules to a destination. Returns the GameID of a fixed rule, an inspector for the first client bytes, or null.
   * When more than MAX_INSPECTED destinations wait for bytes, the oldest is decided as if it had ended.
   */
  ask(
    rules: GameRules,
    { host, address, port }: Destination,
    protocol: Protocol,
  ): { readonly gameId: string } | { readonly inspect: PayloadInspector } | null {
    const verdict = rules.start({ host, ip: parseIp(address), port, protocol });
    if (verdict === null || 'gameId' in verdict) return verdict;
    const [oldest] = this.#inspected;
    if (oldest && this.#inspected.length >= MAX_INSPECTED) this.#decide(oldest, oldest.matcher.end());
    const inspected: Inspected = { matcher: verdict.inspect, isFed: false };
    this.#inspected.push(inspected);
    return {
      inspect: (chunk) => {
        if (!this.#inspected.includes(inspected)) return false;
        inspected.isFed = true;
        return this.#decide(inspected, inspected.matcher.feed(chunk));
      },
    };
  }

  /** Accepts GameIDs at the end of the bytes so far when a flow is idle. Call it about once a second. */
  tick(): void {
    for (const inspected of [...this.#inspected]) {
      if (!inspected.isFed) this.#decide(inspected, inspected.matcher.settle());
      inspected.isFed = false;
    }
  }

  /** The session has ended: returns the GameID of a flow that still waited for bytes; null: none. */
  end(): string | null {
    let found: string | null = null;
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
    if (verdict !== 'done') this.#onGame(verdict.gameId);
    return false;
  }
}
