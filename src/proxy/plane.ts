// The data plane as the control plane has it: starts the workers and the resolver's thread, tells workers of accounts and
// settings, reports what happens to the observer, and starts a worker anew when it has died.
import { writeSync } from 'node:fs';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type TransferListItem,
  Worker,
} from 'node:worker_threads';
import type { GameRule } from '../core/heartbeats/game-rules.js';
import type { Log } from '../core/log.js';
import type { ResolverOrder, ResolverSettings, ResolverStart } from './dns/messages.js';
import type { Endpoint } from './io/io.js';
import type { Libc } from './io/native/libc.js';
import type {
  ListenerSpec,
  Order,
  SessionFacts,
  SessionSummary,
  SharedMemory,
  WorkerEvent,
} from './messages.js';
import type { ProxyObserver } from './observer.js';
import { allocateOwnPorts, createOwnPorts, type OwnPorts } from './own-ports.js';
import { allocateOwnedDescriptors, OwnedDescriptors } from './owned-descriptors.js';
import { PlaneSession } from './plane-session.js';
import type { SessionEnd } from './session.js';
import { allocateSessionCounts, type SessionCounts, viewSessionCounts } from './session-counts.js';
import type { AccountRecord, ProxySettings } from './settings.js';
import { allocateGauges, type Gauges, viewGauges } from './shared.js';
import { allocateSourceTable, SourceTable } from './source-table.js';
import type { ThreadOrder, ThreadStart } from './thread.js';
import { workerOf } from './worker-of.js';

/** Accounts in one message: a login comes in between two. */
const RECORDS_PER_ORDER = 1_000;
const STUCK_MS = 5_000;
/** How often the workers are looked at, as a part of what makes one stuck. */
const LOOKS = 5;
/** After so many without a turn it is said that a worker does not turn. */
const QUIET_LOOKS = 3;
/** So many deaths within DEATHS_MS, and the worker is started with the node driver. */
const MAX_DEATHS = 3;
const DEATHS_MS = 60_000;
/** A worker that keeps dying is started again after a rest, in ms. */
const REST_MS = 1_000;
/** How long a worker may take to stop, in ms. */
const STOP_MS = 5_000;
const WAKE = new Uint8Array(new BigUint64Array([1n]).buffer);

export interface PlaneOptions {
  readonly engine: 'native' | 'node';
  readonly workers: number;
  readonly settings: ProxySettings;
  readonly resolver: ResolverSettings;
  readonly games: readonly GameRule[];
  readonly accounts: Iterable<AccountRecord>;
  /** For what threads of the native driver leave behind, and for duplicates; null: there are no direct system calls. */
  readonly libc: Libc | null;
  /** Descriptors that the process may have. */
  readonly maxDescriptors: number;
  readonly observer: ProxyObserver;
  readonly log: Log;
  /** The program of a worker's thread; thread.ts. */
  readonly threadUrl?: URL;
  /** A worker whose loop has not turned for so long is ended and started anew, in ms. */
  readonly stuckMs?: number;
}

type PlaneWorker = {
  readonly index: number;
  engine: 'native' | 'node';
  thread: Worker;
  port: MessagePort;
  wakeFd: number;
  shared: SharedMemory;
  counts: SessionCounts;
  readonly sessions: Map<string, PlaneSession>;
  deaths: number[];
  turns: number;
  /** For how long its loop has been seen not to turn, in ms. */
  quietMs: number;
  /** It has been told everything, and serves. */
  isStarted: boolean;
  isStopping: boolean;
  /** Its thread has ended: nothing that is sent reaches it. */
  isOver: boolean;
  readonly exited: Promise<void>;
  /** Who waits for an answer, by the number of the question; null: the worker died before it answered. */
  readonly waiting: Map<number, (event: WorkerEvent | null) => void>;
  started: () => void;
};

export class ProxyPlane {
  readonly ownPorts: OwnPorts;
  readonly #options: PlaneOptions;
  readonly #gauges: Gauges;
  readonly #shared: Omit<SharedMemory, 'sessionCounts' | 'owned'>;
  readonly #tables: readonly SourceTable[];
  readonly #workers: PlaneWorker[] = [];
  readonly #records = new Map<string, AccountRecord>();
  readonly #listeners: ListenerSpec[] = [];
  #resolver: Worker | null = null;
  #games: readonly GameRule[];
  #changed = new Map<string, AccountRecord>();
  #token = 0;
  #watch: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #isDraining = false;
  #isStopped = false;

  constructor(options: PlaneOptions) {
    this.#options = options;
    this.#games = options.games;
    const { maxHandshakes, login } = options.settings;
    const gauges = allocateGauges();
    this.#shared = {
      ownPorts: allocateOwnPorts(options.workers),
      gauges,
      handshakes: allocateSourceTable(Math.min(1_000_000, 2 * maxHandshakes + 64)),
      loginSources: allocateSourceTable(login.maxSources),
      loginNames: allocateSourceTable(login.maxSources),
    };
    this.#gauges = viewGauges(gauges);
    this.ownPorts = createOwnPorts(this.#shared.ownPorts, 0);
    const { handshakes, loginSources, loginNames } = this.#shared;
    this.#tables = [handshakes, loginSources, loginNames].map((memory) => new SourceTable(memory, -1));
    for (const record of options.accounts) this.#records.set(record.id, record);
  }

  get engine(): 'native' | 'node' {
    return this.#workers.every(({ engine }) => engine === 'native') ? this.#options.engine : 'node';
  }

  /** How many workers run on each driver. */
  get engines(): Readonly<Record<'native' | 'node', number>> {
    const native = this.#workers.filter(({ engine }) => engine === 'native').length;
    return { native, node: this.#workers.length - native };
  }

  /** Connections over all workers, those in their handshake included. */
  get connections(): number {
    return this.#gauges.get('connections');
  }

  /** Starts the threads; resolves when every worker serves. Listeners come later, by `listen`. */
  async start(): Promise<void> {
    this.#startResolver();
    const started: Promise<void>[] = [];
    for (let index = 0; index < this.#options.workers; index += 1) {
      started.push(
        new Promise((resolve, reject) => {
          const worker = this.#startThread(index, this.#options.engine, resolve);
          worker.thread.once('error', reject);
          worker.thread.once('exit', () => reject(new Error(`proxy worker ${index} ended before it served`)));
          this.#workers[index] = worker;
        }),
      );
    }
    try {
      await Promise.all(started);
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#lookedAt = performance.now();
    this.#watch = setInterval(() => this.#lookForStuck(), this.#stuckMs / LOOKS);
  }

  // ── What the workers are told ────────────────────────────────────────────────────────────────────────────────────

  /** An account as it is now. The workers know before anything that is awaited after this call goes on. */
  put(record: AccountRecord): void {
    this.#records.set(record.id, record);
    if (this.#changed.size === 0) queueMicrotask(() => this.#sendChanged());
    this.#changed.set(record.id, record);
  }

  remove(id: string): void {
    this.#records.delete(id);
    this.#changed.delete(id);
    for (const worker of this.#workers) this.#send(worker, { kind: 'account-removed', id });
  }

  setGames(games: readonly GameRule[]): void {
    this.#games = games;
    for (const worker of this.#workers) this.#send(worker, { kind: 'games', games });
  }

  endAccount(accountId: string, reason: SessionEnd): void {
    for (const worker of this.#workers) this.#send(worker, { kind: 'end-account', accountId, reason });
  }

  endAll(reason: SessionEnd): void {
    for (const worker of this.#workers) this.#send(worker, { kind: 'end-all', reason });
  }

  /** Stops accepting, and ends what has not come to a request. */
  drain(): void {
    this.#isDraining = true;
    for (const worker of this.#workers) this.#send(worker, { kind: 'drain' });
  }

  /** Accepts from a descriptor that is open already, in every worker. */
  acceptFrom(spec: ListenerSpec): void {
    this.#listeners.push(spec);
    for (const worker of this.#workers) this.#sendListener(worker, spec);
  }

  /** Lets the first worker open the socket, or say what it is that is open already (the node driver). */
  async listen(
    spec: ListenerSpec,
  ): Promise<{ readonly address: string; readonly port: number } | { readonly code: string }> {
    const [worker] = this.#workers;
    if (!worker) throw new Error('the data plane has not been started');
    const listener = this.#specFor(worker, spec);
    const event = await this.#ask(worker, spec.id, { kind: 'listen', listener });
    if (event?.kind !== 'listening') return { code: event?.kind === 'listen-failed' ? event.code : 'EIO' };
    this.#listeners.push({ ...spec, port: event.port });
    return { address: event.address, port: event.port };
  }

  /** A number for a listener or a question. */
  nextToken(): number {
    this.#token += 1;
    return this.#token;
  }

  // ── What the workers tell ────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Takes in everything that has happened so far: whoever reads what the observer keeps reads it after this. A promise
   * only when a worker has to be asked.
   */
  settle(): void | Promise<void> {
    // The sign first: a worker lowers it when it has posted, so that what is not waiting any more is there to be read.
    const behind = this.#workers.filter(({ index }) => this.#gauges.getSign(index, 'eventsWaiting') !== 0);
    for (const worker of this.#workers) this.#readAll(worker);
    if (behind.length === 0) return;
    return Promise.all(behind.map((worker) => this.#sync(worker))).then(() => undefined);
  }

  /** Where the connections lead whose local end this is. */
  async findOutbound(address: string, port: number): Promise<Endpoint[]> {
    const answers = await Promise.all(
      this.#workers.map(async (worker) => {
        const token = this.nextToken();
        const event = await this.#ask(worker, token, { kind: 'find-outbound', token, address, port });
        return event?.kind === 'outbound' ? [...event.remotes] : [];
      }),
    );
    return answers.flat();
  }

  /** Whether every worker serves and its loop turns. False for a while before a stuck one is ended. */
  get isAlive(): boolean {
    const quietMs = (this.#stuckMs * QUIET_LOOKS) / LOOKS;
    return this.#workers.every((worker) => worker.isStarted && !worker.isOver && worker.quietMs < quietMs);
  }

  /** Ends every session and every thread. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#watch);
    await Promise.all(
      this.#workers.map(async (worker) => {
        worker.isStopping = true;
        this.#send(worker, { kind: 'stop' });
        const cut = setTimeout(() => void worker.thread.terminate(), STOP_MS);
        await worker.exited;
        clearTimeout(cut);
        if (worker.isOver) return;
        this.#readAll(worker);
        this.#cleanUp(worker);
      }),
    );
    await this.#resolver?.terminate();
  }

  #startResolver(): void {
    const start: ResolverStart = { settings: this.#options.resolver, gauges: this.#shared.gauges };
    const thread = new Worker(new URL('./dns/thread.js', import.meta.url), {
      workerData: start,
      name: 'resolver',
    });
    thread.on('error', (error) => {
      this.#options.log.error({ err: error }, 'resolver thread failed; starting it anew');
    });
    thread.on('exit', () => {
      if (this.#isStopped || this.#resolver !== thread) return;
      this.#startResolver();
      for (const worker of this.#workers) this.#connectResolver(worker);
    });
    this.#resolver = thread;
  }

  #startThread(index: number, engine: 'native' | 'node', started: () => void): PlaneWorker {
    const { settings, maxDescriptors, workers, threadUrl } = this.#options;
    const shared: SharedMemory = {
      ...this.#shared,
      sessionCounts: allocateSessionCounts(Math.min(settings.maxConnections, maxDescriptors) + 1024),
      owned: allocateOwnedDescriptors(maxDescriptors),
    };
    const { port1: port, port2 } = new MessageChannel();
    const start: ThreadStart = {
      start: { index, workers, engine, settings, games: this.#games, shared },
      port: port2,
    };
    const thread = new Worker(threadUrl ?? new URL('./thread.js', import.meta.url), {
      workerData: start,
      transferList: [port2],
      name: `proxy-${index}`,
    });
    const worker: PlaneWorker = {
      index,
      engine,
      thread,
      port,
      wakeFd: -1,
      shared,
      counts: viewSessionCounts(shared.sessionCounts),
      sessions: new Map(),
      deaths: [],
      turns: 0,
      quietMs: 0,
      isStarted: false,
      isStopping: false,
      isOver: false,
      exited: new Promise((resolve) => thread.once('exit', () => resolve())),
      waiting: new Map(),
      started,
    };
    port.on('message', (events: readonly WorkerEvent[]) => this.#takeAll(worker, events));
    thread.on('error', (error) =>
      this.#options.log.error({ err: error, worker: index }, 'proxy worker failed'),
    );
    thread.on('exit', () => this.#exited(worker));
    return worker;
  }

  /** A worker has started: it is told everything, then the others can reach it. */
  #introduce(worker: PlaneWorker): void {
    const mine = [...this.#records.values()].filter((record) => this.#owner(record) === worker.index);
    this.#sendRecords(worker, mine);
    this.#connectResolver(worker);
    for (const other of this.#workers) {
      if (other === worker || !other.isStarted || other.isOver) continue;
      const { port1, port2 } = new MessageChannel();
      this.#sendPeer(worker, other, port1);
      this.#sendPeer(other, worker, port2);
    }
    if (this.#isDraining) return;
    for (const listener of this.#listeners) this.#sendListener(worker, listener);
  }

  #sendPeer(to: PlaneWorker, { index, wakeFd, shared }: PlaneWorker, port: MessagePort): void {
    this.#send(to, { kind: 'peer', index, port, wakeFd, owned: shared.owned }, [port]);
  }

  /**
   * The node driver closes a descriptor with its listener, so that it is given one of its own. It cannot pass connections
   * on either: beside native workers it serves what they accept for it.
   */
  #sendListener(worker: PlaneWorker, listener: ListenerSpec): void {
    if (worker.engine === 'node' && this.#options.workers > 1) return;
    this.#send(worker, { kind: 'listen', listener: this.#specFor(worker, listener) });
  }

  #specFor({ engine }: PlaneWorker, listener: ListenerSpec): ListenerSpec {
    const { libc } = this.#options;
    if (engine === 'native' || listener.fd === null || libc === null) return listener;
    return { ...listener, fd: libc.dup(listener.fd) };
  }

  #connectResolver(worker: PlaneWorker): void {
    const { port1, port2 } = new MessageChannel();
    const order: ResolverOrder = { kind: 'worker', index: worker.index, wakeFd: worker.wakeFd, port: port2 };
    this.#resolver?.postMessage(order, [port2]);
    this.#send(worker, { kind: 'resolver', port: port1 }, [port1]);
  }

  #owner({ username }: AccountRecord): number {
    const { workers } = this.#options;
    return workers === 1 ? 0 : workerOf(Buffer.from(username), workers);
  }

  #sendChanged(): void {
    const changed = [...this.#changed.values()];
    this.#changed = new Map();
    for (const worker of this.#workers) {
      this.#sendRecords(
        worker,
        changed.filter((record) => this.#owner(record) === worker.index),
      );
    }
  }

  #sendRecords(worker: PlaneWorker, records: readonly AccountRecord[]): void {
    for (let from = 0; from < records.length; from += RECORDS_PER_ORDER) {
      this.#send(worker, { kind: 'accounts', records: records.slice(from, from + RECORDS_PER_ORDER) });
    }
  }

  #send(worker: PlaneWorker, order: ThreadOrder, transfer: readonly TransferListItem[] = []): void {
    if (worker.isOver) return;
    worker.port.postMessage(order satisfies Order | ThreadOrder, transfer);
    this.#gauges.addSign(worker.index, 'mail', 1);
    if (worker.wakeFd === -1) return;
    try {
      writeSync(worker.wakeFd, WAKE);
    } catch {
      // The worker has just died: whoever takes its place is told everything.
    }
  }

  /** Resolves with the answer; null when the worker is dead, or dies meanwhile. */
  #ask(worker: PlaneWorker, token: number, order: Order): Promise<WorkerEvent | null> {
    return new Promise((resolve) => {
      if (worker.isOver) return resolve(null);
      worker.waiting.set(token, resolve);
      this.#send(worker, order);
    });
  }

  async #sync(worker: PlaneWorker): Promise<void> {
    const token = this.nextToken();
    await this.#ask(worker, token, { kind: 'sync', token });
  }

  #readAll(worker: PlaneWorker): void {
    for (let mail = receiveMessageOnPort(worker.port); mail; mail = receiveMessageOnPort(worker.port)) {
      this.#takeAll(worker, mail.message as readonly WorkerEvent[]);
    }
  }

  #takeAll(worker: PlaneWorker, events: readonly WorkerEvent[]): void {
    for (const event of events) this.#take(worker, event);
    this.#gauges.addSign(worker.index, 'batchesRead', 1);
  }

  #take(worker: PlaneWorker, event: WorkerEvent): void {
    const { observer, log } = this.#options;
    switch (event.kind) {
      case 'started':
        worker.wakeFd = event.wakeFd;
        worker.isStarted = true;
        this.#introduce(worker);
        return worker.started();
      case 'listening':
        return this.#answered(worker, event.id, event);
      case 'listen-failed':
        if (!worker.waiting.has(event.id))
          log.error({ worker: worker.index, code: event.code }, 'restarted proxy worker cannot listen');
        return this.#answered(worker, event.id, event);
      case 'synced':
      case 'outbound':
        return this.#answered(worker, event.token, event);
      case 'session-opened':
        return observer.sessionOpened(this.#open(worker, event.session));
      case 'session-passed': {
        const session = this.#open(worker, event.session);
        observer.sessionOpened(session);
        return this.#close(worker, session, event.summary);
      }
      case 'session-destination': {
        const session = worker.sessions.get(event.id);
        if (!session) return;
        session.destination = event.destination;
        return observer.sessionDestination(session, event.destination);
      }
      case 'session-game': {
        const session = worker.sessions.get(event.id);
        if (!session) return;
        session.gameId = event.gameId;
        return observer.sessionGame(session, event.gameId);
      }
      case 'session-closed': {
        const session = worker.sessions.get(event.id);
        if (!session) return;
        session.destination = event.destination;
        session.via = event.via;
        session.gameId = event.summary.gameId;
        return this.#close(worker, session, event.summary);
      }
      case 'logins':
        return observer.logins(
          event.outcome,
          event.username,
          event.accountId,
          event.client,
          event.count,
          event.at,
        );
      case 'rehashed': {
        const record = this.#records.get(event.accountId);
        if (record?.passwordHash === event.before) {
          this.#records.set(record.id, { ...record, passwordHash: event.salted });
        }
        return observer.rehashed(event.accountId, event.before, event.salted);
      }
      case 'log':
        return log[event.level](event.fields, event.message);
      case 'dropped':
        return log.warn({ lines: event.lines }, 'log lines dropped: too many at once');
    }
  }

  #answered(worker: PlaneWorker, token: number, event: WorkerEvent): void {
    const waiting = worker.waiting.get(token);
    worker.waiting.delete(token);
    waiting?.(event);
  }

  #open(worker: PlaneWorker, facts: SessionFacts): PlaneSession {
    const session = new PlaneSession(facts, worker.counts, (reason) =>
      this.#send(worker, { kind: 'end-session', id: facts.id, reason }),
    );
    worker.sessions.set(facts.id, session);
    return session;
  }

  #close(worker: PlaneWorker, session: PlaneSession, summary: SessionSummary): void {
    worker.sessions.delete(session.id);
    session.close(summary);
    this.#options.observer.sessionClosed(session, summary);
  }

  // ── Workers that die ─────────────────────────────────────────────────────────────────────────────────────────────

  get #stuckMs(): number {
    return this.#options.stuckMs ?? STUCK_MS;
  }

  /** Time in which the whole process stood still (SIGSTOP, a suspended machine) counts as one look. */
  #lookForStuck(): void {
    const now = performance.now();
    const sinceMs = Math.min(now - this.#lookedAt, (2 * this.#stuckMs) / LOOKS);
    this.#lookedAt = now;
    for (const worker of this.#workers) {
      const turns = this.#gauges.getSign(worker.index, 'turns');
      worker.quietMs = turns === worker.turns ? worker.quietMs + sinceMs : 0;
      worker.turns = turns;
      if (worker.quietMs < this.#stuckMs || worker.isStopping || worker.isOver) continue;
      this.#options.log.error({ worker: worker.index }, 'proxy worker does not respond; ending it');
      worker.isStopping = true;
      void worker.thread.terminate();
    }
  }

  #exited(worker: PlaneWorker): void {
    if (this.#isStopped || this.#workers[worker.index] !== worker) return;
    this.#readAll(worker);
    this.#cleanUp(worker);
    const now = performance.now();
    const deaths = [...worker.deaths, now].filter((at) => now - at < DEATHS_MS);
    const { log, workers, libc } = this.#options;
    // Node has closed them with the thread, and without libc there is no duplicate: the service manager has them still.
    if (libc === null && this.#listeners.some(({ fd }) => fd !== null))
      throw new Error('the sockets of the service manager were lost with their worker');
    // The node driver cannot pass connections on: of several workers one at least stays native, to accept them.
    const isSpare =
      workers === 1 || this.#workers.some((other) => other !== worker && other.engine === 'native');
    const engine = deaths.length >= MAX_DEATHS && isSpare ? 'node' : worker.engine;
    if (engine !== worker.engine)
      log.error({ worker: worker.index }, 'proxy worker failed repeatedly; starting it with the node driver');
    setTimeout(
      () => {
        if (this.#isStopped) return;
        const next = this.#startThread(worker.index, engine, () =>
          log.warn({ worker: worker.index }, 'proxy worker restarted'),
        );
        next.deaths = deaths;
        this.#workers[worker.index] = next;
      },
      deaths.length > MAX_DEATHS ? REST_MS : 0,
    );
  }

  /** Ends what the worker could not end itself, and gives back what it held. */
  #cleanUp(worker: PlaneWorker): void {
    const { libc } = this.#options;
    for (const session of [...worker.sessions.values()]) {
      this.#close(worker, session, session.summary(this.#isStopped ? 'shutdown' : 'relay-failed'));
    }
    worker.isOver = true;
    worker.port.close();
    worker.wakeFd = -1;
    for (const resolve of worker.waiting.values()) resolve(null);
    worker.waiting.clear();
    new OwnedDescriptors(worker.shared.owned).closeAll((fd) => libc?.close(fd));
    this.#gauges.clear(worker.index);
    this.ownPorts.clear(worker.index + 1);
    for (const table of this.#tables) table.release(worker.index + 1);
    // What it had counted there is not known apart from others'; everybody begins anew.
    this.#tables[0]?.clear();
  }
}
