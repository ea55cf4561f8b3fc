// The data plane, in the main thread: starts the threads of the workers, tells each what applies, restarts those that die, and stops them.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Log } from '../../core/log.js';
import { within } from '../../core/time/timers.js';
import type { GeoFiles } from '../../geo.js';
import { threadUrl } from '../../program.js';
import type { ResolverSettings } from '../dns/messages.js';
import { PLANE_STATE_VERSION, type PlaneHandover, type PlaneState, systemMs } from '../handover/state.js';
import type { Libc } from '../io/native/libc.js';
import { PlaneMemory } from '../memory/memory.js';
import type { OwnPorts } from '../memory/own-ports.js';
import { OwnedDescriptors } from '../memory/owned-descriptors.js';
import type { WorkerStart } from '../messages.js';
import { PlaneAccounts } from './accounts.js';
import { captureAll, distribute } from './handover.js';
import { PlaneResolver, PlaneTlsClients } from './helper-threads.js';
import { PlaneListeners } from './listeners.js';
import { PlaneRequests } from './requests.js';
import { PlaneRestarts } from './restarts.js';
import { type PlaneMessage, PlaneRules } from './rules.js';
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

export class ProxyPlane {
  readonly ownPorts: OwnPorts;
  readonly accounts: PlaneAccounts;
  readonly listeners: PlaneListeners;
  readonly requests: PlaneRequests;
  readonly #memory: PlaneMemory;
  readonly #workers: PlaneWorker[] = [];
  readonly #restarts: PlaneRestarts;
  readonly #watch: PlaneWatch;
  readonly #resolver: PlaneResolver;
  readonly #tlsClients: PlaneTlsClients;
  readonly #rules: PlaneRules;
  #isReporting: boolean;
  #hasHandedOver = false;
  /** Resolves when no worker accepts any more, after `drain`, or at its time limit: then listening sockets may be closed. */
  drained: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(private readonly options: PlaneOptions) {
    const handed = options.handed?.state;
    this.#isReporting = handed === undefined;
    this.#rules = new PlaneRules(options.geo, handed);
    const { workers, settings, log } = options;
    this.#memory = new PlaneMemory(workers, settings, options.maxDescriptors, handed?.sessions ?? 0);
    const { gauges, ownPorts, shared } = this.#memory;
    this.ownPorts = ownPorts;
    this.#watch = new PlaneWatch({
      workers: this.#workers,
      gauges,
      log,
      stuckMs: options.stuckMs,
      onTerminateFailed: () => options.onBroken({ hasStuckThread: true }),
    });
    this.#restarts = new PlaneRestarts(this.#workers, workers);
    this.requests = new PlaneRequests(this.#workers, gauges);
    this.listeners = new PlaneListeners(this.#workers, workers, this.requests, options);
    this.accounts = new PlaneAccounts(this.#workers, workers, settings, handed?.accounts ?? '');
    this.#tlsClients = new PlaneTlsClients(log);
    const resolver = { settings: options.resolver, gauges: shared.gauges };
    this.#resolver = new PlaneResolver(this.#workers, resolver, log);
  }

  /** How many workers run on each engine. */
  get engines(): Readonly<Record<'native' | 'node', number>> {
    const native = this.#workers.filter(({ engine }) => engine === 'native').length;
    return { native, node: this.#workers.length - native };
  }

  /** Number of connections of all workers, including handshakes. */
  get connections(): number {
    return this.#memory.gauges.get('connections');
  }

  /** Whether every worker serves and its loop turns. False for a while before a stuck worker is terminated. */
  get isAlive(): boolean {
    return this.#workers.every((worker) => this.#watch.isAlive(worker));
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
      state.accounts = '';
      state.connections.length = 0;
    }
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
    const { connections, descriptors } = await captureAll(this.#workers, this.requests, count);
    this.#hasHandedOver = true;
    const state: PlaneState = {
      version: PLANE_STATE_VERSION,
      sessions: connections.filter(({ kind }) => kind !== 'request').length,
      capturedAt: systemMs(),
      accounts: this.accounts.handOver(),
      ...this.#rules.handOver(),
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
      gauges: this.#memory.gauges,
      observer,
      log,
      onStarted: (started) => {
        this.#introduce(started);
        onStarted();
      },
      onListened: (listened, event) => this.listeners.listened(listened, event),
      onSecure: (request) => this.#tlsClients.secure(request),
      onResolverWanted: () => this.#resolver.want(),
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
    this.#rules.sendAll(worker);
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

  /** Sends every worker a message, and those that are started later the last one of its kind if it says what applies. */
  tell(message: PlaneMessage): void {
    this.#rules.keep(message);
    for (const worker of this.#workers) worker.send(message);
  }

  /** Stops accepting, and after `handshakeMs` closes connections without a complete request. */
  drain(handshakeMs: number): void {
    this.listeners.drain(handshakeMs);
    this.drained = within(DRAIN_MS, this.requests.synced(), undefined);
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
