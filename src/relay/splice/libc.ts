// The only file that calls into libc. Each call says what is asked of it and how it answers.
// A call that fails returns -1 and leaves its reason in `errno()`, to be read before any other call.
import { createRequire } from 'node:module';

/** errno values of Linux that are told apart here; the same on every architecture Node runs on. */
export const EINTR = 4;
export const EAGAIN = 11;
export const EPIPE = 32;
export const ENOTCONN = 107;
export const ECONNABORTED = 103;
export const ECONNRESET = 104;
export const ETIMEDOUT = 110;
export const ENETUNREACH = 101;
export const ENETDOWN = 100;
export const EHOSTUNREACH = 113;

// <sys/epoll.h>
export const EPOLLIN = 0x001;
export const EPOLLOUT = 0x004;
export const EPOLLERR = 0x008;
export const EPOLLHUP = 0x010;
export const EPOLLRDHUP = 0x2000;
export const EPOLLET = 1 << 31;
export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;

// <fcntl.h>, <sys/eventfd.h>, <sys/socket.h>
const CLOEXEC = 0o2000000;
const NONBLOCK = 0o4000;
const F_SETPIPE_SZ = 1031;
const F_GETPIPE_SZ = 1032;
const SPLICE_F_MOVE = 1;
const SPLICE_F_NONBLOCK = 2;
const SHUT_WR = 1;
const MSG_PEEK = 0x2;
const MSG_TRUNC = 0x20;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;

/**
 * `struct epoll_event` in 32-bit words: events at 0, the 64-bit data at `data`, `words` in all.
 * It is packed on x86-64 alone; everywhere else the data is aligned to 8 bytes.
 */
export const EPOLL_EVENT = process.arch === 'x64' ? { words: 3, data: 1 } : { words: 4, data: 2 };

export interface Libc {
  /** errno of the last failed call of this thread. */
  errno(): number;
  /** A new epoll set. */
  epollCreate(): number;
  /** Adds (with `event`, one epoll_event) or removes `fd`. ADD fails with EEXIST when it is already in the set. */
  epollCtl(epoll: number, operation: number, fd: number, event: Int32Array): number;
  /** Waits `timeoutMs` (-1: for ever) and fills in at most `most` events; returns how many. */
  epollWait(epoll: number, events: Int32Array, most: number, timeoutMs: number): number;
  /** A counter that is readable once something has been written to it; non-blocking. */
  eventFd(): number;
  /** Empties the counter. */
  drainEventFd(fd: number): void;
  /**
   * A non-blocking pipe; `ends` receives its reading and its writing end. Returns its size: `bytes`, or less when
   * the user has too many pipe pages already (/proc/sys/fs/pipe-user-pages-soft); -1 when there is no pipe.
   */
  pipe(ends: Int32Array, bytes: number): number;
  /** Socket to pipe: moves what is there, at most `bytes`, without copying. 0 is the end; EAGAIN: nothing there, or the pipe full. */
  spliceIn(socket: number, pipe: number, bytes: number): number;
  /** Pipe to socket: returns what the socket took. EAGAIN: it takes none. */
  spliceOut(pipe: number, socket: number, bytes: number): number;
  /** Takes what a pipe holds, at most as much as fits. */
  read(pipe: number, into: Uint8Array): number;
  /** Copies waiting bytes and leaves them where they are; 0 is the end. */
  peek(socket: number, into: Uint8Array): number;
  /** Takes `bytes` away, unread; they are known to be there. */
  discard(socket: number, bytes: number): number;
  /** Sends at most `bytes` of `from`; never raises SIGPIPE. */
  send(socket: number, from: Uint8Array, bytes: number): number;
  /** Sends FIN behind what has been written. */
  shutdownWrite(socket: number): number;
  close(fd: number): number;
  /** Receives at most `most` datagrams into `headers` (struct mmsghdr); returns how many; EAGAIN: none is there. */
  receiveMany(socket: number, headers: Uint32Array, most: number): number;
  /** Sends the first `count` datagrams of `headers`; returns how many, and fails only when it is not even the first. */
  sendMany(socket: number, headers: Uint32Array, count: number): number;
  /** Memory that stays where it is until the process ends, and its address. */
  allocate(bytes: number): { memory: ArrayBuffer; address: number };
}

/**
 * Finds libc's functions in this process through koffi, whichever libc Node was linked with. Throws when koffi is
 * not installed, has no build for this platform, or a function is missing (splice and epoll are Linux alone).
 */
export function loadLibc(): Libc {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const library = koffi.load(null);
  const epollCreate1 = library.func('int epoll_create1(int flags)');
  const epollCtl = library.func('int epoll_ctl(int epoll, int op, int fd, void *event)');
  const epollWait = library.func('int epoll_wait(int epoll, void *events, int most, int timeout)');
  const eventfd = library.func('int eventfd(unsigned int initial, int flags)');
  const read = library.func('intptr_t read(int fd, void *into, size_t bytes)');
  const pipe2 = library.func('int pipe2(void *ends, int flags)');
  const fcntl = library.func('int fcntl(int fd, int command, int argument)');
  // Offsets are null pointers: neither sockets nor pipes have one.
  const splice = library.func(
    'intptr_t splice(int from, intptr_t, int to, intptr_t, size_t bytes, unsigned int flags)',
  );
  const recv = library.func('intptr_t recv(int socket, void *into, size_t bytes, int flags)');
  const send = library.func('intptr_t send(int socket, void *from, size_t bytes, int flags)');
  const shutdown = library.func('int shutdown(int socket, int how)');
  const close = library.func('int close(int fd)');
  const recvmmsg = library.func(
    'int recvmmsg(int socket, void *headers, unsigned int most, int flags, void *timeout)',
  );
  const sendmmsg = library.func('int sendmmsg(int socket, void *headers, unsigned int count, int flags)');
  const counter = new Uint8Array(8);
  return {
    errno: () => koffi.errno(),
    epollCreate: () => epollCreate1(CLOEXEC),
    epollCtl: (epoll, operation, fd, event) => epollCtl(epoll, operation, fd, event),
    epollWait: (epoll, events, most, timeoutMs) => epollWait(epoll, events, most, timeoutMs),
    eventFd: () => eventfd(0, CLOEXEC | NONBLOCK),
    drainEventFd: (fd) => void read(fd, counter, 8),
    pipe(ends, bytes) {
      if (pipe2(ends, CLOEXEC | NONBLOCK) !== 0) return -1;
      const end = ends[1] ?? -1;
      const size = fcntl(end, F_SETPIPE_SZ, bytes);
      return size >= 0 ? size : fcntl(end, F_GETPIPE_SZ, 0);
    },
    spliceIn: (socket, pipe, bytes) => splice(socket, 0, pipe, 0, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK),
    spliceOut: (pipe, socket, bytes) => splice(pipe, 0, socket, 0, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK),
    read: (pipe, into) => read(pipe, into, into.length),
    peek: (socket, into) => recv(socket, into, into.length, MSG_PEEK | MSG_DONTWAIT),
    discard: (socket, bytes) => recv(socket, null, bytes, MSG_TRUNC | MSG_DONTWAIT),
    send: (socket, from, bytes) => send(socket, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL),
    shutdownWrite: (socket) => shutdown(socket, SHUT_WR),
    close: (fd) => close(fd),
    receiveMany: (socket, headers, most) => recvmmsg(socket, headers, most, MSG_DONTWAIT, null),
    sendMany: (socket, headers, count) => sendmmsg(socket, headers, count, MSG_DONTWAIT | MSG_NOSIGNAL),
    allocate(bytes) {
      const pointer = koffi.alloc('uint8_t', bytes);
      return { memory: koffi.view(pointer, bytes), address: Number(koffi.address(pointer)) };
    },
  };
}
