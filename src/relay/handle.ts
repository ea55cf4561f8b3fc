// All that the relay asks of node:net beyond its documentation. Each use says what is relied on, and what happens
// when a later Node no longer offers it: nothing breaks, something is only done less well.
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';

/** The part of libuv's TCP handle, `socket._handle`, that is used here. */
interface TcpHandle {
  /** The descriptor; -1 once closed. */
  readonly fd?: number;
  /** Whether net.Socket believes that libuv is reading. */
  reading?: boolean;
  /** uv_read_stop: returns 0. libuv drops the descriptor from its epoll set at its next event. */
  readStop?(): number;
  /** uv_read_start: returns 0. libuv takes the descriptor into its epoll set, or finds it there still. */
  readStart?(): number;
  /** From now on libuv reads into these bytes. There is no way back, only other bytes. */
  useUserBuffer?(buffer: Uint8Array): void;
  /** Fills in the peer's address; returns a negative error code, ENOTCONN when the connection is gone. */
  getpeername?(out: object): number;
}

function handleOf(socket: Socket): TcpHandle | null {
  return (socket as unknown as { _handle?: TcpHandle | null })._handle ?? null;
}

/**
 * Whether the connection behind an `end` event is still there. libuv reports a reset that comes right behind data
 * as an orderly end; the kernel knows better. Without `getpeername` the end is believed.
 */
export function isConnected(socket: Socket): boolean {
  return (handleOf(socket)?.getpeername?.({}) ?? 0) === 0;
}

/**
 * Closes with RST at once. The public `resetAndDestroy()` flushes what is written first, which may never end; it
 * sets the flag set here. A shutdown that is still being flushed makes libuv refuse, and Node then keep the
 * descriptor: such a socket is closed without. Where the flag means nothing the socket is destroyed all the same.
 */
export function resetNow(socket: Socket): void {
  if (socket.destroyed) return;
  const flushing = socket.writableEnded && !socket.writableFinished;
  if (!flushing) Object.assign(socket, { resetAndClosing: true });
  socket.destroy();
}

/**
 * Stops libuv reading and returns the descriptor, for another thread to read and write; ask
 * `hasDescriptor` first. net.Socket goes on believing that libuv reads, or its next turn would start it again. Until
 * `giveBackDescriptor` a call of `destroy` calls `instead`: to close the descriptor would let the number be
 * used again while the other thread still writes to it.
 */
export function takeDescriptor(socket: Socket, instead: () => void): number {
  const handle = handleOf(socket);
  const fd = handle?.fd ?? -1;
  if (!handle?.readStop || !handle.readStart || fd < 0) throw new Error('net.Socket offers no descriptor');
  handle.reading = true;
  handle.readStop();
  const destroy = (): Socket => {
    instead();
    return socket;
  };
  Object.assign(socket, { destroy });
  return fd;
}

export function giveBackDescriptor(socket: Socket): void {
  Reflect.deleteProperty(socket, 'destroy');
}

/** Lets libuv read again after `giveBackDescriptor`. What net.Socket has ended or destroyed is left as it is. */
export function readAgain(socket: Socket): void {
  if (!socket.readableEnded) handleOf(socket)?.readStart?.();
}

/** Whether `takeDescriptor` would succeed. */
export function hasDescriptor(socket: Socket): boolean {
  const handle = handleOf(socket);
  return Boolean(handle?.readStop && handle.readStart) && (handle?.fd ?? -1) >= 0;
}

/** What net.Socket keeps of its documented option `onread`, behind symbols with these descriptions. */
const ONREAD = ['kBuffer', 'kBufferCb', 'kBufferGen'] as const;

/**
 * Does for a socket that exists what the option `onread` does for a new one: `socket` reads into `buffer`, and
 * `onBytes(count)` is called instead of 'data'; what it does with the bytes is done when it returns. It returns
 * whether to go on reading: `resume()` does so later. Returns false, and does nothing, where net.Socket has no such parts.
 */
export function readInto(socket: Socket, buffer: Uint8Array, onBytes: (count: number) => boolean): boolean {
  const handle = handleOf(socket);
  const symbols = Object.getOwnPropertySymbols(socket);
  const [kBuffer, kBufferCb, kBufferGen] = ONREAD.map((name) =>
    symbols.find(({ description }) => description === name),
  );
  if (!handle?.useUserBuffer || !kBuffer || !kBufferCb || !kBufferGen) return false;
  Object.assign(socket, { [kBuffer]: buffer, [kBufferCb]: onBytes, [kBufferGen]: null });
  handle.useUserBuffer(buffer);
  return true;
}

/** The part of libuv's UDP handle that is used here. node:dgram keeps it behind a symbol. */
interface UdpHandle {
  readonly fd?: number;
  recvStart?(): number;
  recvStop?(): number;
}

function udpHandleOf(socket: DatagramSocket): UdpHandle | null {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  );
  const state =
    symbol && (socket as unknown as Record<symbol, { handle?: UdpHandle | null } | undefined>)[symbol];
  return state?.handle ?? null;
}

/** The descriptor of a bound datagram socket, for another thread to receive and send on; null when Node offers none. */
export function datagramDescriptor(socket: DatagramSocket): number | null {
  const handle = udpHandleOf(socket);
  if (!handle?.recvStart || !handle.recvStop || handle.fd === undefined || handle.fd < 0) return null;
  return handle.fd;
}

/** Stops, or starts again, that libuv receives; sending goes on. Only for a socket with a descriptor. */
export function setReceiving(socket: DatagramSocket, receive: boolean): void {
  const handle = udpHandleOf(socket);
  if (receive) handle?.recvStart?.();
  else handle?.recvStop?.();
}
