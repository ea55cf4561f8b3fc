// A connected TCP or Unix socket in the native loop: what is ready is remembered (epoll is edge-triggered), read through
// one buffer that all streams share, and reported to a listener or to the relay that has taken the stream over.
import type { Endpoint } from '../../../core/addresses/ip.js';
import { keepAliveIdleS, type Stream, type StreamListener } from '../io.js';
import * as c from './libc.js';
import { type Loop, NOT_WATCHED, type Registration, type Task, type Watcher } from './loop.js';
import { readSockaddr } from './sockaddr.js';

export const STREAM_EVENTS = c.EPOLLIN | c.EPOLLPRI | c.EPOLLOUT | c.EPOLLRDHUP | c.EPOLLET;
/** What one recv takes at most; a flow that fills it is bulk, which is moved by splice. */
export const READ_BYTES = 16 * 1024;
/** Time between TCP keepalive probes, in seconds. */
const KEEPALIVE_INTERVAL_S = 30;
/** Number of probes without an answer after which a connection is closed: at most five minutes after the last packet. */
const KEEPALIVE_PROBES = 8;
const NO_LISTENER: StreamListener = { onData() {}, onEnd() {}, onFailed() {} };
/** Maximum of bytes that `write` keeps while the system accepts none; beyond it the peer does not read, and the stream fails. */
const MAX_UNSENT_BYTES = 64 * 1024;

/** A relay that has taken a stream over. */
export interface StreamRelay {
  streamReady(stream: NativeStream, events: number): void;
}

/** The buffer for all reads of a loop. Its content is valid only during the call that gets it. */
export const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
const address = new Uint8Array(c.SOCKADDR_BYTES);

export class NativeStream implements Stream, Watcher, Task {
  listener: StreamListener = NO_LISTENER;
  /** A read may return bytes or the end. */
  isReadable = false;
  /** A write may be accepted. */
  isWritable = true;
  /**
   * A short read has not emptied the socket, so that no further event comes: the peer's FIN waits behind the bytes, or
   * urgent data is among them, in front of which every read stops.
   */
  mayReadShort = false;
  readonly #loop: Loop;
  #fd: number;
  #registration: Registration = NOT_WATCHED;
  /** Null: the system is asked, which is rarely needed. */
  readonly #peer: Endpoint | null;
  readonly #local: Endpoint | null;
  #relay: StreamRelay | null = null;
  #isPaused = true;
  #hasEnded = false;
  #isReading = false;
  #isShutDown = false;
  #unsent: Buffer | null = null;

  /**
   * @param peer known for an accepted connection; null: the system is asked when it is needed
   * @param local known for the connection behind a socket pair; null: the system is asked
   */
  constructor(loop: Loop, fd: number, peer: Endpoint | null, local: Endpoint | null = null) {
    this.#loop = loop;
    this.#fd = fd;
    this.#peer = peer;
    this.#local = local;
  }

  /** Adds the descriptor to the epoll set, unless `registration` says that it is there; false: the system refused, and the stream is closed. */
  register(registration: Registration = this.#loop.add(this.#fd, STREAM_EVENTS, this)): boolean {
    this.#registration = registration;
    if (registration === NOT_WATCHED) this.close();
    return registration !== NOT_WATCHED;
  }

  get fd(): number {
    return this.#fd;
  }

  /** What `write` has kept. */
  get unsent(): Buffer | null {
    return this.#unsent;
  }

  get isClosed(): boolean {
    return this.#fd === -1;
  }

  get peer(): Endpoint {
    return this.#peer ?? this.#endpoint('peer');
  }

  get local(): Endpoint {
    return this.#local ?? this.#endpoint('local');
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.isReadable && !this.#isReading) this.#loop.later(this);
  }

  pause(): void {
    this.#isPaused = true;
  }

  write(bytes: Uint8Array): void {
    if (this.#fd === -1 || this.#isShutDown) return;
    if (this.#unsent !== null) {
      if (this.#unsent.length + bytes.length > MAX_UNSENT_BYTES) this.#failLater('ETIMEDOUT');
      else this.#unsent = Buffer.concat([this.#unsent, bytes]);
      return;
    }
    const sent = this.#loop.libc.send(this.#fd, bytes, 0, bytes.length);
    if (sent === bytes.length) return;
    if (sent >= 0 || this.#loop.libc.errno() === c.EAGAIN) {
      this.isWritable = false;
      this.#unsent = Buffer.from(bytes.subarray(Math.max(0, sent)));
    }
    // Any other failure is reported by an event.
  }

  get isBlocked(): boolean {
    return this.#unsent !== null;
  }

  shutdown(): void {
    if (this.#fd === -1 || this.#isShutDown) return;
    this.#isShutDown = true;
    if (this.#unsent === null) this.#loop.libc.shutdownWrite(this.#fd);
  }

  close(): void {
    if (this.#fd === -1) return;
    const fd = this.#fd;
    this.#unregister(true);
    this.#loop.close(fd);
  }

  /** Closes with RST instead of FIN: the peer learns that the other side was cut off. */
  reset(): void {
    if (this.#fd !== -1) this.#loop.libc.setLinger(this.#fd, 0);
    this.close();
  }

  keepAlive(): void {
    if (this.#fd !== -1) setKeepAlive(this.#loop.libc, this.#fd);
  }

  /** From now on the relay reads and writes. Returns the bytes that `write` has kept unsent; null: none. */
  setRelay(relay: StreamRelay): Buffer | null {
    this.#relay = relay;
    this.listener = NO_LISTENER;
    this.#isPaused = true;
    const unsent = this.#unsent;
    this.#unsent = null;
    return unsent;
  }

  /** Returns the descriptor, open, and closes only this object; -1 when it is closed. */
  detach(): number {
    const fd = this.#fd;
    if (fd === -1) return -1;
    this.#unregister(false);
    this.#loop.disown(fd);
    return fd;
  }

  /** The pending error of the socket (SO_ERROR) as a code. */
  error(): string {
    const errno = this.#fd === -1 ? 0 : this.#loop.libc.getOption(this.#fd, c.SOL_SOCKET, c.SO_ERROR);
    return errno > 0 ? c.codeOf(errno) : 'ECONNRESET';
  }

  ready(events: number): void {
    if (events & (c.EPOLLIN | c.EPOLLRDHUP | c.EPOLLHUP)) this.isReadable = true;
    if (events & (c.EPOLLPRI | c.EPOLLRDHUP | c.EPOLLHUP)) this.mayReadShort = true;
    if (events & (c.EPOLLOUT | c.EPOLLHUP)) this.isWritable = true;
    if (this.#relay !== null) {
      this.#relay.streamReady(this, events);
      return;
    }
    if (events & c.EPOLLERR) {
      // Reads first what the peer sent before it reset the connection, such as the answer to a request that it did not read to the end.
      this.run();
      // The listener may have started a relay meanwhile.
      if (this.#relay === null) this.#fail(this.error());
      else (this.#relay as StreamRelay).streamReady(this, events);
      return;
    }
    if (this.isWritable && this.#unsent !== null) this.#flush(this.#unsent);
    this.run();
  }

  /** Reads and reports what is there. */
  run(): void {
    const { libc } = this.#loop;
    this.#isReading = true;
    while (this.isReadable && !this.#isPaused && this.#relay === null && this.#fd !== -1) {
      const got = libc.recv(this.#fd, readBuffer, READ_BYTES);
      if (got > 0) {
        // A short read has emptied the socket: the next bytes make a new event.
        if (got < READ_BYTES && !this.mayReadShort) this.isReadable = false;
        this.listener.onData(readBuffer.subarray(0, got));
      } else if (got === 0) {
        this.isReadable = false;
        this.#end();
      } else if (libc.errno() === c.EAGAIN) this.isReadable = false;
      else if (libc.errno() !== c.EINTR) this.#fail(c.codeOf(libc.errno()));
    }
    this.#isReading = false;
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.listener.onEnd();
  }

  #flush(unsent: Buffer): void {
    const sent = this.#loop.libc.send(this.#fd, unsent, 0, unsent.length);
    if (sent < 0) {
      this.isWritable = false;
      return;
    }
    this.#unsent = sent === unsent.length ? null : unsent.subarray(sent);
    if (this.#unsent !== null) {
      this.isWritable = false;
      return;
    }
    if (this.#isShutDown) this.#loop.libc.shutdownWrite(this.#fd);
    this.listener.onDrain?.();
  }

  #failLater(code: string): void {
    this.#loop.later({ run: () => this.#fail(code) });
  }

  #fail(code: string): void {
    if (this.#fd === -1) return;
    const { listener } = this;
    this.close();
    listener.onFailed(code);
  }

  #unregister(isClosing: boolean): void {
    if (this.#registration !== NOT_WATCHED) this.#loop.remove(this.#fd, this.#registration, isClosing);
    this.#registration = NOT_WATCHED;
    this.#fd = -1;
    this.#unsent = null;
    this.listener = NO_LISTENER;
    this.isReadable = false;
    this.isWritable = false;
  }

  #endpoint(end: 'peer' | 'local'): Endpoint {
    const { libc } = this.#loop;
    address.fill(0);
    if (end === 'peer') libc.getpeername(this.#fd, address);
    else libc.getsockname(this.#fd, address);
    return readSockaddr(address);
  }
}

/** Turns on TCP keepalive (tcp(7)); connections inherit it from their listening socket. */
export function setKeepAlive(libc: Pick<c.Libc, 'setOption'>, fd: number): void {
  libc.setOption(fd, c.SOL_SOCKET, c.SO_KEEPALIVE, 1);
  libc.setOption(fd, c.IPPROTO_TCP, c.TCP_KEEPIDLE, keepAliveIdleS(fd));
  libc.setOption(fd, c.IPPROTO_TCP, c.TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
  libc.setOption(fd, c.IPPROTO_TCP, c.TCP_KEEPCNT, KEEPALIVE_PROBES);
}
