// The native engine of Io: Linux, direct system calls, one synchronous loop.
import type { Io } from '../io.js';
import { NativeAttempt } from './connect.js';
import { createNativeDatagrams } from './datagrams.js';
import { AF_INET, AF_INET6, SOCK_DGRAM, SOCKADDR_BYTES } from './libc.js';
import { Acceptor, listenHere } from './listen.js';
import type { Loop } from './loop.js';
import { createPipes } from './pipes.js';
import { NativeRelay, type RelayShared } from './relay.js';
import { readSockaddr, writeSockaddr } from './sockaddr.js';
import { NativeStream } from './stream.js';

/** Any: connecting a UDP socket sends nothing. */
const DISCARD_PORT = 9;

export function createNativeIo(loop: Loop): Io {
  const shared: RelayShared = { loop, pipes: createPipes(loop), smallFlowAt: Number.NEGATIVE_INFINITY };
  return {
    name: 'native',
    now: () => loop.now(),
    timer: (delayMs, callback) => loop.timer(delayMs, callback),
    connect: (to, listener) => new NativeAttempt(loop, to, listener),
    relay(options) {
      const { client, destination } = options;
      if (!(client instanceof NativeStream) || !(destination instanceof NativeStream)) {
        throw new TypeError('the native relay needs streams of the native engine');
      }
      return new NativeRelay(shared, client, destination, options);
    },
    listen: ({ address, port, onConnection }, done) =>
      done(listenHere(loop, { address, port }, onConnection)),
    acceptFrom: (fd, onConnection) => new Acceptor(loop, fd, onConnection),
    adopt(fd) {
      loop.own(fd);
      const stream = new NativeStream(loop, fd, null);
      stream.register();
      return stream;
    },
    detach: (stream) => (stream instanceof NativeStream ? stream.detach() : -1),
    openDatagrams: createNativeDatagrams(loop),
    sourceAddressFor(address, done) {
      done(sourceAddressFor(loop, address));
    },
  };
}

function sourceAddressFor({ libc }: Loop, address: string): string | null {
  const sockaddr = new Uint8Array(SOCKADDR_BYTES);
  const bytes = writeSockaddr(sockaddr, { address, port: DISCARD_PORT });
  const fd = bytes === 0 ? -1 : libc.socket(address.includes(':') ? AF_INET6 : AF_INET, SOCK_DGRAM);
  if (fd < 0) return null;
  const isRouted = libc.connect(fd, sockaddr, bytes) === 0 && libc.getsockname(fd, sockaddr) === 0;
  libc.close(fd);
  return isRouted ? readSockaddr(sockaddr).address : null;
}
