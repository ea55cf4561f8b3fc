// The relay worker's thread: sleeps in epoll_wait, obeys the main thread's orders, and moves bytes in between.
// It never returns to an event loop of its own: what it has to say goes through shared memory, and a message wakes
// the main thread. Small flows are served at once, bulk flows one visit at a time with a look at epoll in between.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { DatagramOrder } from './datagram-mail.js';
import { createDatagramPump } from './datagrams.js';
import { EINTR, EPOLL_CTL_ADD, EPOLL_EVENT, EPOLLIN, loadLibc } from './libc.js';
import { createPipes } from './pipes.js';
import { createPump } from './pump.js';
import { type Buffers, type HandedBack, Order, SLOTS, viewShared } from './shared.js';

const EVENTS = 256;
/** The side that stands for the eventfd; no session has it. */
const WAKE = -1;
/** Sides of TCP sessions come first, then those of UDP associations. */
const FIRST_DATAGRAM_SIDE = 2 * SLOTS;

function run(): void {
  const shared = viewShared(workerData as Buffers);
  const libc = loadLibc();
  const epoll = must('epoll_create1', libc.epollCreate());
  const wake = must('eventfd', libc.eventFd());
  shared.descriptors.set([epoll, wake]);
  const registration = new Int32Array(EPOLL_EVENT.words);
  registration[0] = EPOLLIN;
  registration[EPOLL_EVENT.data] = WAKE;
  must('epoll_ctl', libc.epollCtl(epoll, EPOLL_CTL_ADD, wake, registration));
  const pipes = createPipes(libc, shared.descriptors.subarray(2));
  const report = (slot: number, generation: number, outcome: number): void => {
    if (shared.report(slot, generation, outcome)) tellMain();
  };
  const handBack = (slot: number, generation: number, up: Uint8Array, down: Uint8Array): void => {
    parentPort?.postMessage({ kind: 'handed-back', slot, generation, up, down } satisfies HandedBack);
  };
  const pump = createPump(libc, epoll, pipes, shared, report, handBack);
  const datagrams = createDatagramPump(libc, epoll, FIRST_DATAGRAM_SIDE, shared, (note, data) => {
    parentPort?.postMessage(note, data ? [data] : []);
  });
  tellMain();

  const readMail = (): void => {
    shared.mailSeen();
    if (!parentPort) return;
    for (let mail = receiveMessageOnPort(parentPort); mail; mail = receiveMessageOnPort(parentPort)) {
      datagrams.obey(mail.message as DatagramOrder);
    }
  };
  const events = new Int32Array(EVENTS * EPOLL_EVENT.words);
  let isStopped = false;
  const obey = (
    kind: number,
    slot: number,
    generation: number,
    client: number,
    destination: number,
    done: number,
  ) => {
    if (kind === Order.take) pump.take(slot, generation, client, destination, done);
    else if (kind === Order.release) pump.release(slot, generation);
    else if (kind === Order.handBack) pump.handBack(slot, generation);
    else if (kind === Order.mail) readMail();
    else if (kind === Order.stop) isStopped = true;
    else throw new Error(`unknown order ${kind}`);
  };
  while (!isStopped) {
    const mayBlock = !pump.visitBulk() && shared.maySleep();
    const count = libc.epollWait(epoll, events, EVENTS, mayBlock ? -1 : 0);
    if (mayBlock) shared.awake();
    if (count < 0 && libc.errno() !== EINTR) throw new Error(`epoll_wait failed, errno ${libc.errno()}`);
    for (let at = 0; at < count * EPOLL_EVENT.words; at += EPOLL_EVENT.words) {
      const side = events[at + EPOLL_EVENT.data] ?? WAKE;
      const generation = events[at + EPOLL_EVENT.data + 1] ?? 0;
      if (side === WAKE) libc.drainEventFd(wake);
      else if (side >= FIRST_DATAGRAM_SIDE) datagrams.event(side - FIRST_DATAGRAM_SIDE, generation);
      else pump.event(side, generation, events[at] ?? 0);
    }
    shared.takeOrders(obey);
  }

  function must(call: string, result: number): number {
    if (result < 0) throw new Error(`${call} failed, errno ${libc.errno()}`);
    return result;
  }
}

function tellMain(): void {
  parentPort?.postMessage(0);
}

run();
