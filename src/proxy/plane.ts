// The data plane as the control plane has it: starts the workers and the resolver's thread, sends workers the accounts and
// settings, and starts a worker anew when it has died.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Penalty } from '../core/auth/penalties.js';
import type { GameRule } from '../core/heartbeats/game-rules.js';
import type { Log } from '../core/log.js';
import type { ResolverSettings } from './dns/messages.js';
import type { Endpoint } from './io/io.js';
import type { Libc } from './io/native/libc.js';
import type { ListenerSpec, WorkerEvent } from './messages.js';
import type { ProxyObserver } from './observer.js';
import type { OwnPorts } from './own-ports.js';
import { OwnedDescriptors } from './owned-descriptors.js';
import { PlaneAccounts } from './plane-accounts.js';
import { type ListenResult, PlaneListeners } from './plane-listeners.js';
import { PlaneMemory } from './plane-memory.js';
import { PlaneResolver } from './plane-resolver.js';
import { PlaneWatch } from './plane-watch.js';
import { PlaneWorker } from './plane-worker.js';
import type { SessionEnd } from './session.js';
import type { AccountRecord, ProxySettings } from './settings.js';
import type { Gauges } from './shared.js';
import { WorkerRestarts } from './worker-restarts.js';

/** How long a worker may take to stop, in ms. */
const STOP_MS = 5_000;

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
  /** Players can only be served again by another process. The log says why; what is left of this one goes on. */
  readonly onBroken: (broken: PlaneFailure) => void;
  /** The program of a worker's thread; thread.ts. */
  readonly threadUrl?: URL;
  /** A worker whose loop has not turned for so long is ended and started anew, in ms. */
  readonly stuckMs?: number;
}

/** Why the data plane cannot go on in this process. */
export interface PlaneFailure {
  /** A thread that does not end would hold `process.exit` for ever. */
  readonly hasUnendableThread: boolean;
}

export class ProxyPlane {
  readonly ownPorts: OwnPorts;
  readonly #options: PlaneOptions;
  readonly #memory: PlaneMemory;
  readonly #gauges: Gauges;
  readonly #workers: PlaneWorker[] = [];
  readonly #restarts: WorkerRestarts;
  readonly #watch: PlaneWatch;
  readonly #accounts: PlaneAccounts;
  readonly #resolver: PlaneResolver;
  readonly #listeners: PlaneListeners;
  #games: readonly GameRule[];
  #token = 0;
  #isRefusing = false;
  #isStopped = false;

  constructor(options: PlaneOptions) {
    this.#options = options;
    this.#games = options.games;
    this.#memory = new PlaneMemory(options.workers, options.settings, options.maxDescriptors);
    this.#gauges = this.#memory.gauges;
    this.ownPorts = this.#memory.ownPorts;
    this.#watch = new PlaneWatch({
      workers: this.#workers,
      gauges: this.#gauges,
      log: options.log,
      stuckMs: options.stuckMs,
      onUnendable: () => options.onBroken({ hasUnendableThread: true }),
    });
    this.#restarts = new WorkerRestarts(this.#workers, options.workers);
    this.#listeners = new PlaneListeners(this.#workers, options.workers, options.libc);
    this.#accounts = new PlaneAccounts(this.#workers, options.workers, options.accounts);
    this.#resolver = new PlaneResolver(
      this.#workers,
      { settings: options.resolver, gauges: this.#memory.shared.gauges },
      options.log,
    );
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

  /** Whether every worker serves and its loop turns. False for a while before a stuck one is ended. */
  get isAlive(): boolean {
    return this.#workers.every((worker) => this.#watch.isAlive(worker));
  }

  // ── Start and stop ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Starts the threads; resolves when every worker serves. Listeners come later, by `listen`. */
  async start(): Promise<void> {
    this.#resolver.start();
    const started: Promise<void>[] = [];
    for (let index = 0; index < this.#options.workers; index += 1) {
      started.push(
        new Promise((resolve, reject) => {
          const worker = this.#startWorker(index, this.#options.engine, resolve);
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
    this.#watch.start();
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
  }

  #startWorker(index: number, engine: 'native' | 'node', onStarted: () => void): PlaneWorker {
    const { settings, workers, threadUrl, observer, log } = this.#options;
    const shared = this.#memory.allocateFor(index);
    const worker = new PlaneWorker({
      start: { index, workers, engine, settings, games: this.#games, shared },
      threadUrl: threadUrl ?? new URL('./thread.js', import.meta.url),
      gauges: this.#gauges,
      observer,
      log,
      onStarted: (started) => {
        this.#introduce(started);
        onStarted();
      },
      onRehashed: ({ accountId, before, salted }) => {
        this.#accounts.rehashed(accountId, before, salted);
        observer.rehashed(accountId, before, salted);
      },
      onExit: (exited) => this.#exited(exited),
      accountOf: (facts) => this.#accounts.stringsOf(facts),
    });
    this.#workers[index] = worker;
    return worker;
  }

  /** A worker has started: it is sent everything, then the others can reach it. */
  #introduce(worker: PlaneWorker): void {
    this.#accounts.sendAll(worker);
    this.#resolver.connect(worker);
    for (const other of this.#workers) {
      if (other === worker || !other.isStarted || other.isOver) continue;
      const { port1, port2 } = new MessageChannel();
      sendPeer(worker, other, port1);
      sendPeer(other, worker, port2);
    }
    if (this.#isRefusing) worker.send({ kind: 'refuse', isRefusing: true });
    this.#listeners.sendAll(worker);
  }

  // ── What the workers are sent ────────────────────────────────────────────────────────────────────────────────────

  /** An account as it is now. The workers have it before anything that is awaited after this call goes on. */
  put(record: AccountRecord): void {
    this.#accounts.put(record);
  }

  remove(id: string): void {
    this.#accounts.remove(id);
  }

  setGames(games: readonly GameRule[]): void {
    this.#games = games;
    for (const worker of this.#workers) worker.send({ kind: 'games', games });
  }

  endAccount(accountId: string, reason: SessionEnd): void {
    for (const worker of this.#workers) worker.send({ kind: 'end-account', accountId, reason });
  }

  /** Refuses what other nodes refuse. */
  penalize(penalties: readonly Penalty[]): void {
    for (const worker of this.#workers) worker.send({ kind: 'penalties', penalties });
  }

  endAll(reason: SessionEnd): void {
    for (const worker of this.#workers) worker.send({ kind: 'end-all', reason });
  }

  /** Closes every new connection at once, or serves them again. Sessions go on. */
  refuse(isRefusing: boolean): void {
    this.#isRefusing = isRefusing;
    for (const worker of this.#workers) worker.send({ kind: 'refuse', isRefusing });
  }

  /** Stops accepting, and ends what has not come to a request. */
  drain(): void {
    this.#listeners.drain();
  }

  /** Accepts from a descriptor that is open already, in every worker. */
  acceptFrom(spec: ListenerSpec): void {
    this.#listeners.acceptFrom(spec);
  }

  /** Lets the first worker open the socket, or say why it cannot (the node driver). */
  listen(spec: ListenerSpec): Promise<ListenResult> {
    return this.#listeners.listen(spec);
  }

  /** A number for a listener or a question. */
  nextToken(): number {
    this.#token += 1;
    return this.#token;
  }

  // ── What the workers are asked ───────────────────────────────────────────────────────────────────────────────────

  /**
   * Takes in everything that has happened so far: whoever reads what the observer keeps reads it after this. A promise
   * only when a worker has to be asked.
   */
  settle(): void | Promise<void> {
    // The sign first: a worker lowers it when it has posted, so that what is not waiting any more is there to be read.
    const behind = this.#workers.filter(({ index }) => this.#gauges.getSign(index, 'eventsWaiting') !== 0);
    for (const worker of this.#workers) worker.readAll();
    if (behind.length === 0) return;
    return Promise.all(behind.map((worker) => this.#sync(worker))).then(() => undefined);
  }

  /** Where the connections lead whose local end this is. */
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

  async #sync(worker: PlaneWorker): Promise<WorkerEvent | null> {
    const token = this.nextToken();
    return worker.ask(token, { kind: 'sync', token });
  }

  // ── Workers that die ─────────────────────────────────────────────────────────────────────────────────────────────

  #exited(worker: PlaneWorker): void {
    if (this.#isStopped || this.#workers[worker.index] !== worker) return;
    this.#cleanUp(worker);
    const { log, libc } = this.#options;
    const { index } = worker;
    // Node has closed them with the thread, and without libc there is no duplicate: the service manager has them still.
    if (libc === null && this.#listeners.hasDescriptors) {
      log.error(
        {},
        'sockets of the service manager were closed with their worker; the daemon must be started again',
      );
      return this.#options.onBroken({ hasUnendableThread: false });
    }
    const { engine, pauseMs } = this.#restarts.next(worker, performance.now());
    if (engine !== worker.engine)
      log.error({ worker: index }, 'proxy worker failed repeatedly; starting it with the node driver');
    const restart = (): void => {
      if (this.#isStopped) return;
      this.#startWorker(index, engine, () => log.warn({ worker: index }, 'proxy worker restarted'));
    };
    setTimeout(restart, pauseMs);
  }

  /** Ends what the worker could not end itself, and releases what it held. */
  #cleanUp(worker: PlaneWorker): void {
    const { libc } = this.#options;
    worker.close(this.#isStopped ? 'shutdown' : 'relay-failed');
    new OwnedDescriptors(worker.shared.owned).closeAll((fd) => libc?.close(fd));
    this.#memory.clear(worker.index);
  }
}

/** Lets one worker send messages to another. */
function sendPeer(to: PlaneWorker, { index, wakeFd, shared }: PlaneWorker, port: MessagePort): void {
  to.send({ kind: 'peer', index, port, wakeFd, owned: shared.owned }, [port]);
}
