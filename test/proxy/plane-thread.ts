// A worker's thread that breaks when a player with one of these names logs in: what plane.ts makes of it is its test.
import { ProxyWorker } from '../../src/proxy/worker.js';

const logIn = ProxyWorker.prototype.logIn;
ProxyWorker.prototype.logIn = function broken(client, username, password) {
  const name = Buffer.from(username).toString();
  if (name.startsWith('throw')) throw new Error('broken on purpose');
  if (name.startsWith('exit')) process.exit(7);
  while (name.startsWith('hang'));
  return logIn.call(this, client, username, password);
};
await import('../../src/proxy/thread.js');
