// One worker, in the main thread: its thread and its port, its live sessions, and its pending requests.
import type { MessagePort, TransferListItem, Worker } from 'node:worker_threads';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { SessionPermits } from '../../core/accounts/access/session-permits.js';
import type { Penalty } from '../../core/auth/penalties.js';
import type { Log } from '../../core/log.js';
import type {
  DatagramDestination,
  SessionEnd,
  SessionEvents,
  SessionSummary,
} from '../../core/sessions/session.js';
import type { SessionRegistry } from '../../core/sessions/session-registry.js';
import type { HandedSession } from '../handover/state.js';
import type { SharedMemory } from '../memory/memory.js';
import { type SessionCounts, viewSessionCounts } from '../memory/session-counts.js';
import { type Gauges, wake } from '../memory/shared.js';
import type { LoginsEvent, SecureRequest, SessionFacts, WorkerEvent, WorkerStart } from '../messages.js';
import { type PackedEvent, unpackEvent } from '../packed-events.js';
import type { ThreadMessage } from '../worker/thread.js';
import { PlanePermits } from './permits.js';
import { PlaneSession, type SessionAccount, type SessionWorker } from './sessions.js';
import { startThread } from './threads.js';

/** What the data plane reports to the control plane, in order. */
export interface ProxyObserver {
  readonly sessions: SessionEvents & Pick<SessionRegistry, 'resumed' | 'handingOver'>;
  logins(event: LoginsEvent): void;
  guarded(event: Extract<WorkerEvent, { kind: 'guard' }>): void;
  /** Counts sessions over all nodes, of accounts that need it; null: there are no other nodes. */
  readonly permits: Pick<SessionPermits, 'acquire' | 'hold'> | null;
  /** Logins of a source are refused from now on. */
  penalty(penalty: Penalty): void;
  /** See WorkerExits. */
  readonly exits: {
    wayChanged(way: string, isUp: boolean, reason: string): void;
    failed(exit: string, count: number): void;
  };
  /** An imported hash was right: `salted` is to be stored in its place, unless it is no longer `before`. */
  rehashed(accountId: string, before: string, salted: string): void;
}

/** Events that only the data plane itself needs. */
const UNHELD: ReadonlySet<WorkerEvent['kind']> = new Set([
  'started',
  'listening',
  'listen-failed',
  'synced',
  'outbound',
  'captured',
  'exit-tried',
  'secure',
  'resolver-wanted',
  'log',
  'dropped',
]);

type WorkerRequest = Extract<ThreadMessage, { kind: 'listen' } | { token: number }>;
export type ListenEvent = Extract<WorkerEvent, { kind: 'listening' | 'listen-failed' }>;

interface PlaneWorkerOptions {
  readonly start: WorkerStart;
  readonly threadUrl: URL;
  readonly gauges: Gauges;
  readonly observer: ProxyObserver;
  readonly log: Log;
  /** The thread is ready to receive accounts and listeners. */
  readonly onStarted: (worker: PlaneWorker) => void;
  /** It has opened a listener that it was sent after its start, or could not open it. */
  readonly onListened: (worker: PlaneWorker, event: ListenEvent) => void;
  readonly onSecure: (request: SecureRequest) => void;
  readonly onResolverWanted: () => void;
  readonly onExit: (worker: PlaneWorker) => void;
  /** False: events wait for `report`. */
  readonly isReporting: () => boolean;
  /** More bytes of a session of this worker have been counted. */
  readonly onCounted: (session: PlaneSession, bytes: number) => void;
  /** Returns the strings of an account that the main thread keeps anyway, to replace the copies that came with a message. */
  readonly accountOf: (facts: SessionAccount) => SessionAccount;
}

export class PlaneWorker implements SessionWorker {
  readonly index: number;
  readonly engine: 'native' | 'node';
  readonly shared: SharedMemory;
  readonly thread: Worker;
  /** Resolves when the thread has ended. */
  readonly exited: Promise<void>;
  readonly #port: MessagePort;
  readonly counts: SessionCounts;
  /** By slot. */
  readonly #sessions: (PlaneSession | undefined)[] = [];
  /** Callbacks of pending requests, by token; null: the worker died before it answered. */
  readonly #waiting = new Map<number, (event: WorkerEvent | null) => void>();
  readonly #permits: PlanePermits;
  /** See ProxyPlane.report. */
  readonly #unreported: WorkerEvent[] = [];
  /** Resumed sessions of which it will report the end. */
  readonly #lost: [PlaneSession, SessionSummary][] = [];
  #wakeFd = -1;
  #isStarted = false;
  #isOver = false;
  /** The thread has been asked to end. */
  isStopping = false;

  constructor(private readonly options: PlaneWorkerOptions) {
    const { start, threadUrl, log } = options;
    this.index = start.index;
    this.engine = start.engine;
    this.shared = start.shared;
    this.#permits = new PlanePermits(
      () => options.observer.permits,
      (message) => this.send(message),
    );
    this.counts = viewSessionCounts(start.shared.sessionCounts);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.thread = startThread(threadUrl, { start, port: port2 });
    this.exited = new Promise((resolve) => this.thread.once('exit', () => resolve()));
    port1.on('message', (events: readonly PackedEvent[]) => this.#takeAll(events));
    this.thread.on('error', (error) => log.error({ err: error, worker: start.index }, 'proxy worker failed'));
    this.thread.on('exit', () => options.onExit(this));
  }

  /** The eventfd that others write to after they have sent a message; -1: not needed. */
  get wakeFd(): number {
    return this.#wakeFd;
  }

  /** It has received accounts and listeners, and serves. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Its thread has ended: it receives no messages. */
  get isOver(): boolean {
    return this.#isOver;
  }

  send(message: ThreadMessage, transfer: readonly TransferListItem[] = []): void {
    if (this.#isOver) return;
    this.#port.postMessage(message, transfer);
    this.options.gauges.addSign(this.index, 'messages', 1);
    wake(this.#wakeFd);
  }

  /** Resolves with the answer to a request; null when the worker is dead or dies before it answers. */
  ask(message: WorkerRequest): Promise<WorkerEvent | null> {
    return new Promise((resolve) => {
      if (this.#isOver) return resolve(null);
      this.#waiting.set(message.kind === 'listen' ? message.listener.id : message.token, resolve);
      this.send(message);
    });
  }

  endSession({ slot, generation }: PlaneSession, reason: SessionEnd): void {
    this.send({ kind: 'end-session', slot, generation, reason });
  }

  counted(session: PlaneSession, bytes: number): void {
    this.options.onCounted(session, bytes);
  }

  /** Processes all events that have been sent so far. */
  readAll(): void {
    for (let sent = receiveMessageOnPort(this.#port); sent; sent = receiveMessageOnPort(this.#port)) {
      this.#takeAll(sent.message as readonly PackedEvent[]);
    }
  }

  /** The thread has ended: processes its last events, and ends its remaining sessions with `reason`; null: they continue elsewhere. */
  close(reason: SessionEnd | null): void {
    this.readAll();
    this.report();
    if (reason !== null) {
      for (const session of this.sessions()) this.#closeSession(session, session.summary(reason));
      this.#permits.releaseAll();
    }
    this.#isOver = true;
    this.#port.close();
    this.#wakeFd = -1;
    for (const resolve of this.#waiting.values()) resolve(null);
    this.#waiting.clear();
  }

  /** A session of another process continues here, in a slot that this worker's thread will give it. */
  resume(handed: HandedSession, recorded: readonly DatagramDestination[], slot: number): void {
    // The first session of each slot has this generation.
    const facts = { ...handed, slot, generation: 1 };
    const session = new PlaneSession(facts, this.options.accountOf(facts), this, handed);
    this.#sessions[slot] = session;
    this.options.observer.sessions.resumed(session, recorded);
  }

  /** Ends a session that has been resumed, and that the thread does not know. The slot is free then. */
  lose(slot: number): void {
    const session = this.#sessions[slot];
    if (session) this.#lost.push([session, session.summary('shutdown')]);
    this.#sessions[slot] = undefined;
  }

  sessions(): PlaneSession[] {
    return this.#sessions.filter((session) => session !== undefined);
  }

  /** Processes the events that have waited for it. */
  report(): void {
    for (const [session, summary] of this.#lost.splice(0)) this.#closeSession(session, summary);
    for (const event of this.#unreported.splice(0)) this.#take(event);
  }

  #takeAll(events: readonly PackedEvent[]): void {
    for (const packed of events) {
      const event = unpackEvent(packed);
      if (this.options.isReporting() || UNHELD.has(event.kind)) this.#take(event);
      else this.#unreported.push(event);
    }
    this.options.gauges.addSign(this.index, 'batchesRead', 1);
  }

  #take(event: WorkerEvent): void {
    const { observer, log, onStarted, onListened, onSecure, onResolverWanted } = this.options;
    switch (event.kind) {
      case 'started':
        this.#wakeFd = event.wakeFd;
        this.#isStarted = true;
        return onStarted(this);
      case 'listening':
      case 'listen-failed':
        return this.#waiting.has(event.id) ? this.#answered(event.id, event) : onListened(this, event);
      case 'synced':
      case 'outbound':
      case 'captured':
      case 'exit-tried':
        return this.#answered(event.token, event);
      case 'secure':
        return onSecure(event);
      case 'resolver-wanted':
        return onResolverWanted();
      case 'session-opened': {
        const session = this.#sessionOf(event.session);
        this.#sessions[session.slot] = session;
        return observer.sessions.opened(session);
      }
      case 'session-passed': {
        const session = this.#sessionOf(event.session);
        session.close(event.summary);
        return observer.sessions.passed(session, event.summary);
      }
      case 'session-destination': {
        const session = this.#sessions[event.slot];
        if (!session) return;
        session.destination = event.destination;
        session.outgoing = event.destination.outgoing;
        session.via = event.destination.via;
        session.exit = event.destination.exit;
        return observer.sessions.destinationChanged(session);
      }
      case 'session-game': {
        const session = this.#sessions[event.slot];
        if (!session) return;
        session.gameId = event.gameId;
        return observer.sessions.gameChanged(session);
      }
      case 'session-closed': {
        const session = this.#sessions[event.slot];
        if (!session) return;
        session.destination = event.destination;
        session.via = event.via;
        session.exit = event.exit;
        session.gameId = event.summary.gameId;
        return this.#closeSession(session, event.summary);
      }
      case 'logins':
        return observer.logins(event);
      case 'guard':
        return observer.guarded(event);
      case 'permit-wanted':
        return this.#permits.wanted(event.token, event.accountId, event.client);
      case 'permit-held':
        return this.#permits.held(event.token, event.accountId, event.client);
      case 'permit-released':
        return this.#permits.released(event.token);
      case 'penalty':
        return observer.penalty(event.penalty);
      case 'rehashed':
        return observer.rehashed(event.accountId, event.before, event.salted);
      case 'exit-way':
        return observer.exits.wayChanged(event.way, event.isUp, event.reason);
      case 'exit-failed':
        return observer.exits.failed(event.exit, event.count);
      case 'log':
        return log[event.level](event.fields, event.message);
      case 'dropped':
        return log.warn({ lines: event.lines }, 'log lines dropped: too many at once');
    }
  }

  #answered(token: number, event: WorkerEvent): void {
    const resolve = this.#waiting.get(token);
    this.#waiting.delete(token);
    resolve?.(event);
  }

  #sessionOf(facts: SessionFacts): PlaneSession {
    return new PlaneSession(facts, this.options.accountOf(facts), this);
  }

  #closeSession(session: PlaneSession, summary: SessionSummary): void {
    if (this.#sessions[session.slot] === session) this.#sessions[session.slot] = undefined;
    session.close(summary);
    this.options.observer.sessions.closed(session, summary);
  }
}
