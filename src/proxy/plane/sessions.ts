// A worker's session in the control plane: its properties, and its byte counts in shared memory. Its worker imports it: SessionWorker
// is what it uses of that.
import { createTimedId } from '../../core/ids.js';
import type { Session, SessionEnd, SessionSummary } from '../../core/sessions/session.js';
import type { CapturedSession, HandedSession } from '../handover/state.js';
import { intern } from '../interned-strings.js';
import type { SessionCounts } from '../memory/session-counts.js';
import type { SessionFacts } from '../messages.js';

export interface SessionWorker {
  readonly counts: SessionCounts;
  endSession(session: PlaneSession, reason: SessionEnd): void;
  /** More bytes of the session have been counted. */
  counted(session: PlaneSession, bytes: number): void;
}

/** What is one and the same string for all sessions of an account. */
export type SessionAccount = Pick<SessionFacts, 'accountId' | 'username'>;

export class PlaneSession implements Session {
  readonly id: string;
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
  exit: string | null;
  outgoing: SessionFacts['outgoing'];
  readonly connectMs: number | null;
  readonly #worker: SessionWorker;
  readonly #openedMs: number;
  bytesUp = 0;
  bytesDown = 0;
  unrecorded: Session['unrecorded'];
  #final: SessionSummary | null = null;

  /** @param handed what another process has handed over of it; null: it is new */
  constructor(
    facts: SessionFacts,
    account: SessionAccount,
    worker: SessionWorker,
    handed: HandedSession | null = null,
  ) {
    this.id = handed?.id ?? createTimedId(facts.openedAt);
    this.#openedMs = Math.round(performance.now() - (handed?.ageMs ?? 0));
    this.bytesUp = handed?.bytesUp ?? 0;
    this.bytesDown = handed?.bytesDown ?? 0;
    this.unrecorded = handed?.unrecorded;
    this.accountId = account.accountId;
    this.username = account.username;
    this.command = facts.command;
    this.clientProtocol = facts.clientProtocol;
    this.client = { address: intern(facts.client.address), port: facts.client.port };
    this.openedAt = facts.openedAt;
    this.slot = facts.slot;
    this.generation = facts.generation;
    const { host, address, port } = facts.destination;
    this.destination = { host: intern(host), address: intern(address), port };
    this.gameId = facts.gameId;
    this.via = facts.via;
    this.exit = facts.exit;
    const { outgoing } = facts;
    this.outgoing = outgoing && { address: intern(outgoing.address), port: outgoing.port };
    this.connectMs = facts.connectMs;
    this.#worker = worker;
  }

  end(reason: SessionEnd): void {
    this.#worker.endSession(this, reason);
  }

  get protocol(): 'tcp' | 'udp' {
    return this.command === 'udp-associate' ? 'udp' : 'tcp';
  }

  count(): boolean {
    const { bytes, generations } = this.#worker.counts;
    // Another session may already have the slot and its counts.
    const isLive = this.#final === null && generations[this.slot] === this.generation;
    const up = isLive ? bytes[2 * this.slot] : this.#final?.bytesUp;
    const down = isLive ? bytes[2 * this.slot + 1] : this.#final?.bytesDown;
    if (up === undefined || down === undefined) return false;
    if (up === this.bytesUp && down === this.bytesDown) return false;
    const more = up - this.bytesUp + (down - this.bytesDown);
    this.bytesUp = up;
    this.bytesDown = down;
    this.#worker.counted(this, more);
    return true;
  }

  /** For another process. @param captured what its worker knows */
  handOver({ isByAddress, linkHash, ageMs, gameId }: Omit<CapturedSession, 'slot'>): HandedSession {
    const { id, accountId, username, command, clientProtocol, client, openedAt } = this;
    const { via, exit, outgoing, connectMs, bytesUp, bytesDown, unrecorded } = this;
    const { host, address, port } = this.destination;
    const destination = { host, address, port };
    const session = { id, accountId, username, command, clientProtocol, client, openedAt, destination };
    const counts = { bytesUp, bytesDown, unrecorded };
    const rest = { via, exit, outgoing, connectMs, gameId, isByAddress, linkHash, ageMs };
    return Object.assign(session, counts, rest);
  }

  /** Marks the counts as final; the next `count` reads them. */
  close(summary: SessionSummary): void {
    this.#final = summary;
  }

  /** Time since its request, in ms. */
  get ageMs(): number {
    return Math.round(performance.now() - this.#openedMs);
  }

  /** The summary of a session whose worker has died. */
  summary(end: SessionEnd): SessionSummary {
    const { bytes, generations } = this.#worker.counts;
    const isReadable = generations[this.slot] === this.generation;
    return {
      bytesUp: (isReadable ? bytes[2 * this.slot] : undefined) ?? this.bytesUp,
      bytesDown: (isReadable ? bytes[2 * this.slot + 1] : undefined) ?? this.bytesDown,
      end,
      durationMs: this.ageMs,
      gameId: this.gameId,
    };
  }
}
