// Thirty-two datagrams in native memory: headers, addresses and buffers for recvmmsg and sendmmsg, laid out once.
// Datagrams are sent from where they were received; in front of each is room for the SOCKS header it may need.
import { EAGAIN, EINTR, type Libc } from './libc.js';
import { SOCKADDR_BYTES, SOCKADDR_WORDS, sockaddrBytes } from './sockaddr.js';

const MESSAGES = 32;
/** The longest SOCKS header is 262 bytes. */
const HEADROOM_BYTES = 512;
const DATA_BYTES = 65_536;
const NAME_BYTES = 32;
// struct mmsghdr and struct iovec of 64-bit Linux, in 32-bit words.
const HEADER_WORDS = 16;
const NAME_AT = 0;
const NAME_LENGTH_AT = 2;
const VECTORS_AT = 4;
const VECTOR_COUNT_AT = 6;
const LENGTH_AT = 14;
const VECTOR_WORDS = 4;

export interface Batch {
  /** All of it: `dataAt` and lengths are positions in here. */
  readonly memory: ArrayBuffer;
  /** Receives what waits at a socket, at most a batch; returns how many, 0 when there is none or an error. */
  receive(fd: number): number;
  dataAt(message: number): number;
  lengthOf(message: number): number;
  /** Where the words of the sender's address begin in `words`. */
  senderAt(message: number): number;
  readonly words: Uint32Array;
  /** Sends `length` bytes at `at` to `to`, with others that go through the same socket, at the latest at `flush`. */
  send(fd: number, at: number, length: number, to: Uint32Array): void;
  flush(): void;
}

export function createBatch(libc: Libc): Batch {
  const headers = MESSAGES * HEADER_WORDS * 4;
  const vectors = MESSAGES * VECTOR_WORDS * 4;
  const names = MESSAGES * NAME_BYTES;
  const dataStart = 2 * (headers + vectors + names);
  const { memory, address } = libc.allocate(dataStart + MESSAGES * (HEADROOM_BYTES + DATA_BYTES));
  const words = new Uint32Array(memory, 0, dataStart / 4);
  const setPointer = (word: number, byte: number): void => {
    const pointer = address + byte;
    words[word] = pointer % 2 ** 32;
    words[word + 1] = Math.floor(pointer / 2 ** 32);
  };
  const dataAt = (message: number): number =>
    dataStart + message * (HEADROOM_BYTES + DATA_BYTES) + HEADROOM_BYTES;

  /** Headers whose names and vectors lie behind them, and the byte where the next such part may begin. */
  const layOut = (start: number) => {
    const vectorStart = start + headers;
    const nameStart = vectorStart + vectors;
    for (let i = 0; i < MESSAGES; i += 1) {
      const header = start / 4 + i * HEADER_WORDS;
      setPointer(header + NAME_AT, nameStart + i * NAME_BYTES);
      setPointer(header + VECTORS_AT, vectorStart + i * VECTOR_WORDS * 4);
      words[header + VECTOR_COUNT_AT] = 1;
      const vector = vectorStart / 4 + i * VECTOR_WORDS;
      setPointer(vector, dataAt(i));
      words[vector + 2] = DATA_BYTES;
    }
    return {
      header: (i: number) => start / 4 + i * HEADER_WORDS,
      vector: (i: number) => vectorStart / 4 + i * VECTOR_WORDS,
      name: (i: number) => (nameStart + i * NAME_BYTES) / 4,
    };
  };
  const incoming = layOut(0);
  const outgoing = layOut(dataStart / 2);
  const outgoingHeaders = words.subarray(outgoing.header(0), outgoing.header(MESSAGES));
  let pending = 0;
  let pendingFd = -1;

  function flush(): void {
    for (let sent = 0; sent < pending; ) {
      const rest = sent === 0 ? outgoingHeaders : outgoingHeaders.subarray(sent * HEADER_WORDS);
      const now = libc.sendMany(pendingFd, rest, pending - sent);
      if (now > 0) sent += now;
      else if (libc.errno() === EAGAIN) break;
      // What the system says of one datagram loses that one.
      else if (libc.errno() !== EINTR) sent += 1;
    }
    pending = 0;
  }

  return {
    memory,
    words,
    dataAt,
    receive(fd) {
      for (let i = 0; i < MESSAGES; i += 1) words[incoming.header(i) + NAME_LENGTH_AT] = SOCKADDR_BYTES;
      return Math.max(0, libc.receiveMany(fd, words, MESSAGES));
    },
    lengthOf: (message) => words[incoming.header(message) + LENGTH_AT] ?? 0,
    senderAt: (message) => incoming.name(message),
    send(fd, at, length, to) {
      if (pending === MESSAGES || fd !== pendingFd) flush();
      pendingFd = fd;
      const name = outgoing.name(pending);
      for (let i = 0; i < SOCKADDR_WORDS; i += 1) words[name + i] = to[i] ?? 0;
      words[outgoing.header(pending) + NAME_LENGTH_AT] = sockaddrBytes(to);
      setPointer(outgoing.vector(pending), at);
      words[outgoing.vector(pending) + 2] = length;
      pending += 1;
    },
    flush,
  };
}
