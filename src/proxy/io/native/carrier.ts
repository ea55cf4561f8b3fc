// Carries descriptors and a state to the next process: the kernel keeps descriptors open while they are in flight in a socket pair
// (SCM_RIGHTS, unix(7)) that nobody reads yet, and the state lies in a file in memory. The few descriptors that hold both, a
// parcel, pass an execve or lie in the descriptor store of the service manager.
import { closeSync, fstatSync, readSync, writeSync } from 'node:fs';
import { tryOr } from '../../../core/errors.js';
import * as c from './libc.js';

/** `PGHO`, the version of the layout, the number of descriptors, and the length of the state, each in 32 bits. */
const MAGIC = 0x50_47_48_4f;
const LAYOUT_VERSION = 1;
const HEAD_BYTES = 16;
/** SCM_MAX_FD: most descriptors of one message. */
const MAX_IN_MESSAGE = 253;
const SEND_BUFFER_BYTES = 16 * 1024 * 1024;
/** The service manager keeps this number for us (FileDescriptorStoreMax=): the state, and pairs. */
export const MAX_PARCEL = 8;

export interface Carried {
  readonly descriptors: readonly number[];
  readonly state: unknown;
}

/** Why a parcel cannot be used. */
export type CarrierProblem = 'not-a-state' | 'unknown-version' | 'truncated-state' | 'missing-descriptors';

/**
 * Puts descriptors and a state into a parcel. The caller's descriptors stay open.
 * @returns the descriptors of the parcel, the one of the state first, all close-on-exec
 * @throws Error with the system error code, when the system has no memory or room for them
 */
export function pack(libc: c.Libc, { descriptors, state }: Carried): number[] {
  const text = Buffer.from(JSON.stringify(state));
  const head = Buffer.alloc(HEAD_BYTES);
  [MAGIC, LAYOUT_VERSION, descriptors.length, text.length].forEach((value, i) => {
    head.writeUInt32LE(value, 4 * i);
  });
  const parcel = [checked(libc, 'memfd_create', libc.memoryFile('pulsegate-handover'))];
  try {
    writeAll(parcel[0] ?? -1, Buffer.concat([head, text]));
    for (let sent = 0; sent < descriptors.length; ) {
      if (parcel.length === MAX_PARCEL) throw new Error(`${descriptors.length} descriptors are too many`);
      const [reader, count] = sendThroughPair(libc, descriptors.slice(sent));
      parcel.push(reader);
      sent += count;
    }
    return parcel;
  } catch (error) {
    for (const fd of parcel) closeSync(fd);
    throw error;
  }
}

/** Takes what a parcel contains, and closes the parcel. With a problem, all descriptors are closed. */
export function unpack(
  libc: c.Libc,
  [memory = -1, ...pairs]: readonly number[],
): (Carried & { readonly problem?: never }) | { readonly problem: CarrierProblem; readonly count: number } {
  const content = readAll(memory);
  if (content.length >= HEAD_BYTES) libc.reserve(content.readUInt32LE(8) + 256);
  const message = createMessage(libc);
  const descriptors = pairs.flatMap((pair) => receiveAll(libc, message, pair));
  for (const pair of pairs) libc.close(pair);
  const read = readState(content, descriptors.length);
  libc.close(memory);
  if (typeof read !== 'string') return { descriptors, state: read.state };
  for (const fd of descriptors) libc.close(fd);
  return { problem: read, count: descriptors.length };
}

function readState(content: Buffer, received: number): { readonly state: unknown } | CarrierProblem {
  if (content.length < HEAD_BYTES || content.readUInt32LE() !== MAGIC) return 'not-a-state';
  if (content.readUInt32LE(4) !== LAYOUT_VERSION) return 'unknown-version';
  if (content.length !== HEAD_BYTES + content.readUInt32LE(12)) return 'truncated-state';
  if (content.readUInt32LE(8) !== received) return 'missing-descriptors';
  return { state: JSON.parse(content.toString('utf8', HEAD_BYTES)) };
}

/** Sends as many descriptors as one pair holds. Returns its reading end, and their number. */
function sendThroughPair(libc: c.Libc, descriptors: readonly number[]): [number, number] {
  const ends = new Int32Array(2);
  checked(libc, 'socketpair', libc.socketPair(ends));
  const [writer = -1, reader = -1] = ends;
  // The system gives as much as net.core.wmem_max allows.
  libc.setOption(writer, c.SOL_SOCKET, c.SO_SNDBUF, SEND_BUFFER_BYTES);
  const message = createMessage(libc);
  let sent = 0;
  while (sent < descriptors.length) {
    const part = descriptors.slice(sent, sent + MAX_IN_MESSAGE);
    message.setDescriptors(part);
    if (libc.sendMany(writer, message.header, 1) !== 1) break;
    sent += part.length;
  }
  const errno = libc.errno();
  libc.close(writer);
  if (sent > 0) return [reader, sent];
  libc.close(reader);
  throw new Error(`sendmmsg: ${c.codeOf(errno)}`);
}

function receiveAll(libc: c.Libc, message: Message, pair: number): number[] {
  const all: number[] = [];
  for (;;) {
    message.makeRoom();
    if (libc.receiveMany(pair, message.header, 1) !== 1) return all;
    const received = message.descriptors();
    if (received.length === 0) return all;
    all.push(...received);
  }
}

/**
 * Sends one descriptor with a text, from a datagram socket.
 * @param address a struct sockaddr
 * @returns null, or a system error code
 */
export function sendDescriptor(
  libc: c.Libc,
  socket: number,
  address: Uint8Array,
  text: string,
  fd: number,
): string | null {
  const message = createMessage(libc);
  message.setDescriptors([fd]);
  message.setText(Buffer.from(text));
  message.setAddress(address);
  return libc.sendMany(socket, message.header, 1) === 1 ? null : c.codeOf(libc.errno());
}

type Message = ReturnType<typeof createMessage>;

const HEADER_BYTES = 64;
const CONTROL_HEAD_BYTES = 16;
const TEXT_BYTES = 512;
const ADDRESS_BYTES = 128;

/** One struct mmsghdr with its control message (cmsg(3)), in memory with a fixed address. */
function createMessage(libc: c.Libc) {
  const vectorAt = HEADER_BYTES;
  const textAt = vectorAt + 16;
  const addressAt = textAt + TEXT_BYTES;
  const controlAt = addressAt + ADDRESS_BYTES;
  const controlBytes = align(CONTROL_HEAD_BYTES + 4 * MAX_IN_MESSAGE);
  const { memory, address } = libc.allocate(controlAt + controlBytes);
  const view = new DataView(memory);
  new Uint8Array(memory).fill(0);
  const setLong = (at: number, value: number): void => view.setBigUint64(at, BigInt(value), true);
  setLong(16, address + vectorAt);
  setLong(24, 1);
  setLong(32, address + controlAt);
  setLong(vectorAt, address + textAt);
  setLong(vectorAt + 8, 1);
  return {
    header: new Uint32Array(memory, 0, HEADER_BYTES / 4),
    setDescriptors(fds: readonly number[]): void {
      const bytes = CONTROL_HEAD_BYTES + 4 * fds.length;
      setLong(40, align(bytes));
      setLong(controlAt, bytes);
      view.setInt32(controlAt + 8, c.SOL_SOCKET, true);
      view.setInt32(controlAt + 12, c.SCM_RIGHTS, true);
      fds.forEach((fd, i) => {
        view.setInt32(controlAt + CONTROL_HEAD_BYTES + 4 * i, fd, true);
      });
    },
    setText(text: Uint8Array): void {
      new Uint8Array(memory, textAt, TEXT_BYTES).set(text);
      setLong(vectorAt + 8, text.length);
    },
    setAddress(name: Uint8Array): void {
      new Uint8Array(memory, addressAt, ADDRESS_BYTES).set(name);
      setLong(0, address + addressAt);
      view.setUint32(8, name.length, true);
    },
    /** Before a message is received. */
    makeRoom(): void {
      setLong(40, controlBytes);
      setLong(controlAt, 0);
    },
    /** Those of the message that was received. */
    descriptors(): number[] {
      const bytes =
        Number(view.getBigUint64(40, true)) === 0 ? 0 : Number(view.getBigUint64(controlAt, true));
      const count = Math.max(0, Math.floor((bytes - CONTROL_HEAD_BYTES) / 4));
      return Array.from({ length: count }, (_, i) =>
        view.getInt32(controlAt + CONTROL_HEAD_BYTES + 4 * i, true),
      );
    },
  };
}

const align = (bytes: number): number => Math.ceil(bytes / 8) * 8;

function checked(libc: c.Libc, call: string, result: number): number {
  if (result < 0) throw new Error(`${call}: ${c.codeOf(libc.errno())}`);
  return result;
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/** Empty: it is not a file. */
const readAll = (fd: number): Buffer =>
  tryOr(Buffer.alloc(0), () => {
    const bytes = Buffer.alloc(fstatSync(fd).size);
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  });
