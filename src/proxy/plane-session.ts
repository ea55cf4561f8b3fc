// A worker's session as the control plane holds it: its facts, and its byte counts as they stand in shared memory.
import type { SessionFacts, SessionSummary } from './messages.js';
import type { RemoteSession } from './observer.js';
import type { SessionEnd } from './session.js';
import type { SessionCounts } from './session-counts.js';

export class PlaneSession implements RemoteSession {
  readonly id: string;
  readonly accountId: string;
  readonly username: string;
  readonly command: SessionFacts['command'];
  readonly clientProtocol: SessionFacts['clientProtocol'];
  readonly client: SessionFacts['client'];
  readonly openedAt: number;
  readonly slot: number;
  readonly generation: number;
  readonly end: (reason: SessionEnd) => void;
  destination: SessionFacts['destination'];
  gameId: string | null;
  via: string | null;
  readonly #counts: SessionCounts;
  readonly #openedMs = performance.now();
  #up = 0;
  #down = 0;
  #isOver = false;

  constructor(facts: SessionFacts, counts: SessionCounts, end: (reason: SessionEnd) => void) {
    this.id = facts.id;
    this.accountId = facts.accountId;
    this.username = facts.username;
    this.command = facts.command;
    this.clientProtocol = facts.clientProtocol;
    this.client = facts.client;
    this.openedAt = facts.openedAt;
    this.slot = facts.slot;
    this.generation = facts.generation;
    this.destination = facts.destination;
    this.gameId = facts.gameId;
    this.via = facts.via;
    this.#counts = counts;
    this.end = end;
  }

  get protocol(): 'tcp' | 'udp' {
    return this.command === 'udp-associate' ? 'udp' : 'tcp';
  }

  bytesUp(): number {
    this.#look();
    return this.#up;
  }

  bytesDown(): number {
    this.#look();
    return this.#down;
  }

  close({ bytesUp, bytesDown }: SessionSummary): void {
    this.#isOver = true;
    this.#up = bytesUp;
    this.#down = bytesDown;
  }

  /** What can be said of it when its worker has died, which says no more. */
  summary(end: SessionEnd): SessionSummary {
    return {
      bytesUp: this.bytesUp(),
      bytesDown: this.bytesDown(),
      end,
      durationMs: Math.round(performance.now() - this.#openedMs),
      gameId: this.gameId,
    };
  }

  /** The slot may be another session's already, whose numbers are not ours. */
  #look(): void {
    const { bytes, generations } = this.#counts;
    if (this.#isOver || generations[this.slot] !== this.generation) return;
    this.#up = bytes[2 * this.slot] ?? 0;
    this.#down = bytes[2 * this.slot + 1] ?? 0;
  }
}
