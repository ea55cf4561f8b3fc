// Runs a driver in its own thread for a test, because the native engine never returns to Node's event loop.
import assert from 'node:assert/strict';
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { allocateOwnedDescriptors, OwnedDescriptors } from '../../../src/proxy/memory/owned-descriptors.js';
import { type Call, createObjects, type Report } from './driver-objects.js';

export interface DriverWorkerData {
  readonly engine: 'native' | 'node';
  readonly calls: MessagePort;
  readonly counts: SharedArrayBuffer;
}

const { engine, calls, counts } = workerData as DriverWorkerData;
const report = (message: Report): void => calls.postMessage(message);

if (engine === 'node') {
  const { createNodeIo } = await import('../../../src/proxy/io/node/index.js');
  const objects = createObjects(createNodeIo(), new Float64Array(counts), report);
  calls.on('message', (message: Call | 'stop') => {
    if (message === 'stop') calls.close();
    else objects.execute(message);
  });
  calls.postMessage({ wakeFd: -1 });
} else {
  const { createNativeIo } = await import('../../../src/proxy/io/native/index.js');
  const { loadLibc } = await import('../../../src/proxy/io/native/libc.js');
  const { Loop } = await import('../../../src/proxy/io/native/loop.js');
  const owned = new OwnedDescriptors(allocateOwnedDescriptors(65_536));
  const loop = new Loop(loadLibc(), owned);
  const objects = createObjects(
    createNativeIo(loop, () => assert.fail('no stream gets TLS')),
    new Float64Array(counts),
    report,
  );
  calls.postMessage({ wakeFd: loop.wakeFd });
  loop.run({
    turn() {
      for (let next = receiveMessageOnPort(calls); next; next = receiveMessageOnPort(calls)) {
        const message = next.message as Call | 'stop';
        if (message === 'stop') loop.stop();
        else objects.execute(message);
      }
    },
    beforeSleep: () => Number.POSITIVE_INFINITY,
  });
  // A worker closes its own descriptors when it ends.
  owned.closeAll((fd) => void loop.libc.close(fd));
  calls.close();
}
