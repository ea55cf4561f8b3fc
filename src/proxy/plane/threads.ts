// The threads of workers. After a restart sessions wait for the first one, so it may be started before it is known what it works with: it
// loads its program while the main thread loads the rest.
import { Worker } from 'node:worker_threads';
import { threadUrl } from '../../program.js';
import { preparePriorities } from '../thread-priority.js';
import type { ThreadStart } from '../worker/thread.js';

/**
 * Size of the young generation of a worker's heap, in MiB. With 6, collecting it is 8 % of a connection's work; with 24, an idle session
 * costs more memory, and a collection in which all survives takes 9 ms in place of 4.
 */
const YOUNG_GENERATION_MB = 12;

let prepared: Worker | null = null;

/** Starts a thread for `provideThread`. It does not keep the process running. @param nice as of `preparePriorities` */
export function prepareThread(nice?: number): Worker {
  preparePriorities(nice);
  const thread = newThread(threadUrl('proxy/worker/thread'), 0, null);
  thread.unref();
  return thread;
}

/** The first worker will have this thread. */
export function provideThread(thread: Worker | null): void {
  prepared = thread;
}

/** Returns the thread of a worker, which works with `start` from now on. */
export function startThread(url: URL, start: ThreadStart): Worker {
  const thread = prepared;
  prepared = null;
  if (thread === null) return newThread(url, start.start.index, start);
  thread.ref();
  thread.postMessage(start, [start.port]);
  return thread;
}

const newThread = (url: URL, index: number, start: ThreadStart | null): Worker =>
  new Worker(url, {
    workerData: start,
    transferList: start === null ? [] : [start.port],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    name: `proxy-${index}`,
    // OwnedDescriptors closes the descriptors of a dead thread. If Node closed them too, it could close a descriptor that
    // another worker has opened under the same number meanwhile.
    trackUnmanagedFds: false,
  });
