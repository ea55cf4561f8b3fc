// Connects to a destination in the native loop.
import type { Endpoint } from '../../../core/ip.js';
import type { Attempt, ConnectListener } from '../io.js';
import {
  AF_INET,
  AF_INET6,
  codeOf,
  EINPROGRESS,
  EPOLLERR,
  EPOLLHUP,
  IPPROTO_TCP,
  SO_ERROR,
  SOCK_STREAM,
  SOCKADDR_BYTES,
  SOL_SOCKET,
  TCP_NODELAY,
} from './libc.js';
import { type Loop, NOT_WATCHED, type Registration, type Watcher } from './loop.js';
import { writeSockaddr } from './sockaddr.js';
import { NativeStream, STREAM_EVENTS } from './stream.js';

const sockaddr = new Uint8Array(SOCKADDR_BYTES);

export class NativeAttempt implements Attempt, Watcher {
  readonly #loop: Loop;
  readonly #to: Endpoint;
  readonly #listener: ConnectListener;
  #fd = -1;
  #registration: Registration = NOT_WATCHED;
  #isOver = false;

  constructor(loop: Loop, to: Endpoint, listener: ConnectListener) {
    this.#loop = loop;
    this.#to = to;
    this.#listener = listener;
    const code = this.#start();
    if (code !== null) loop.later({ run: () => this.#fail(code) });
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
  }

  ready(events: number): void {
    if (this.#isOver) return;
    if (events & (EPOLLERR | EPOLLHUP)) {
      const errno = this.#loop.libc.getOption(this.#fd, SOL_SOCKET, SO_ERROR);
      this.#fail(errno > 0 ? codeOf(errno) : 'ECONNRESET');
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

  #start(): string | null {
    const { libc } = this.#loop;
    const bytes = writeSockaddr(sockaddr, this.#to);
    if (bytes === 0) return 'EADDRNOTAVAIL';
    this.#fd = libc.socket(this.#to.address.includes(':') ? AF_INET6 : AF_INET, SOCK_STREAM);
    if (this.#fd < 0) return codeOf(libc.errno());
    this.#loop.own(this.#fd);
    libc.setOption(this.#fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (libc.connect(this.#fd, sockaddr, bytes) !== 0 && libc.errno() !== EINPROGRESS) {
      return codeOf(libc.errno());
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
