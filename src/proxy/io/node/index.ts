// The node driver: node:net and node:dgram as they are documented. It works on every system, and is kept simple.
import type { Io } from '../io.js';
import { sourceAddressFor } from './datagram-socket.js';
import { openDatagrams } from './datagrams.js';
import { acceptFrom, adopt, connect, listen } from './listen.js';
import { relay } from './relay.js';

export function createNodeIo(): Io {
  return {
    name: 'node',
    now: () => performance.now(),
    timer(delayMs, callback) {
      const timeout = setTimeout(callback, delayMs);
      return { clear: () => clearTimeout(timeout) };
    },
    connect,
    relay,
    listen,
    acceptFrom,
    adopt,
    // Node offers no way to let go of a descriptor.
    detach: () => -1,
    openDatagrams,
    sourceAddressFor,
  };
}
