// A worker's thread that breaks when a player with one of these names logs in, for the tests of plane.ts.
import { Logins } from '../../../src/proxy/connection/logins.js';
import { loadLibc } from '../../../src/proxy/io/native/libc.js';

const BLOCK_MS = 10_000;
const never = new Int32Array(new SharedArrayBuffer(4));
const libc = loadLibc();
const logIn = Logins.prototype.logIn;
Logins.prototype.logIn = function broken(client, username, password) {
  const name = Buffer.from(username).toString();
  if (name.startsWith('throw')) throw new Error('broken on purpose');
  if (name.startsWith('exit')) process.exit(7);
  // The loop rests between its turns, so that it takes no processor from others.
  while (name.startsWith('hang')) Atomics.wait(never, 0, 0, 5);
  // A system call that does not return until its timeout.
  if (name.startsWith('block')) libc.epollWait(libc.epollCreate(), new Int32Array(8), 1, BLOCK_MS);
  return logIn.call(this, client, username, password);
};
await import('../../../src/proxy/worker/thread.js');
