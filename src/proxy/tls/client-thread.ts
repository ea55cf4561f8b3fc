// The thread for TLS towards upstream proxies: native workers give it their connections, and relay through one end of a Unix socket pair
// each. It writes one line to the other end, `ok` or why the handshake has failed, and then relays.
import { Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { SECURED } from '../io/native/secure.js';
import { setKeepAlive } from '../io/node/stream.js';
import type { SecureRequest } from '../messages.js';
import { prioritizeThread } from '../thread-priority.js';
import { secure } from './client.js';
import { join } from './join.js';

const open = (fd: number): Socket => new Socket({ fd, allowHalfOpen: true, readable: true, writable: true });

function serve({ outside, inside: end, tls }: SecureRequest): void {
  const raw = open(outside);
  // The worker can only ask its end of the pair.
  setKeepAlive(raw);
  const inside = open(end);
  const cancel = (): void => void raw.destroy();
  // The worker sends nothing before the line, and closes its end when it gives up.
  inside.on('error', cancel).once('end', cancel).resume();
  secure(raw, tls, (failure, secured) => {
    inside.off('end', cancel).pause();
    if (failure !== null) return void inside.end(`${failure}\n`, () => inside.destroy());
    inside.write(`${SECURED}\n`);
    join(secured, inside);
  });
}

prioritizeThread('tls');
parentPort?.on('message', serve);
