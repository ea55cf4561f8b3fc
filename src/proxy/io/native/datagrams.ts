// The datagram relay of the native engine: what routes and sources cover is received and sent in batches, without garbage;
// the rest goes to the association. Each ready socket gets one batch in its turn.
import type { Endpoint } from '../../../core/ip.js';
import { headerKey, ipv4HeaderKey, MAX_DATAGRAM_BYTES } from '../../protocols/datagram-header.js';
import { DatagramMeter } from '../datagram-meter.js';
import type {
  DatagramRelay,
  DatagramRelayOptions,
  OpenDatagrams,
  UpstreamSocket,
  UpstreamSocketOptions,
} from '../datagrams.js';
import type { Handed, HandedDatagrams } from '../handed.js';
import type { AccountRates } from '../rates.js';
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
    const relay = NativeDatagramRelay.open(shared, options);
    if (typeof relay === 'string') onOpen({ ok: false, code: relay });
    else onOpen({ ok: true, relay });
  };
}

interface Route {
  readonly headerLength: number;
  readonly to: Uint32Array;
}

/** The sockets of one association. Lives until `close()`. */
class NativeDatagramRelay implements DatagramRelay {
  readonly counts: DatagramMeter['counts'];
  readonly #meter: DatagramMeter;
  readonly #shared: Shared;
  readonly #options: DatagramRelayOptions;
  /** The socket towards the client. */
  #inner: DatagramSocket | null = null;
  /** The sockets towards destinations, opened when first needed. */
  readonly #outer: { ipv4: DatagramSocket | null; ipv6: DatagramSocket | null } = { ipv4: null, ipv6: null };
  #client: Uint32Array | null = null;
  #isWatched = false;
  #isClosed = false;
  readonly #routes = new Map<number | string, Route>();
  /** Headers of the datagrams to the client, by where they come from. */
  readonly #sources = new Map<number | string, Buffer>();
  local: Endpoint = { address: '', port: 0 };

  private constructor(shared: Shared, options: DatagramRelayOptions) {
    this.#shared = shared;
    this.#options = options;
    this.#meter = new DatagramMeter(options);
    this.counts = this.#meter.counts;
  }

  /** Returns the system error code when the socket towards the client cannot be opened. */
  static open(shared: Shared, options: DatagramRelayOptions): NativeDatagramRelay | string {
    const relay = new NativeDatagramRelay(shared, options);
    const { bindAddress, portRange, ports, handed } = options;
    const [fd, ...outer] = handed?.descriptors ?? [];
    const onReady = (each: DatagramSocket): void => relay.#fromClient(each);
    const inner =
      fd === undefined
        ? DatagramSocket.open(shared.loop, bindAddress, portRange, onReady)
        : DatagramSocket.adopt(shared.loop, fd, onReady);
    if (typeof inner === 'string') return inner;
    relay.#inner = inner;
    relay.local = inner.local;
    ports.add('udp-client-side', inner.port);
    if (handed) relay.#continue(outer, handed.state);
    return relay;
  }

  #continue(outer: readonly number[], { families, counts }: HandedDatagrams): void {
    Object.assign(this.counts, counts);
    for (const [i, family] of families.entries()) {
      const onReady = (each: DatagramSocket): void => this.#fromOutside(each);
      const socket = DatagramSocket.adopt(this.#shared.loop, outer[i] ?? -1, onReady);
      if (typeof socket === 'string') continue;
      this.#options.ports.add('udp-outside', socket.port);
      this.#outer[family] = socket;
    }
  }

  handOver(): Handed<HandedDatagrams> {
    const families = (['ipv4', 'ipv6'] as const).filter((family) => this.#outer[family] !== null);
    const sockets = [this.#inner, ...families.map((family) => this.#outer[family])];
    return {
      descriptors: sockets.map((socket) => socket?.fd ?? -1),
      state: { families, counts: { ...this.counts } },
    };
  }

  setClient(client: Endpoint): void {
    this.#client = toWords(client);
  }

  setRoute(header: Buffer, to: Endpoint): void {
    const key = headerKey(header);
    const words = toWords(to);
    if (key !== null && words !== null) this.#routes.set(key, { headerLength: header.length, to: words });
  }

  removeRoute(header: Buffer): void {
    const key = headerKey(header);
    if (key !== null) this.#routes.delete(key);
  }

  setSource(from: Endpoint, header: Buffer): void {
    const words = toWords(from);
    if (words !== null) this.#sources.set(sockaddrKey(words), Buffer.from(header));
  }

  removeSource(from: Endpoint): void {
    const words = toWords(from);
    if (words !== null) this.#sources.delete(sockaddrKey(words));
  }

  watchClient(watch: boolean): void {
    this.#isWatched = watch;
  }

  setRates(rates: AccountRates | null): void {
    this.#meter.setRates(rates);
  }

  sendOutside(datagram: Buffer, offset: number, to: Endpoint): void {
    const words = toWords(to);
    const length = datagram.length - offset;
    const socket = words === null ? '' : this.#outerFor(words);
    if (words === null || typeof socket === 'string' || length > MAX_DATAGRAM_BYTES) {
      this.counts.unsendable += 1;
      return;
    }
    if (this.#meter.passUp(length)) this.#sendTo(socket, datagram.subarray(offset), length, words);
  }

  outsidePort(address: string): number | string {
    const words = toWords({ address, port: 0 });
    const socket = words === null ? 'EADDRNOTAVAIL' : this.#outerFor(words);
    return typeof socket === 'string' ? socket : socket.port;
  }

  openUpstream({ bindAddress, end, to, onDatagram }: UpstreamSocketOptions): UpstreamSocket | null {
    const { portRange, ports } = this.#options;
    const words = toWords(to);
    if (this.#isClosed || words === null) return null;
    const onReady = (each: DatagramSocket): void => this.#fromUpstream(each, onDatagram);
    const socket = DatagramSocket.open(this.#shared.loop, bindAddress, portRange, onReady, end);
    if (typeof socket === 'string') return null;
    ports.add('udp-outside', socket.port);
    return {
      send: (header, datagram, offset) => {
        const length = datagram.length - offset;
        if (socket.fd === -1) return;
        if (header.length + length > MAX_DATAGRAM_BYTES) this.counts.unsendable += 1;
        else if (this.#meter.passUp(length)) this.#sendBoth(socket, header, datagram.subarray(offset), words);
      },
      close: () => {
        if (socket.fd === -1) return;
        socket.close();
        ports.remove('udp-outside', socket.port);
      },
    };
  }

  sendToClient(header: Buffer, data: Buffer): void {
    if (this.#isClosed || this.#client === null || this.#inner === null) return;
    if (this.#meter.passDown(header.length, data.length))
      this.#sendBoth(this.#inner, header, data, this.#client);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { ports } = this.#options;
    this.#inner?.close();
    ports.remove('udp-client-side', this.local.port);
    for (const outer of [this.#outer.ipv4, this.#outer.ipv6]) {
      if (outer === null) continue;
      outer.close();
      ports.remove('udp-outside', outer.port);
    }
  }

  #fromClient(inner: DatagramSocket): void {
    const { batch } = this.#shared;
    const received = this.#receive(inner);
    for (let i = 0; i < received && !this.#isClosed; i += 1) {
      if (!this.#relayUp(i)) this.#report(i, this.#options.onClientDatagram);
    }
    batch.flush();
  }

  /** Sends a datagram of the client that a route covers; false when none does. */
  #relayUp(message: number): boolean {
    const { words, bytes, memory, dataAt, lengthOf, senderAt } = this.#shared.batch;
    if (this.#isWatched || this.#client === null) return false;
    if (!isSameSockaddr(words, senderAt(message), this.#client, 0)) return false;
    const at = dataAt(message);
    const length = lengthOf(message);
    const ipv4Key = ipv4HeaderKey(bytes, at, length);
    const key = ipv4Key === -1 ? headerKey(Buffer.from(memory, at, length)) : ipv4Key;
    const route = key === null ? undefined : this.#routes.get(key);
    if (route === undefined) return false;
    const socket = this.#outerFor(route.to);
    const dataLength = length - route.headerLength;
    if (typeof socket === 'string' || dataLength > MAX_DATAGRAM_BYTES) this.counts.unsendable += 1;
    else if (this.#meter.passUp(dataLength)) {
      this.#shared.batch.send(socket, at + route.headerLength, dataLength, route.to);
    }
    return true;
  }

  #fromOutside(outer: DatagramSocket): void {
    const { batch } = this.#shared;
    const received = this.#receive(outer);
    for (let i = 0; i < received && !this.#isClosed; i += 1) {
      const header = this.#sources.get(sockaddrKey(batch.words, batch.senderAt(i)));
      if (header === undefined) this.#report(i, this.#options.onOutsideDatagram);
      else if (
        this.#client !== null &&
        this.#inner !== null &&
        this.#meter.passDown(header.length, batch.lengthOf(i))
      ) {
        const at = batch.dataAt(i) - header.length;
        batch.bytes.set(header, at);
        batch.send(this.#inner, at, header.length + batch.lengthOf(i), this.#client);
      }
    }
    batch.flush();
  }

  #fromUpstream(socket: DatagramSocket, onDatagram: (data: Buffer, from: Endpoint) => void): void {
    const received = this.#receive(socket);
    for (let i = 0; i < received && socket.fd !== -1 && !this.#isClosed; i += 1) this.#report(i, onDatagram);
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

  /** Sends header and data as one datagram. Errors are ignored: a datagram may be lost. */
  #sendBoth(socket: DatagramSocket, header: Buffer, data: Buffer, to: Uint32Array): void {
    const { scratch } = this.#shared;
    header.copy(scratch);
    data.copy(scratch, header.length);
    this.#sendTo(socket, scratch, header.length + data.length, to);
  }

  #sendTo(socket: DatagramSocket, from: Uint8Array, length: number, to: Uint32Array): void {
    const address = new Uint8Array(to.buffer, to.byteOffset, SOCKADDR_BYTES);
    this.#shared.loop.libc.sendTo(socket.fd, from, length, address, sockaddrLength(to));
  }

  /** The socket for destinations of this family, opened now if there is none; a system error code when it cannot be opened. */
  #outerFor(to: Uint32Array): DatagramSocket | string {
    const family = isIpv6(to) ? 'ipv6' : 'ipv4';
    const open = this.#outer[family];
    if (open !== null) return open;
    if (this.#isClosed) return 'EBADF';
    const { outside, portRange, ports } = this.#options;
    const end = outside?.[family] ?? null;
    const address = end?.address ?? (family === 'ipv6' ? '::' : '0.0.0.0');
    const onReady = (each: DatagramSocket): void => this.#fromOutside(each);
    const opened = DatagramSocket.open(this.#shared.loop, address, portRange, onReady, end);
    if (typeof opened === 'string') return opened;
    ports.add('udp-outside', opened.port);
    this.#outer[family] = opened;
    return opened;
  }
}

function toWords(endpoint: Endpoint): Uint32Array | null {
  const words = new Uint32Array(SOCKADDR_WORDS);
  return writeSockaddr(new Uint8Array(words.buffer), endpoint) === 0 ? null : words;
}
