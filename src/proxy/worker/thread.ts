// A worker's thread: builds the engine, connects the channel, and runs until it is asked to stop.
// plane.ts watches its exit. After an error the worker's sessions end, the error is logged with its stack, and plane.ts
// restarts the worker.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { succeeds } from '../../core/errors.js';
import type { Answer, Question } from '../dns/messages.js';
import type { Io } from '../io/io.js';
import { createNativeIo } from '../io/native/index.js';
import { loadLibc } from '../io/native/libc.js';
import { Loop } from '../io/native/loop.js';
import { OwnedDescriptors } from '../memory/owned-descriptors.js';
import { type Gauges, viewGauges } from '../memory/shared.js';
import type {
  PassedConnection,
  SecureRequest,
  WorkerEvent,
  WorkerMessage,
  WorkerStart,
} from '../messages.js';
import { packEvent } from '../packed-events.js';
import { prioritizeThread } from '../thread-priority.js';
import type { WorkerDeps } from './base.js';
import { ProxyWorker } from './worker.js';

export interface ThreadStart {
  readonly start: WorkerStart;
  readonly port: MessagePort;
}

/** Further messages through the port: connections to other threads. */
export type ThreadMessage =
  | WorkerMessage
  | { readonly kind: 'resolver'; readonly port: MessagePort }
  | {
      readonly kind: 'peer';
      readonly index: number;
      readonly port: MessagePort;
      readonly wakeFd: number;
      /** See owned-descriptors.ts. */
      readonly owned: SharedArrayBuffer;
    };

/** How often a worker of the node engine increments its turn count, in ms. */
const SIGN_MS = 500;
/** How often a frozen worker looks for messages, in µs. */
const FROZEN_REST_US = 200;

interface Peer {
  readonly port: MessagePort;
  readonly wakeFd: number;
  readonly owned: OwnedDescriptors;
}

class Channel {
  readonly #start: WorkerStart;
  readonly #gauges: Gauges;
  readonly #port: MessagePort;
  readonly #peers = new Map<number, Peer>();
  /** The number of messages when the port of the control plane was read. */
  #seen = -1;
  #resolver: MessagePort | null = null;
  /** Lookups from before the resolver was connected. */
  #unasked: Question[] = [];
  #worker: ProxyWorker | null = null;
  #onPort: ((port: MessagePort, listener: () => void) => void) | null = null;
  readonly #wake: (fd: number) => void;

  constructor({ start, port }: ThreadStart, wake: (fd: number) => void) {
    this.#start = start;
    this.#gauges = viewGauges(start.shared.gauges);
    this.#port = port;
    this.#wake = wake;
  }

  attach(worker: ProxyWorker): void {
    this.#worker = worker;
  }

  /** With Node's event loop: handles messages as they arrive. */
  listen(): void {
    this.#onPort = (port) => port.on('message', (message) => this.#take(port, message));
    this.#onPort(this.#port, () => {});
  }

  /** Reads pending messages from all threads. */
  readonly read = (): void => {
    this.readFromPlane();
    if (this.#resolver) this.#readFrom(this.#resolver);
  };

  /** Reads pending messages of the control plane and of the other workers. */
  readonly readFromPlane = (): void => {
    this.readMessages();
    if (this.#worker?.isTakingOver) return;
    for (const { port } of this.#peers.values()) this.#readFrom(port);
  };

  /** Reads pending messages of the control plane. Each login calls it: a look at the count of messages costs less than one at the port. */
  readonly readMessages = (): void => {
    const sent = this.#gauges.getSign(this.#start.index, 'messages');
    if (sent === this.#seen) return;
    this.#seen = sent;
    this.#readFrom(this.#port);
  };

  readonly post = (events: readonly WorkerEvent[]): void => {
    this.#port.postMessage(events.map(packEvent));
  };

  readonly ask = (question: Question): void => {
    if (this.#resolver) this.#resolver.postMessage(question);
    else if (this.#unasked.push(question) === 1)
      this.#worker?.host.events.pushAtOnce({ kind: 'resolver-wanted' });
  };

  readonly sendToPeer = (index: number, message: WorkerMessage): void => {
    const peer = this.#peers.get(index);
    if (peer) this.#sendTo(index, peer, message);
  };

  readonly passConnection = (index: number, connection: PassedConnection): boolean => {
    const peer = this.#peers.get(index);
    if (!peer?.owned.tryGive(connection.fd)) return false;
    this.#gauges.move(this.#start.index, index, 'connections');
    this.#sendTo(index, peer, { kind: 'adopt', connection });
    return true;
  };

  #sendTo(index: number, peer: Peer, message: WorkerMessage): void {
    peer.port.postMessage(message);
    this.#gauges.addSign(index, 'messages', 1);
    if (peer.wakeFd !== -1) this.#wake(peer.wakeFd);
  }

  #readFrom(port: MessagePort): void {
    for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
      this.#take(port, received.message);
      // What has been taken over goes on before the next part. All other messages wait until everything is.
      if (this.#worker?.isTakingOver) {
        this.#seen = -1;
        return;
      }
    }
  }

  #take(port: MessagePort, message: ThreadMessage | Answer): void {
    if (port === this.#resolver) {
      this.#worker?.host.resolver.answered(message as Answer);
      return;
    }
    const sent = message as ThreadMessage;
    if (sent.kind === 'resolver') {
      const former = this.#resolver;
      this.#resolver = sent.port;
      this.#onPort?.(sent.port, () => {});
      // The thread behind the former port has died.
      former?.close();
      if (former !== null) this.#worker?.host.resolver.failWaiting();
      for (const question of this.#unasked.splice(0)) sent.port.postMessage(question);
    } else if (sent.kind === 'peer') {
      this.#peers.get(sent.index)?.port.close();
      this.#peers.set(sent.index, {
        port: sent.port,
        wakeFd: sent.wakeFd,
        owned: new OwnedDescriptors(sent.owned),
      });
      this.#onPort?.(sent.port, () => {});
    } else this.#worker?.receive(sent);
  }
}

function runNative(thread: ThreadStart): void {
  const { start } = thread;
  const libc = loadLibc();
  const loop = new Loop(libc, new OwnedDescriptors(start.shared.owned));
  const channel = new Channel(thread, (fd) => libc.signalEventFd(fd));
  const giveToTls = (request: SecureRequest): void => {
    worker.host.events.pushAtOnce({ kind: 'secure', ...request });
  };
  const worker = createWorker(channel, start, createNativeIo(loop, giveToTls), {
    stop: () => loop.stop(),
    onEventsWaiting() {},
  });
  const gauges = viewGauges(start.shared.gauges);
  let seen = -1;
  /** Epoll keeps the events, so that everything goes on afterwards as if no time had passed. */
  const stayFrozen = (): void => {
    for (worker.freeze(); worker.isFrozen; worker.capture()) {
      gauges.addSign(start.index, 'turns', 1);
      libc.rest(FROZEN_REST_US);
      channel.readFromPlane();
    }
  };
  worker.host.events.pushAtOnce({ kind: 'started', wakeFd: loop.wakeFd });
  try {
    loop.run({
      turn() {
        gauges.addSign(start.index, 'turns', 1);
        const sent = gauges.getSign(start.index, 'messages');
        if (sent !== seen || worker.isTakingOver) {
          seen = sent;
          channel.read();
        }
        if (worker.isFrozen) stayFrozen();
        worker.host.events.flush(false);
      },
      beforeSleep: () => (worker.isTakingOver ? 0 : worker.host.events.flush(true)),
    });
  } catch (error) {
    worker.failed();
    throw error;
  }
}

async function runNode(thread: ThreadStart): Promise<void> {
  const { createNodeIo } = await import('../io/node/index.js');
  const { start, port } = thread;
  const channel = new Channel(thread, () => {});
  const owned = new OwnedDescriptors(start.shared.owned);
  const gauges = viewGauges(start.shared.gauges);
  const signs = setInterval(() => gauges.addSign(start.index, 'turns', 1), SIGN_MS);
  let flushing: NodeJS.Timeout | undefined;
  const flush = (): void => {
    flushing = undefined;
    const waitMs = worker.host.events.flush(true);
    if (waitMs < Number.POSITIVE_INFINITY) flushing = setTimeout(flush, waitMs);
  };
  const worker = createWorker(
    channel,
    start,
    createNodeIo((fd) => owned.remove(fd)),
    {
      onEventsWaiting() {
        flushing ??= setTimeout(flush, 1);
      },
      stop() {
        clearInterval(signs);
        clearTimeout(flushing);
        // The last events are sent in the following turns.
        setImmediate(() => process.exit(0));
      },
    },
  );
  channel.listen();
  worker.host.events.pushAtOnce({ kind: 'started', wakeFd: -1 });
  process.on('uncaughtExceptionMonitor', () => worker.failed());
  port.ref();
}

function createWorker(
  channel: Channel,
  start: WorkerStart,
  io: Io,
  deps: Pick<WorkerDeps, 'stop' | 'onEventsWaiting'>,
): ProxyWorker {
  const { post, ask, sendToPeer, passConnection, readMessages } = channel;
  const worker = new ProxyWorker({ io, start, post, ask, sendToPeer, passConnection, readMessages, ...deps });
  channel.attach(worker);
  if (!hasPriority)
    worker.host.log.warn(
      { worker: start.index },
      'restarted worker cannot take back its priority; set LimitNICE=+0',
    );
  return worker;
}

let hasPriority = true;
function run(thread: ThreadStart): void {
  hasPriority = prioritizeThread(String(thread.start.index));
  if (thread.start.engine === 'native') runNative(thread);
  // Loaded only here: sessions of the process before wait for the native engine.
  else void runNode(thread);
}

const given = workerData as ThreadStart | null;
// A prepared thread gets it later (plane/threads.ts).
if (given === null) {
  parentPort?.once('message', run);
  // The node engine needs none.
  succeeds(loadLibc);
} else run(given);
