// The native loop wakes for every message.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadLibc } from '../../../../src/proxy/io/native/libc.js';
import { Loop } from '../../../../src/proxy/io/native/loop.js';
import {
  allocateOwnedDescriptors,
  OwnedDescriptors,
} from '../../../../src/proxy/memory/owned-descriptors.js';

test('a message that comes after a turn has read the messages wakes the loop again', {
  skip: process.platform !== 'linux',
}, (t) => {
  const libc = loadLibc();
  const owned = new OwnedDescriptors(allocateOwnedDescriptors(65_536));
  /** What each epoll_wait found; 0: it has slept to its end. */
  const found: number[] = [];
  const epollWait: typeof libc.epollWait = (...args) => {
    found.push(libc.epollWait(...args));
    return found.at(-1) ?? 0;
  };
  const loop = new Loop({ ...libc, epollWait }, owned);
  t.after(() => owned.closeAll((fd) => libc.close(fd)));
  libc.signalEventFd(loop.wakeFd);
  loop.run({
    turn() {
      if (found.length === 1) libc.signalEventFd(loop.wakeFd);
      else loop.stop();
    },
    beforeSleep: () => Number.POSITIVE_INFINITY,
  });
  assert.deepEqual(found, [1, 1]);
});
