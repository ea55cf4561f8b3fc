// The node engine: node:net and node:dgram as they are documented. It works on every system, and is kept simple.
import { secure } from '../../tls/client.js';
import type { Io } from '../io.js';
import { openDatagrams, sourceAddressFor } from './datagrams.js';
import { adoptSocket, connect, listen, serve } from './listen.js';
import { relay } from './relay.js';
import { NodeStream } from './stream.js';

/** @param onAdopted called with a descriptor that Node owns and closes from now on */
export function createNodeIo(onAdopted: (fd: number) => void = () => {}): Io {
  return {
    name: 'node',
    now: () => performance.now(),
    timer(delayMs, callback) {
      const timeout = setTimeout(callback, delayMs);
      return { clear: () => clearTimeout(timeout) };
    },
    connect,
    relay,
    secure(stream, tls, { onConnected, onFailed }) {
      if (!(stream instanceof NodeStream)) throw new TypeError('not a stream of the node engine');
      const raw = stream.release();
      let isCancelled = false;
      secure(raw, tls, (failure, secured) => {
        if (isCancelled) return;
        if (failure === null) onConnected(new NodeStream(secured, stream.peer));
        else onFailed(failure);
      });
      return {
        cancel() {
          isCancelled = true;
          raw.destroy();
        },
      };
    },
    listen,
    serve,
    adopt(fd) {
      const stream = adoptSocket(fd);
      onAdopted(fd);
      return stream;
    },
    // Node cannot release a descriptor without closing it.
    detach: () => -1,
    openDatagrams,
    sourceAddressFor,
  };
}
