// Which game a session plays, by the operator's rules: asked about each destination, fed with its first client bytes.

import type { GameRules, PayloadMatcher, PayloadVerdict } from '../core/heartbeats/game-rules.js';
import { parseIp } from '../core/ip.js';
import type { Protocol } from '../core/sessions/session.js';
import type { Destination } from './destination.js';

/** Destinations of one session whose first bytes may be under inspection at once; each holds up to `maxBytes` of its rule. */
const MAX_INSPECTED = 16;

/** Sees a flow's first client bytes, chunk by chunk, until it returns false. Never alters or keeps them. */
export type PayloadInspector = (chunk: Uint8Array) => boolean;

interface Inspected {
  readonly matcher: PayloadMatcher;
  /** Whether client bytes came since the last tick. */
  isFed: boolean;
}

/** Of one session. `onGame` is called with each GameID that a rule finds after `ask` has returned. */
export class GameWatch {
  readonly #onGame: (gameId: string) => void;
  /** In the order they began: at most one for a stream, one a destination for an association. */
  #inspected: Inspected[] = [];

  constructor(onGame: (gameId: string) => void) {
    this.#onGame = onGame;
  }

  /**
   * Asks the rules about a destination: the GameID of a fixed rule, or what must see the first client bytes, or null.
   * Beyond MAX_INSPECTED that still wait for bytes, the one that has waited longest is decided as if it had ended.
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

  /** Settles GameIDs that wait for more bytes of a flow that is quiet. Meant to be called about once a second. */
  tick(): void {
    for (const inspected of [...this.#inspected]) {
      if (!inspected.isFed) this.#decide(inspected, inspected.matcher.settle());
      inspected.isFed = false;
    }
  }

  /** The session is over: the GameID of a flow that was still waited for; null: none. */
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
