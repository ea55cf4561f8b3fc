// Thirty-two datagrams in native memory: headers, addresses and buffers for recvmmsg and sendmmsg, laid out once.
// Datagrams are sent from the buffer in which they were received, with room in front of each for a SOCKS header.
// Consecutive datagrams of one size to one destination are sent as one message that the kernel cuts (UDP_SEGMENT).
import { EAGAIN, EINTR, EINVAL, EIO, EMSGSIZE, type Libc, SOL_UDP, UDP_SEGMENT } from './libc.js';
import { isSameSockaddr, SOCKADDR_WORDS, sockaddrLength } from './sockaddr.js';

const MESSAGES = 32;
/** The longest SOCKS header is 262 bytes. */
const HEADROOM_BYTES = 512;
const DATA_BYTES = 65_536;
const NAME_BYTES = 32;
/** CMSG_SPACE of one 16-bit number. */
const CONTROL_BYTES = 24;
/** CMSG_LEN of it. */
const CONTROL_LENGTH = 18;
// struct mmsghdr and struct iovec of 64-bit Linux, in 32-bit words.
const HEADER_WORDS = 16;
const NAME_AT = 0;
const NAME_LENGTH_AT = 2;
const VECTORS_AT = 4;
const VECTOR_COUNT_AT = 6;
const CONTROL_LENGTH_AT = 10;
const CONTROL_AT = 8;
const LENGTH_AT = 14;
const VECTOR_WORDS = 4;
/** Maximum of data in one message that the kernel cuts: less than 64 KiB with the headers of IP and UDP. */
const MAX_RUN_BYTES = 65_000;

/** A socket that datagrams are sent through. */
export interface BatchSocket {
  readonly fd: number;
  /** The largest datagram that the kernel may cut from a larger message here; 0: it cannot. */
  maxSegmentBytes: number;
}

export type Batch = ReturnType<typeof createBatch>;

export function createBatch(libc: Libc) {
  const headers = MESSAGES * HEADER_WORDS * 4;
  const vectors = MESSAGES * VECTOR_WORDS * 4;
  const names = MESSAGES * NAME_BYTES;
  const half = headers + vectors + names;
  const controlStart = 2 * half;
  const dataStart = controlStart + MESSAGES * CONTROL_BYTES;
  const { memory, address } = libc.allocate(dataStart + MESSAGES * (HEADROOM_BYTES + DATA_BYTES));
  const bytes = new Uint8Array(memory);
  const words = new Uint32Array(memory, 0, dataStart / 4);
  bytes.fill(0, 0, dataStart);

  const setPointer = (word: number, byte: number): void => {
    const pointer = address + byte;
    words[word] = pointer % 2 ** 32;
    words[word + 1] = Math.floor(pointer / 2 ** 32);
  };
  const dataAt = (message: number): number =>
    dataStart + message * (HEADROOM_BYTES + DATA_BYTES) + HEADROOM_BYTES;
  const inHeader = (i: number): number => i * HEADER_WORDS;
  const inName = (i: number): number => (headers + vectors + i * NAME_BYTES) / 4;
  const outHeader = (i: number): number => half / 4 + i * HEADER_WORDS;
  const outVector = (i: number): number => (half + headers) / 4 + i * VECTOR_WORDS;
  const outName = (i: number): number => (half + headers + vectors + i * NAME_BYTES) / 4;
  const control = (i: number): number => (controlStart + i * CONTROL_BYTES) / 4;

  for (let i = 0; i < MESSAGES; i += 1) {
    const vector = headers + i * VECTOR_WORDS * 4;
    setPointer(inHeader(i) + NAME_AT, inName(i) * 4);
    setPointer(inHeader(i) + VECTORS_AT, vector);
    words[inHeader(i) + VECTOR_COUNT_AT] = 1;
    setPointer(vector / 4, dataAt(i));
    words[vector / 4 + 2] = DATA_BYTES;
    setPointer(outHeader(i) + CONTROL_AT, control(i) * 4);
    words[control(i)] = CONTROL_LENGTH;
    words[control(i) + 2] = SOL_UDP;
    words[control(i) + 3] = UDP_SEGMENT;
  }
  const outHeaders = words.subarray(outHeader(0), outHeader(MESSAGES));
  /** First datagram of each message that is sent. */
  const firsts = new Uint8Array(MESSAGES + 1);
  let pending = 0;
  let socket: BatchSocket | null = null;

  const lengthAt = (datagram: number): number => words[outVector(datagram) + 2] ?? 0;

  /** Number of datagrams from `first` on that may be one message. */
  function runFrom(first: number, maxSegmentBytes: number): number {
    const size = lengthAt(first);
    if (size === 0 || size > maxSegmentBytes) return 1;
    let next = first + 1;
    for (let total = size; next < pending; next += 1) {
      const length = lengthAt(next);
      total += length;
      if (length === 0 || length > size || total > MAX_RUN_BYTES) break;
      if (!isSameSockaddr(words, outName(first), words, outName(next))) break;
      // Only the last datagram of a message may be shorter.
      if (length < size) return next + 1 - first;
    }
    return next - first;
  }

  /** Lays out messages for the datagrams from `first` on; returns the number of messages. */
  function layOut(first: number, maxSegmentBytes: number): number {
    let messages = 0;
    for (let datagram = first; datagram < pending; messages += 1) {
      const run = runFrom(datagram, maxSegmentBytes);
      const header = outHeader(messages);
      setPointer(header + NAME_AT, outName(datagram) * 4);
      words[header + NAME_LENGTH_AT] = sockaddrLength(words, outName(datagram));
      setPointer(header + VECTORS_AT, outVector(datagram) * 4);
      words[header + VECTOR_COUNT_AT] = run;
      words[header + CONTROL_LENGTH_AT] = run === 1 ? 0 : CONTROL_BYTES;
      if (run > 1) words[control(messages) + 4] = lengthAt(datagram);
      firsts[messages] = datagram;
      datagram += run;
    }
    firsts[messages] = pending;
    return messages;
  }

  /** Sends the pending datagrams through `through`. An error loses only the datagram that caused it. */
  function sendPending(through: BatchSocket): void {
    for (let first = 0; first < pending; ) {
      const messages = layOut(first, through.maxSegmentBytes);
      let sent = 0;
      while (sent < messages) {
        const rest = sent === 0 ? outHeaders : outHeaders.subarray(sent * HEADER_WORDS);
        const now = libc.sendMany(through.fd, rest, messages - sent);
        if (now > 0) {
          sent += now;
          continue;
        }
        const errno = libc.errno();
        if (errno === EINTR) continue;
        // The socket's buffer is full: the remaining datagrams are lost, as on any full link.
        if (errno === EAGAIN) return;
        const failed = firsts[sent] ?? pending;
        const isRun = (firsts[sent + 1] ?? pending) - failed > 1;
        if (!isRun) {
          sent += 1;
          continue;
        }
        if (errno === EIO || errno === EINVAL) through.maxSegmentBytes = 0;
        else if (errno === EMSGSIZE) through.maxSegmentBytes = lengthAt(failed) - 1;
        else {
          sent += 1;
          continue;
        }
        break;
      }
      first = firsts[sent] ?? pending;
    }
  }

  return {
    /** The whole memory of the batch; `dataAt` returns positions in it. */
    memory,
    bytes,
    words,
    dataAt,
    /** Receives the waiting datagrams of a socket, at most a batch. Returns their number; 0 when there is none or an error. */
    receive(fd: number): number {
      for (let i = 0; i < MESSAGES; i += 1) words[inHeader(i) + NAME_LENGTH_AT] = NAME_BYTES;
      return Math.max(0, libc.receiveMany(fd, words, MESSAGES));
    },
    lengthOf: (message: number): number => words[inHeader(message) + LENGTH_AT] ?? 0,
    /** Where the words of the sender's address begin in `words`. */
    senderAt: inName,
    /** Sends `length` bytes at `at` to `to`, together with other datagrams of the same socket, at the latest at `flush`. */
    send(through: BatchSocket, at: number, length: number, to: Uint32Array): void {
      if (pending === MESSAGES || through !== socket) this.flush();
      socket = through;
      const name = outName(pending);
      for (let i = 0; i < SOCKADDR_WORDS; i += 1) words[name + i] = to[i] ?? 0;
      setPointer(outVector(pending), at);
      words[outVector(pending) + 2] = length;
      pending += 1;
    },
    flush(): void {
      if (socket !== null && pending > 0) sendPending(socket);
      pending = 0;
      socket = null;
    },
  };
}
