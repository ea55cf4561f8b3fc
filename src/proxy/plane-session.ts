// A worker's session as the control plane holds it: its facts, and its byte counts as they stand in shared memory.
import { randomUUID } from 'node:crypto';
import type { SessionFacts, SessionSummary } from './messages.js';
import type { RemoteSession } from './observer.js';
import type { SessionEnd } from './session.js';
import type { SessionCounts } from './session-counts.js';

/** The worker of a session, as the main thread has it. */
export interface SessionOwner {
  readonly counts: SessionCounts;
  endSession(session: PlaneSession, reason: SessionEnd): void;
}

/** What is one and the same string for all sessions of an account. */
export type SessionAccount = Pick<SessionFacts, 'accountId' | 'username'>;

export class PlaneSession implements RemoteSession {
  readonly id = randomUUID();
  readonly accountId: string;
  readonly username: string;
  readonly command: SessionFacts['command'];
  readonly clientProtocol: SessionFacts['clientProtocol'];
  readonly client: SessionFacts['client'];
  readonly openedAt: number;
  readonly slot: number;
  readonly generation: number;
  destination: SessionFacts['destination'];
  gameId: string | null;
  via: string | null;
  readonly #owner: SessionOwner;
  readonly #openedMs = Math.round(performance.now());
  /** The last counts that were seen: final once it is over. */
  #up = 0;
  #down = 0;
  #isOver = false;

  constructor(facts: SessionFacts, account: SessionAccount, owner: SessionOwner) {
    this.accountId = account.accountId;
    this.username = account.username;
    this.command = facts.command;
    this.clientProtocol = facts.clientProtocol;
    this.client = facts.client;
    this.openedAt = facts.openedAt;
    this.slot = facts.slot;
    this.generation = facts.generation;
    this.destination = facts.destination;
    this.gameId = facts.gameId;
    this.via = facts.via;
    this.#owner = owner;
  }

  end(reason: SessionEnd): void {
    this.#owner.endSession(this, reason);
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
    const { bytes, generations } = this.#owner.counts;
    if (this.#isOver || generations[this.slot] !== this.generation) return;
    this.#up = bytes[2 * this.slot] ?? 0;
    this.#down = bytes[2 * this.slot + 1] ?? 0;
  }
}
