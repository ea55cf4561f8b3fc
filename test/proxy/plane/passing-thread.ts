// A worker's thread for tests of passing connections to other workers: worker 0 accepts no connections, and exits before it adopts one
// of a player whose name begins with `exit`.
import { workerData } from 'node:worker_threads';
import type { ThreadStart } from '../../../src/proxy/worker/thread.js';
import { ProxyWorker } from '../../../src/proxy/worker/worker.js';

if ((workerData as ThreadStart).start.index === 0) {
  const { receive } = ProxyWorker.prototype;
  ProxyWorker.prototype.receive = function passive(message) {
    if (message.kind === 'listen') return;
    if (message.kind === 'adopt' && Buffer.from(message.connection.bytes).includes('exit')) process.exit(7);
    receive.call(this, message);
  };
}
await import('../../../src/proxy/worker/thread.js');
