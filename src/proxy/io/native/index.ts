// The native engine of Io: Linux, direct system calls, one synchronous loop.
import type { Endpoint } from '../../../core/addresses/ip.js';
import type { SecureRequest } from '../../messages.js';
import type { Attempt, ConnectListener, Io } from '../io.js';
import type { LocalEnd } from '../local-end.js';
import { createNativeDatagrams } from './datagrams.js';
import type { RelayShared } from './flow.js';
import * as c from './libc.js';
import { Acceptor, listenHere } from './listen.js';
import { setLocalEnd, setWayOut } from './local-end.js';
import { type Loop, NOT_WATCHED, type Registration, type Watcher } from './loop.js';
import { createPipes } from './pipes.js';
import { NativeRelay } from './relay.js';
import { Securing } from './secure.js';
import { readSockaddr, writeSockaddr } from './sockaddr.js';
import { NativeStream, STREAM_EVENTS } from './stream.js';

/** Any: connecting a UDP socket sends nothing. */
const DISCARD_PORT = 9;

/** @param secure gives a connection to the thread for TLS towards upstream proxies */
export function createNativeIo(loop: Loop, secure: (request: SecureRequest) => void): Io {
  const shared: RelayShared = { loop, pipes: createPipes(loop), smallFlowAt: Number.NEGATIVE_INFINITY };
  return {
    name: 'native',
    now: () => loop.now(),
    timer: (delayMs, callback) => loop.timer(delayMs, callback),
    connect: (to, listener, end) => new NativeAttempt(loop, to, listener, end),
    relay(options) {
      const { client, destination } = options;
      if (!(client instanceof NativeStream) || !(destination instanceof NativeStream)) {
        throw new TypeError('the native relay needs streams of the native engine');
      }
      return new NativeRelay(shared, client, destination, options);
    },
    secure(stream, tls, listener) {
      if (!(stream instanceof NativeStream)) throw new TypeError('not a stream of the native engine');
      return new Securing(loop, stream, tls, listener, secure);
    },
    listen: (options, done) => done(listenHere(loop, options)),
    serve({ fd, host, port }, onConnection, done) {
      if (fd === null) throw new Error('the native engine is given its listening sockets');
      const acceptor = new Acceptor(loop, fd, onConnection);
      done({ ok: true, local: { address: host, port }, close: () => acceptor.close() });
    },
    adopt(fd) {
      loop.own(fd);
      const stream = new NativeStream(loop, fd, null);
      stream.register();
      return stream;
    },
    detach: (stream) => (stream instanceof NativeStream ? stream.detach() : -1),
    handOver(stream) {
      if (!(stream instanceof NativeStream)) throw new TypeError('not a stream of the native engine');
      return { descriptors: [stream.fd], state: stream.unsent };
    },
    openDatagrams: createNativeDatagrams(loop),
    sourceAddressFor(address, done, end) {
      done(sourceAddressFor(loop, address, end));
    },
  };
}

function sourceAddressFor({ libc }: Loop, address: string, end: LocalEnd | undefined): string | null {
  const sockaddr = new Uint8Array(c.SOCKADDR_BYTES);
  const bytes = writeSockaddr(sockaddr, { address, port: DISCARD_PORT });
  const fd = bytes === 0 ? -1 : libc.socket(address.includes(':') ? c.AF_INET6 : c.AF_INET, c.SOCK_DGRAM);
  if (fd < 0) return null;
  const isBound = end === undefined || setWayOut(libc, fd, end) === null;
  const isRouted = isBound && libc.connect(fd, sockaddr, bytes) === 0 && libc.getsockname(fd, sockaddr) === 0;
  libc.close(fd);
  return isRouted ? readSockaddr(sockaddr).address : null;
}

const sockaddr = new Uint8Array(c.SOCKADDR_BYTES);

class NativeAttempt implements Attempt, Watcher {
  readonly #loop: Loop;
  readonly #to: Endpoint;
  readonly #listener: ConnectListener;
  #fd = -1;
  #registration: Registration = NOT_WATCHED;
  #isOver = false;

  constructor(loop: Loop, to: Endpoint, listener: ConnectListener, end: LocalEnd | undefined) {
    this.#loop = loop;
    this.#to = to;
    this.#listener = listener;
    const code = this.#start(end);
    if (code !== null) loop.later({ run: () => this.#fail(code) });
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
  }

  ready(events: number): void {
    if (this.#isOver) return;
    if (events & (c.EPOLLERR | c.EPOLLHUP)) {
      const errno = this.#loop.libc.getOption(this.#fd, c.SOL_SOCKET, c.SO_ERROR);
      this.#fail(errno > 0 ? c.codeOf(errno) : 'ECONNRESET');
      return;
    }
    this.#isOver = true;
    const stream = new NativeStream(this.#loop, this.#fd, null);
    // The stream takes over the registration, and these events are its first.
    this.#loop.rewatch(this.#registration, stream);
    stream.register(this.#registration);
    this.#fd = -1;
    this.#registration = NOT_WATCHED;
    stream.ready(events);
    this.#listener.onConnected(stream);
  }

  #start(end: LocalEnd | undefined): string | null {
    const { libc } = this.#loop;
    const bytes = writeSockaddr(sockaddr, this.#to);
    if (bytes === 0) return 'EADDRNOTAVAIL';
    this.#fd = libc.socket(this.#to.address.includes(':') ? c.AF_INET6 : c.AF_INET, c.SOCK_STREAM);
    if (this.#fd < 0) return c.codeOf(libc.errno());
    this.#loop.own(this.#fd);
    libc.setOption(this.#fd, c.IPPROTO_TCP, c.TCP_NODELAY, 1);
    const code = end === undefined ? null : setLocalEnd(libc, this.#fd, end);
    if (code !== null) return code;
    if (libc.connect(this.#fd, sockaddr, bytes) !== 0 && libc.errno() !== c.EINPROGRESS) {
      return c.codeOf(libc.errno());
    }
    this.#registration = this.#loop.add(this.#fd, STREAM_EVENTS, this);
    return this.#registration === NOT_WATCHED ? 'ENOMEM' : null;
  }

  #fail(code: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
    this.#listener.onFailed(code);
  }

  #release(): void {
    if (this.#fd === -1) return;
    if (this.#registration !== NOT_WATCHED) this.#loop.remove(this.#fd, this.#registration);
    this.#loop.close(this.#fd);
    this.#registration = NOT_WATCHED;
    this.#fd = -1;
  }
}
