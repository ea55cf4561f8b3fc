// The only file that calls into libc: every symbol and every constant of the system that Pulsegate uses.
// A call that fails returns -1; read `errno()` before any other call. Every descriptor that is opened here is non-blocking and
// close-on-exec. Linux on x64 and arm64.
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { tryOr } from '../../../core/errors.js';

/** errno values, the same on every architecture that Node supports. */
export const EINTR = 4;
export const EAGAIN = 11;
export const EIO = 5;
export const EINVAL = 22;
export const ENFILE = 23;
export const EMFILE = 24;
export const EMSGSIZE = 90;
export const EINPROGRESS = 115;
export const ECONNABORTED = 103;

// <sys/epoll.h>
export const EPOLLIN = 0x001;
export const EPOLLPRI = 0x002;
export const EPOLLOUT = 0x004;
export const EPOLLERR = 0x008;
export const EPOLLHUP = 0x010;
export const EPOLLRDHUP = 0x2000;
export const EPOLLEXCLUSIVE = 1 << 28;
export const EPOLLET = 1 << 31;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;

// <sys/prctl.h>
const PR_SET_TIMERSLACK = 29;
const TIMER_SLACK_NS = 1_000;

// <fcntl.h>, <sys/socket.h>, <netinet/in.h>, <netinet/tcp.h>, <netinet/udp.h>
const CLOEXEC = 0o2000000;
const NONBLOCK = 0o4000;
const F_SETFD = 2;
const F_GETFL = 3;
const F_SETFL = 4;
const F_DUPFD_CLOEXEC = 1030;
const F_SETPIPE_SZ = 1031;
const F_GETPIPE_SZ = 1032;
const SPLICE_F_MOVE = 1;
const SPLICE_F_NONBLOCK = 2;
const SHUT_WR = 1;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const MSG_CMSG_CLOEXEC = 0x40000000;
const MFD_CLOEXEC = 1;
export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
const SOCK_SEQPACKET = 5;
export const SOL_SOCKET = 1;
export const SCM_RIGHTS = 1;
export const SO_SNDBUF = 7;
export const SO_REUSEADDR = 2;
export const SO_ERROR = 4;
export const SO_RCVBUF = 8;
export const SO_KEEPALIVE = 9;
const SO_LINGER = 13;
const SO_BINDTODEVICE = 25;
export const SO_MARK = 36;
export const SO_ACCEPTCONN = 30;
export const IPPROTO_TCP = 6;
export const TCP_NODELAY = 1;
export const TCP_KEEPIDLE = 4;
export const TCP_KEEPINTVL = 5;
export const TCP_KEEPCNT = 6;
export const IPPROTO_IP = 0;
export const IP_BIND_ADDRESS_NO_PORT = 24;
export const IPPROTO_IPV6 = 41;
export const IPV6_V6ONLY = 26;
export const IPV6_FREEBIND = 78;
export const SOL_UDP = 17;
export const UDP_SEGMENT = 103;

/**
 * `struct epoll_event` in 32-bit words: events at 0, the 64-bit data at `data`, `words` in all.
 * It is packed on x86-64 alone; everywhere else the data is aligned to 8 bytes.
 */
export const EPOLL_EVENT = process.arch === 'x64' ? { words: 3, data: 1 } : { words: 4, data: 2 };

/** `struct sockaddr_in6` is the longest that is used for addresses of the network; see sockaddr.ts. */
export const SOCKADDR_BYTES = 28;

export type Libc = ReturnType<typeof findLibc>;
type Call<Arguments extends unknown[]> = (...given: Arguments) => number;

let found: Libc | undefined;

/**
 * Finds the functions of libc in this process through koffi, whichever libc Node was linked with; once in a thread. Throws when koffi
 * is not installed or has no build for this platform, or a function is missing (only Linux has splice and epoll).
 */
export function loadLibc(): Libc {
  found ??= findLibc();
  return found;
}

function findLibc() {
  if (process.platform !== 'linux') throw new Error(`no native engine for ${process.platform}`);
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const library = koffi.load(null);
  const find = (prototype: string): Call<unknown[]> => library.func(prototype);
  const epollCreate1 = find('int epoll_create1(int flags)');
  const epollCtl = find('int epoll_ctl(int epoll, int op, int fd, void *event)');
  const close = find('int close(int fd)') as Call<[fd: number]>;
  const usleep = find('int usleep(uint32_t us)');
  const prctl = find(
    'int prctl(int option, unsigned long value, unsigned long, unsigned long, unsigned long)',
  );
  const eventfd = find('int eventfd(unsigned int initial, int flags)');
  const read = find('intptr_t read(int fd, void *into, size_t bytes)');
  const write = find('intptr_t write(int fd, void *from, size_t bytes)');
  const socket = find('int socket(int family, int type, int protocol)');
  const accept4 = find('int accept4(int fd, void *address, void *bytes, int flags)');
  const getsockname = find('int getsockname(int fd, void *address, void *bytes)');
  const getpeername = find('int getpeername(int fd, void *address, void *bytes)');
  const setsockopt = find('int setsockopt(int fd, int level, int name, void *value, uint32_t bytes)');
  const getsockopt = find('int getsockopt(int fd, int level, int name, void *value, void *bytes)');
  const recv = find('intptr_t recv(int socket, void *into, size_t bytes, int flags)');
  const send = find('intptr_t send(int socket, void *from, size_t bytes, int flags)');
  const sendto = find(
    'intptr_t sendto(int socket, void *from, size_t bytes, int flags, void *address, uint32_t addressBytes)',
  );
  const pipe2 = find('int pipe2(void *ends, int flags)');
  const fcntl = find('int fcntl(int fd, int command, int argument)');
  const socketpair = find('int socketpair(int family, int type, int protocol, void *ends)');
  const memfdCreate = find('int memfd_create(const char *name, unsigned int flags)');
  const execve = find('int execve(const char *path, const char **args, const char **environment)');
  // Offsets are null pointers: neither sockets nor pipes have one.
  const splice = find(
    'intptr_t splice(int from, intptr_t, int to, intptr_t, size_t bytes, unsigned int flags)',
  );
  const shutdown = find('int shutdown(int socket, int how)');
  // Only glibc has it, and only glibc needs it.
  const mallocTrim = tryOr(null, () => find('int malloc_trim(size_t pad)'));
  const recvmmsg = find(
    'int recvmmsg(int socket, void *headers, unsigned int most, int flags, void *timeout)',
  );
  const sendmmsg = find('int sendmmsg(int socket, void *headers, unsigned int count, int flags)');

  const increment = new Uint8Array(new BigUint64Array([1n]).buffer);
  const event = new Int32Array(EPOLL_EVENT.words);
  const value = new Int32Array(1);
  const length = new Uint32Array(1);
  const linger = new Int32Array(2);
  let hasPreciseTimers = false;
  const withLength = (call: typeof getsockname, fd: number, into: Uint8Array): number => {
    length[0] = into.length;
    return call(fd, into, length);
  };
  return {
    /** errno of the last failed call of this thread. */
    errno: (): number => koffi.errno(),
    /** A new epoll set. */
    epollCreate: () => epollCreate1(CLOEXEC),
    /** Adds `fd` for `events`. Each event carries `data` and `generation`. */
    epollAdd(epoll: number, fd: number, events: number, data: number, generation: number): number {
      [event[0], event[EPOLL_EVENT.data], event[EPOLL_EVENT.data + 1]] = [events, data, generation];
      return epollCtl(epoll, EPOLL_CTL_ADD, fd, event);
    },
    epollRemove: (epoll: number, fd: number) => epollCtl(epoll, EPOLL_CTL_DEL, fd, event),
    /** Waits `timeoutMs` (-1: forever) and writes at most `most` events; returns their number. */
    epollWait: find('int epoll_wait(int epoll, void *events, int most, int timeout)') as Call<
      [epoll: number, events: Int32Array, most: number, timeoutMs: number]
    >,
    /** Sleeps about `us` µs. The first call makes this thread's timers precise, which otherwise are late by up to 50 µs (prctl(2)). */
    rest(us: number): void {
      if (!hasPreciseTimers) prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
      hasPreciseTimers = true;
      usleep(us);
    },
    /** Gives memory that malloc keeps for later back to the system. */
    trimMemory: (): void => void mallocTrim?.(0),
    /** A counter that is readable once something has been written to it. */
    eventFd: () => eventfd(0, CLOEXEC | NONBLOCK),
    /** Makes an eventfd readable. */
    signalEventFd: (fd: number): void => void write(fd, increment, 8),
    socket: (family: number, type: number) => socket(family, type | CLOEXEC | NONBLOCK, 0),
    /** `address`: a struct sockaddr of `bytes` bytes. */
    bind: find('int bind(int fd, void *address, uint32_t bytes)') as Call<
      [fd: number, address: Uint8Array, bytes: number]
    >,
    listen: find('int listen(int fd, int backlog)') as Call<[fd: number, backlog: number]>,
    /** A new connection; its peer's address is written to `peer`, SOCKADDR_BYTES long. EAGAIN: none waits. */
    accept(fd: number, peer: Uint8Array): number {
      length[0] = peer.length;
      return accept4(fd, peer, length, CLOEXEC | NONBLOCK);
    },
    /** EINPROGRESS is the usual result of a TCP socket. */
    connect: find('int connect(int fd, void *address, uint32_t bytes)') as Call<
      [fd: number, address: Uint8Array, bytes: number]
    >,
    /** Writes the local address to `into`, SOCKADDR_BYTES long. */
    getsockname: (fd: number, into: Uint8Array) => withLength(getsockname, fd, into),
    getpeername: (fd: number, into: Uint8Array) => withLength(getpeername, fd, into),
    setOption(fd: number, level: number, option: number, to: number): number {
      value[0] = to;
      return setsockopt(fd, level, option, value, 4);
    },
    /** Binds a socket to a network interface (SO_BINDTODEVICE). ENODEV: there is none of this name. */
    bindToDevice(fd: number, name: string): number {
      const bytes = Buffer.from(`${name}\0`);
      return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, bytes, bytes.length);
    },
    /** How long `close` may wait for unsent bytes, in seconds; 0: it sends RST and drops them (SO_LINGER). */
    setLinger(fd: number, seconds: number): number {
      linger.set([1, seconds]);
      return setsockopt(fd, SOL_SOCKET, SO_LINGER, linger, 8);
    },
    /** The value of an integer option; -1 when it cannot be read. */
    getOption(fd: number, level: number, option: number): number {
      length[0] = 4;
      return getsockopt(fd, level, option, value, length) === 0 ? (value[0] ?? -1) : -1;
    },
    /** Reads at most `bytes` from a socket; 0: the peer has sent FIN; EAGAIN: no bytes wait. */
    recv: (fd: number, into: Uint8Array, bytes: number) => recv(fd, into, bytes, MSG_DONTWAIT),
    /** Sends the bytes of `from` from `at` on; never raises SIGPIPE. EAGAIN: the socket accepts none. */
    send: (fd: number, from: Uint8Array, at: number, bytes: number) =>
      send(fd, at === 0 ? from : from.subarray(at), bytes, MSG_DONTWAIT | MSG_NOSIGNAL),
    /** Sends one datagram to a struct sockaddr of `addressBytes` bytes. */
    sendTo: (fd: number, from: Uint8Array, bytes: number, address: Uint8Array, addressBytes: number) =>
      sendto(fd, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL, address, addressBytes),
    /**
     * A pipe; `ends` receives its reading and its writing end. Returns its size: `bytes`, or less when the user has too
     * many pipe pages already (/proc/sys/fs/pipe-user-pages-soft); -1 when there is no pipe.
     */
    pipe(ends: Int32Array, bytes: number): number {
      if (pipe2(ends, CLOEXEC | NONBLOCK) !== 0) return -1;
      const end = ends[1] ?? -1;
      const size = fcntl(end, F_SETPIPE_SZ, bytes);
      return size >= 0 ? size : fcntl(end, F_GETPIPE_SZ, 0);
    },
    /** Moves bytes from a socket to a pipe without copying. 0: the peer has sent FIN; EAGAIN: no bytes wait, or the pipe is full. */
    spliceIn: (from: number, pipe: number, bytes: number) =>
      splice(from, 0, pipe, 0, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK),
    /** Moves bytes from a pipe to a socket; returns how many the socket accepted. EAGAIN: it accepts none. */
    spliceOut: (pipe: number, to: number, bytes: number) =>
      splice(pipe, 0, to, 0, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK),
    /** Reads what a pipe holds, at most as much as `into` has room for; returns how many bytes. */
    readPipe: (pipe: number, into: Uint8Array) => read(pipe, into, into.length),
    /** Sends FIN after all written bytes. */
    shutdownWrite: (fd: number) => shutdown(fd, SHUT_WR),
    /** For descriptors that another program opened. */
    setNonBlocking: (fd: number) => fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | NONBLOCK),
    /** Another descriptor of the same open file. */
    dup: (fd: number) => fcntl(fd, F_DUPFD_CLOEXEC, 0),
    /** Makes room for `count` descriptors at once: the system waits for all threads whenever the table grows. Fails silently. */
    reserve(count: number): void {
      close(fcntl(0, F_DUPFD_CLOEXEC, count));
    },
    /** Lets a program that replaces this one have the descriptor. */
    keepOnExec: (fd: number) => fcntl(fd, F_SETFD, 0),
    /** Two connected Unix sockets that keep the borders of messages; `ends` receives them. */
    socketPair: (ends: Int32Array) => socketpair(AF_UNIX, SOCK_SEQPACKET | CLOEXEC | NONBLOCK, 0, ends),
    /** The same for streams of bytes. */
    streamPair: (ends: Int32Array) => socketpair(AF_UNIX, SOCK_STREAM | CLOEXEC | NONBLOCK, 0, ends),
    /** A file in memory that ends with its last descriptor. `name`: for /proc alone. */
    memoryFile: (name: string) => memfdCreate(name, MFD_CLOEXEC),
    /** Replaces the program of this process (execve(2)). Returns only when that failed. */
    execute: (path: string, args: readonly string[], environment: readonly string[]) =>
      execve(path, [...args, null], [...environment, null]),
    /** Ends the process, and nothing else before. */
    exit: find('void _exit(int status)') as (status: number) => never,
    close,
    /** Receives at most `most` messages into `headers` (struct mmsghdr); returns their number. EAGAIN: none waits. */
    receiveMany: (fd: number, headers: Uint32Array, most: number) =>
      recvmmsg(fd, headers, most, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, null),
    /** Sends the first `count` messages of `headers`; returns how many were sent. Fails only when the first was not sent. */
    sendMany: (fd: number, headers: Uint32Array, count: number) =>
      sendmmsg(fd, headers, count, MSG_DONTWAIT | MSG_NOSIGNAL),
    /** Memory that is never moved or freed, and its address: for structures that contain pointers. */
    allocate(bytes: number): { memory: ArrayBuffer; address: number } {
      const pointer = koffi.alloc('uint8_t', bytes);
      return { memory: koffi.view(pointer, bytes), address: Number(koffi.address(pointer)) };
    },
  };
}

const CODES = new Map(Object.entries(constants.errno).map(([code, errno]) => [errno, code]));

/** `ECONNREFUSED` for 111: the codes that Node gives its own errors. */
export const codeOf = (errno: number): string => CODES.get(errno) ?? `E${errno}`;
