// A worker's thread for tests of limits over all workers: worker 0 accepts no connections, and holds those that it is handed
// until it is sent game rules.
import { workerData } from 'node:worker_threads';
import type { Order } from '../../src/proxy/messages.js';
import type { ThreadStart } from '../../src/proxy/thread.js';
import { ProxyWorker } from '../../src/proxy/worker.js';

if ((workerData as ThreadStart).start.index === 0) {
  const { obey } = ProxyWorker.prototype;
  const held: Order[] = [];
  ProxyWorker.prototype.obey = function holding(order) {
    if (order.kind === 'listen') return;
    if (order.kind === 'adopt') {
      held.push(order);
      return this.log.info({}, 'held');
    }
    obey.call(this, order);
    if (order.kind === 'games') for (const each of held.splice(0)) obey.call(this, each);
  };
}
await import('../../src/proxy/thread.js');
