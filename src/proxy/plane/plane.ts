// The data plane, in the main thread: starts the workers and the resolver's thread, sends accounts and settings to the
// workers, and restarts workers that have died.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ExitTrial, ExitTrialRequest } from '../../core/exits/exit-figures.js';
import type { Endpoint } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import { within } from '../../core/timers.js';
import type { GeoFiles } from '../../geo.js';
import { threadUrl } from '../../program.js';
import type { ResolverSettings } from '../dns/messages.js';
import { PLANE_STATE_VERSION, type PlaneHandover, type PlaneState } from '../handover/state.js';
import type { Libc } from '../io/native/libc.js';
import { PlaneMemory } from '../memory/memory.js';
import type { OwnPorts } from '../memory/own-ports.js';
import { OwnedDescriptors } from '../memory/owned-descriptors.js';
import type { Gauges } from '../memory/shared.js';
import type { WorkerEvent, WorkerMessage, WorkerStart } from '../messages.js';
import { PlaneAccounts } from './accounts.js';
import { captureAll, distribute, systemMs } from './handover.js';
import { PlaneResolver, PlaneTlsClients } from './helper-threads.js';
import { PlaneListeners } from './listeners.js';
import { PlaneRestarts } from './restarts.js';
import { PlaneWatch } from './watch.js';
import { PlaneWorker, type ProxyObserver } from './worker-handle.js';

/** Time limit for the workers to stop accepting, in ms: one of them may be stuck. */
const DRAIN_MS = 1_000;
/** Time limit for stopping a worker, in ms. */
const STOP_MS = 5_000;

export interface PlaneOptions extends Pick<WorkerStart, 'engine' | 'workers' | 'settings'> {
  readonly resolver: ResolverSettings;
  readonly geo: GeoFiles;
  /**
   * What a data plane of another process has handed over: its connections continue, and its accounts, games and exits apply; without
   * it there are none. Until `report` is called, the observer hears only which sessions are `resumed`.
   */
  readonly handed?: PlaneHandover | undefined;
  /** Closes descriptors of dead native workers, and duplicates descriptors; null: koffi is not available. */
  readonly libc: Libc | null;
  /** File descriptor limit of the process. */
  readonly maxDescriptors: number;
  readonly observer: ProxyObserver;
  readonly log: Log;
  /** The daemon must be restarted to serve players again. The log has the reason; the rest of the process continues. */
  readonly onBroken: (failure: PlaneFailure) => void;
  /** The program of a worker's thread; thread.ts. */
  readonly threadUrl?: URL;
  /** A worker whose loop has not turned for this time is terminated and restarted, in ms. */
  readonly stuckMs?: number;
}

/** Why the data plane cannot continue in this process. */
export interface PlaneFailure {
  /** A thread that does not terminate would block `process.exit`. */
  readonly hasStuckThread: boolean;
}

/** What applies to every worker. */
type Rule = Extract<WorkerMessage, { kind: 'games' | 'exits' | 'exit-ways' | 'geo' | 'refuse' }>;
type Told = { [Kind in Rule['kind']]: Extract<Rule, { kind: Kind }> };
/** What the control plane may tell all workers; see messages.ts. */
type PlaneMessage = Rule | Extract<WorkerMessage, { kind: 'end-account' | 'end-all' | 'penalties' }>;

export class ProxyPlane {
  readonly ownPorts: OwnPorts;
  readonly accounts: PlaneAccounts;
  readonly listeners: PlaneListeners;
  readonly #memory: PlaneMemory;
  readonly #gauges: Gauges;
  readonly #workers: PlaneWorker[] = [];
  readonly #restarts: PlaneRestarts;
  readonly #watch: PlaneWatch;
  readonly #resolver: PlaneResolver;
  readonly #tlsClients: PlaneTlsClients;
  /** What `tell` has said last of each kind: a worker that is started later is told too. */
  readonly #told: Told;
  #token = 0;
  #isReporting: boolean;
  #hasHandedOver = false;
  #drained: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(private readonly options: PlaneOptions) {
    const handed = options.handed?.state;
    this.#isReporting = handed === undefined;
    this.#told = {
      geo: { kind: 'geo', files: options.geo },
      games: { kind: 'games', games: handed?.games ?? [] },
      exits: { kind: 'exits', exits: handed?.exits ?? [] },
      'exit-ways': { kind: 'exit-ways', ways: new Map(handed?.exitWays) },
      refuse: { kind: 'refuse', isRefusing: handed?.isRefusing ?? false },
    };
    this.#memory = new PlaneMemory(
      options.workers,
      options.settings,
      options.maxDescriptors,
      handed?.sessions ?? 0,
    );
    this.#gauges = this.#memory.gauges;
    this.ownPorts = this.#memory.ownPorts;
    this.#watch = new PlaneWatch({
      workers: this.#workers,
      gauges: this.#gauges,
      log: options.log,
      stuckMs: options.stuckMs,
      onTerminateFailed: () => options.onBroken({ hasStuckThread: true }),
    });
    this.#restarts = new PlaneRestarts(this.#workers, options.workers);
    this.listeners = new PlaneListeners(this.#workers, options.workers, options);
    const { workers, settings } = options;
    this.accounts = new PlaneAccounts(this.#workers, workers, settings, handed?.accounts ?? []);
    this.#tlsClients = new PlaneTlsClients(options.log);
    this.#resolver = new PlaneResolver(
      this.#workers,
      { settings: options.resolver, gauges: this.#memory.shared.gauges },
      options.log,
    );
  }

  /** How many workers run on each engine. */
  get engines(): Readonly<Record<'native' | 'node', number>> {
    const native = this.#workers.filter(({ engine }) => engine === 'native').length;
    return { native, node: this.#workers.length - native };
  }

  /** Number of connections of all workers, including handshakes. */
  get connections(): number {
    return this.#gauges.get('connections');
  }

  /** Whether every worker serves and its loop turns. False for a while before a stuck worker is terminated. */
  get isAlive(): boolean {
    return this.#workers.every((worker) => this.#watch.isAlive(worker));
  }

  /** Whether every listener is open; not, when a restarted worker could not open one. */
  get isListening(): boolean {
    return this.listeners.areOpen;
  }

  // ── Start and stop ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Starts the threads; resolves when every worker is ready. Call `listen` afterwards to accept connections. */
  async start(): Promise<void> {
    const started: Promise<void>[] = [];
    for (let index = 0; index < this.options.workers; index += 1) {
      started.push(
        new Promise((resolve, reject) => {
          const worker = this.#startWorker(index, this.options.engine, resolve);
          worker.thread.once('error', reject);
          worker.thread.once('exit', () => reject(new Error(`proxy worker ${index} ended before it served`)));
        }),
      );
    }
    try {
      await Promise.all(started);
    } catch (error) {
      await this.stop();
      throw error;
    }
    if (this.options.handed) {
      const { state } = this.options.handed;
      const lost = distribute(this.options.handed, this.#workers, this.accounts);
      this.options.log.info({ sessions: state.sessions, lost }, 'sessions taken over');
      // Large, and not needed any more, but others refer to the state.
      for (const taken of [state.accounts, state.connections]) taken.length = 0;
    }
    // The processors are the workers' until they serve.
    const resolving = this.#resolver.start();
    if (!this.options.handed) await resolving;
    this.#watch.start();
  }

  /** Reports the events of the workers from now on, and those so far; with `handed`, when the observer is ready. */
  report(): void {
    this.#isReporting = true;
    for (const worker of this.#workers) worker.report();
  }

  // ── Handover ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Freezes the workers, and returns what the data plane of another process needs to continue their connections. Everything that has
   * happened has been reported, and the traffic counted. Nothing is closed. `stop` then leaves the descriptors open, and reports no
   * end.
   */
  async handOver(): Promise<PlaneHandover> {
    const count = (): void => this.options.observer.sessions.handingOver();
    const captured = await captureAll(this.#workers, () => this.nextToken(), count);
    this.#hasHandedOver = true;
    const { connections, descriptors } = captured;
    const { games, exits, 'exit-ways': exitWays, refuse } = this.#told;
    const state: PlaneState = {
      version: PLANE_STATE_VERSION,
      sessions: connections.filter(({ kind }) => kind !== 'request').length,
      capturedAt: systemMs(),
      accounts: this.accounts.handOver(),
      games: games.games,
      exits: exits.exits,
      exitWays: [...exitWays.ways],
      isRefusing: refuse.isRefusing,
      connections,
    };
    return { state, descriptors };
  }

  /** Ends every session and every thread. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watch.stop();
    await Promise.all(
      this.#workers.map(async (worker) => {
        worker.isStopping = true;
        worker.send({ kind: 'stop' });
        const cut = setTimeout(() => void worker.thread.terminate(), STOP_MS);
        await worker.exited;
        clearTimeout(cut);
        if (!worker.isOver) this.#cleanUp(worker);
      }),
    );
    await this.#resolver.stop();
    await this.#tlsClients.stop();
  }

  #startWorker(index: number, engine: 'native' | 'node', onStarted: () => void): PlaneWorker {
    const { settings, workers, observer, log } = this.options;
    const shared = this.#memory.allocateFor(index);
    const worker = new PlaneWorker({
      start: { index, workers, engine, settings, shared },
      threadUrl: this.options.threadUrl ?? threadUrl('proxy/worker/thread'),
      gauges: this.#gauges,
      observer,
      log,
      onStarted: (started) => {
        this.#introduce(started);
        onStarted();
      },
      onListened: (listened, event) => this.listeners.listened(listened, event),
      onSecure: (request) => this.#tlsClients.secure(request),
      onRehashed: ({ accountId, before, salted }) => {
        this.accounts.rehashed(accountId, before, salted);
        observer.rehashed(accountId, before, salted);
      },
      onExit: (exited) => this.#exited(exited),
      isReporting: () => this.#isReporting,
      onCounted: (session, bytes) => this.accounts.counted(session, bytes),
      accountOf: (facts) => this.accounts.stringsOf(facts),
    });
    this.#workers[index] = worker;
    return worker;
  }

  /** A worker has started: sends it everything, then connects the other workers to it. */
  #introduce(worker: PlaneWorker): void {
    for (const message of Object.values(this.#told)) worker.send(message);
    this.accounts.sendAll(worker);
    this.#resolver.connect(worker);
    for (const other of this.#workers) {
      if (other === worker || !other.isStarted || other.isOver) continue;
      const { port1, port2 } = new MessageChannel();
      sendPeer(worker, other, port1);
      sendPeer(other, worker, port2);
    }
    this.listeners.sendAll(worker);
  }

  // ── Messages to workers ──────────────────────────────────────────────────────────────────────────────────────────

  /** Sends every worker a message, and those that are started later the last one of its kind if it says what applies. */
  tell(message: PlaneMessage): void {
    if (message.kind in this.#told) Object.assign(this.#told, { [message.kind]: message });
    for (const worker of this.#workers) worker.send(message);
  }

  /** Stops accepting, and after `handshakeMs` closes connections without a complete request. */
  drain(handshakeMs: number): void {
    this.listeners.drain(handshakeMs);
    this.#drained = within(DRAIN_MS, this.synced(), undefined);
  }

  /** Resolves when no worker accepts any more, after `drain`, or at its time limit: then listening sockets may be closed. */
  get drained(): Promise<void> {
    return this.#drained;
  }

  /** Resolves when the workers have done what they have been told so far, and have taken over what was handed to them. */
  async synced(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => this.#sync(worker)));
  }

  /** A unique number for a listener or a request. */
  nextToken(): number {
    this.#token += 1;
    return this.#token;
  }

  // ── Requests to workers ──────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Processes all events that the workers have so far. Call it before reading the observer's state. Returns a promise only
   * when a worker still has to send events.
   */
  settle(): void | Promise<void> {
    // Read the flag first: a worker clears it after it has posted its events, so that events are either waiting or readable.
    const behind = this.#workers.filter(({ index }) => this.#gauges.getSign(index, 'eventsWaiting') !== 0);
    for (const worker of this.#workers) worker.readAll();
    if (behind.length === 0) return;
    return Promise.all(behind.map((worker) => this.#sync(worker))).then(() => undefined);
  }

  /** The destinations of connections with this local address and port. */
  async findOutbound(address: string, port: number): Promise<Endpoint[]> {
    const answers = await Promise.all(
      this.#workers.map(async (worker) => {
        const token = this.nextToken();
        const event = await worker.ask(token, { kind: 'find-outbound', token, address, port });
        return event?.kind === 'outbound' ? [...event.remotes] : [];
      }),
    );
    return answers.flat();
  }

  /** Connects out through an exit, in the first worker. Null: the worker has died. */
  async tryExit(attempt: ExitTrialRequest): Promise<ExitTrial | null> {
    const token = this.nextToken();
    const event = await this.#workers[0]?.ask(token, { kind: 'try-exit', token, ...attempt });
    return event?.kind === 'exit-tried' ? event.trial : null;
  }

  async #sync(worker: PlaneWorker): Promise<WorkerEvent | null> {
    const token = this.nextToken();
    return worker.ask(token, { kind: 'sync', token });
  }

  // ── Dead workers ─────────────────────────────────────────────────────────────────────────────────────────────────

  #exited(worker: PlaneWorker): void {
    if (this.#isStopped || this.#workers[worker.index] !== worker) return;
    this.#cleanUp(worker);
    const { log, libc } = this.options;
    const { index } = worker;
    // Node has closed them with the thread, and without libc there is no duplicate. Only systemd still has the sockets.
    if (libc === null && this.listeners.hasDescriptors) {
      log.error({}, 'sockets from systemd were closed with their worker; restart the daemon');
      return this.options.onBroken({ hasStuckThread: false });
    }
    const { engine, pauseMs } = this.#restarts.next(worker, performance.now());
    if (engine !== worker.engine)
      log.error({ worker: index }, 'proxy worker failed repeatedly; restarting with the node engine');
    const restart = (): void => {
      if (this.#isStopped) return;
      this.#startWorker(index, engine, () => log.warn({ worker: index }, 'proxy worker restarted'));
    };
    setTimeout(restart, pauseMs);
  }

  /** Ends the sessions of a dead worker, and releases its resources. */
  #cleanUp(worker: PlaneWorker): void {
    const { libc } = this.options;
    if (this.#hasHandedOver) worker.close(null);
    else worker.close(this.#isStopped ? 'shutdown' : 'relay-failed');
    new OwnedDescriptors(worker.shared.owned).closeAll((fd) => libc?.close(fd));
    this.#memory.clear(worker.index);
  }
}

function sendPeer(to: PlaneWorker, { index, wakeFd, shared }: PlaneWorker, port: MessagePort): void {
  to.send({ kind: 'peer', index, port, wakeFd, owned: shared.owned }, [port]);
}
