// A worker's thread for tests of limits over all workers: worker 0 accepts no connections, and holds those that other workers pass to
// it until it gets game rules.
import { workerData } from 'node:worker_threads';
import type { WorkerMessage } from '../../../src/proxy/messages.js';
import type { ThreadStart } from '../../../src/proxy/worker/thread.js';
import { ProxyWorker } from '../../../src/proxy/worker/worker.js';

if ((workerData as ThreadStart).start.index === 0) {
  const { receive } = ProxyWorker.prototype;
  const held: WorkerMessage[] = [];
  ProxyWorker.prototype.receive = function holding(message) {
    if (message.kind === 'listen') return;
    if (message.kind === 'adopt') {
      held.push(message);
      return this.host.log.info({}, 'held');
    }
    receive.call(this, message);
    if (message.kind === 'games') for (const each of held.splice(0)) receive.call(this, each);
  };
}
await import('../../../src/proxy/worker/thread.js');
