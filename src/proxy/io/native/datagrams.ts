// The datagram relay of the native engine: what routes and sources cover is received and sent in batches, without garbage;
// the rest goes to the association. Each ready socket gets one batch in its turn.
import type { Endpoint } from '../../../core/addresses/ip.js';
import { headerKey, ipv4HeaderKey, MAX_DATAGRAM_BYTES } from '../../protocols/datagram-header.js';
import type { DatagramRelayOptions, OpenDatagrams, OpenedRelay, Side } from '../datagrams.js';
import { DatagramRelay } from '../datagrams.js';
import type { Handed, HandedDatagrams } from '../handed.js';
import type { LocalEnd } from '../local-end.js';
import { type Batch, createBatch } from './batch.js';
import { DatagramSocket } from './datagram-socket.js';
import { SOCKADDR_BYTES } from './libc.js';
import type { Loop } from './loop.js';
import {
  isIpv6,
  isSameSockaddr,
  readSockaddr,
  SOCKADDR_WORDS,
  sockaddrKey,
  sockaddrLength,
  writeSockaddr,
} from './sockaddr.js';

/** Associations of one loop share the memory of a batch: one is received and sent at a time. */
interface Shared {
  readonly loop: Loop;
  readonly batch: Batch;
  /** Holds one datagram that is not sent from the batch. */
  readonly scratch: Buffer;
}

export function createNativeDatagrams(loop: Loop): OpenDatagrams {
  let shared: Shared | null = null;
  return (options, onOpen) => {
    shared ??= { loop, batch: createBatch(loop.libc), scratch: Buffer.alloc(MAX_DATAGRAM_BYTES) };
    onOpen(NativeDatagramRelay.open(shared, options));
  };
}

/** The sockets of one association. Lives until `close()`. */
class NativeDatagramRelay extends DatagramRelay<DatagramSocket, Uint32Array> {
  readonly #shared: Shared;

  private constructor(shared: Shared, options: DatagramRelayOptions) {
    super(options);
    this.#shared = shared;
  }

  static open(shared: Shared, options: DatagramRelayOptions): OpenedRelay {
    const relay = new NativeDatagramRelay(shared, options);
    const code = options.handed ? relay.#continue(options.handed) : relay.start();
    return code === null ? { ok: true, relay } : { ok: false, code };
  }

  #continue({ descriptors: [fd = -1, ...outer], state }: Handed<HandedDatagrams>): string | null {
    const code = this.start(DatagramSocket.adopt(this.#shared.loop, fd, this.#reader('client')));
    if (code !== null) return code;
    Object.assign(this.counts, state.counts);
    for (const [i, family] of state.families.entries()) {
      const socket = DatagramSocket.adopt(this.#shared.loop, outer[i] ?? -1, this.#reader('outside'));
      if (typeof socket !== 'string') this.setOuter(family, socket);
    }
    return null;
  }

  override handOver(): Handed<HandedDatagrams> {
    const families = (['ipv4', 'ipv6'] as const).filter((family) => this.outer[family] !== null);
    const sockets = [this.inner, ...families.map((family) => this.outer[family])];
    return {
      descriptors: sockets.map((socket) => socket?.fd ?? -1),
      state: { families, counts: { ...this.counts } },
    };
  }

  protected openSocket(address: string, side: Side, end: LocalEnd | null): DatagramSocket | string {
    return DatagramSocket.open(this.#shared.loop, address, this.options.portRange, this.#reader(side), end);
  }

  #reader(side: Side): (socket: DatagramSocket) => void {
    if (side === 'client') return (socket) => this.#fromClient(socket);
    if (side === 'outside') return (socket) => this.#fromOutside(socket);
    return (socket) => this.#fromUpstream(socket, side);
  }

  protected toAddress(endpoint: Endpoint): Uint32Array | null {
    const words = new Uint32Array(SOCKADDR_WORDS);
    return writeSockaddr(new Uint8Array(words.buffer), endpoint) === 0 ? null : words;
  }

  protected keyOf(address: Uint32Array): number | string {
    return sockaddrKey(address);
  }

  protected isIpv6(address: Uint32Array): boolean {
    return isIpv6(address);
  }

  protected send(socket: DatagramSocket, header: Buffer | null, data: Buffer, to: Uint32Array): void {
    const address = new Uint8Array(to.buffer, to.byteOffset, SOCKADDR_BYTES);
    const { loop, scratch } = this.#shared;
    let from = data;
    let { length } = data;
    if (header !== null) {
      from = scratch;
      header.copy(scratch);
      data.copy(scratch, header.length);
      length += header.length;
    }
    loop.libc.sendTo(socket.fd, from, length, address, sockaddrLength(to));
  }

  #fromClient(inner: DatagramSocket): void {
    const { batch } = this.#shared;
    const received = this.#receive(inner);
    for (let i = 0; i < received && !this.isClosed; i += 1) {
      if (!this.#relayUp(i)) this.#report(i, this.options.onClientDatagram);
    }
    batch.flush();
  }

  /** Sends a datagram of the client that a route covers; false when none does. */
  #relayUp(message: number): boolean {
    const { words, bytes, memory, dataAt, lengthOf, senderAt } = this.#shared.batch;
    if (this.isWatched || this.client === null) return false;
    if (!isSameSockaddr(words, senderAt(message), this.client, 0)) return false;
    const at = dataAt(message);
    const length = lengthOf(message);
    const ipv4Key = ipv4HeaderKey(bytes, at, length);
    const key = ipv4Key === -1 ? headerKey(Buffer.from(memory, at, length)) : ipv4Key;
    const route = key === null ? undefined : this.routes.get(key);
    if (route === undefined) return false;
    const socket = this.outerFor(route.to);
    const dataLength = length - route.headerLength;
    if (typeof socket === 'string' || dataLength > MAX_DATAGRAM_BYTES) this.counts.unsendable += 1;
    else if (this.passUp(dataLength)) {
      this.#shared.batch.send(socket, at + route.headerLength, dataLength, route.to);
    }
    return true;
  }

  #fromOutside(outer: DatagramSocket): void {
    const { batch } = this.#shared;
    const received = this.#receive(outer);
    for (let i = 0; i < received && !this.isClosed; i += 1) {
      const header = this.sources.get(sockaddrKey(batch.words, batch.senderAt(i)));
      if (header === undefined) this.#report(i, this.options.onOutsideDatagram);
      else if (
        this.client !== null &&
        this.inner !== null &&
        this.passDown(header.length, batch.lengthOf(i))
      ) {
        const at = batch.dataAt(i) - header.length;
        batch.bytes.set(header, at);
        batch.send(this.inner, at, header.length + batch.lengthOf(i), this.client);
      }
    }
    batch.flush();
  }

  #fromUpstream(socket: DatagramSocket, onDatagram: (data: Buffer, from: Endpoint) => void): void {
    const received = this.#receive(socket);
    for (let i = 0; i < received && socket.fd !== -1 && !this.isClosed; i += 1) this.#report(i, onDatagram);
  }

  /** Receives a batch; returns how many. */
  #receive({ fd }: DatagramSocket): number {
    const { batch, loop } = this.#shared;
    const received = batch.receive(fd);
    loop.pace.received(received);
    return received;
  }

  /** Passes a datagram of the batch to the association, after sending those before it. */
  #report(message: number, onDatagram: (data: Buffer, from: Endpoint) => void): void {
    const { batch } = this.#shared;
    batch.flush();
    const data = Buffer.from(batch.memory, batch.dataAt(message), batch.lengthOf(message));
    onDatagram(data, readSockaddr(batch.bytes, batch.senderAt(message) * 4));
  }
}
