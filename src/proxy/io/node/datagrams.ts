// The datagram engine of the node driver: node:dgram sockets, and one map lookup for each datagram.
import type { Socket } from 'node:dgram';
import type { Endpoint } from '../../../core/ip.js';
import { headerKey, MAX_DATAGRAM_BYTES } from '../../protocols/datagram-header.js';
import { DatagramMeter } from '../datagram-meter.js';
import type {
  DatagramEngine,
  DatagramRelay,
  DatagramRelayOptions,
  UpstreamSocket,
  UpstreamSocketOptions,
} from '../datagrams.js';
import type { AccountRates } from '../rates.js';
import { closeSocket, openSocket } from './datagram-socket.js';

export const openDatagrams: DatagramEngine = (options, onOpen) => {
  const opened = openSocket(options.bindAddress, options.portRange);
  if (typeof opened === 'string') onOpen({ ok: false, code: opened });
  else onOpen({ ok: true, relay: new NodeDatagramRelay(opened, options) });
};

interface Route {
  readonly headerLength: number;
  readonly to: Endpoint;
}

/** The sockets of one association. Lives until `close()`. */
class NodeDatagramRelay implements DatagramRelay {
  readonly local: Endpoint;
  readonly counts: DatagramMeter['counts'];
  readonly #meter: DatagramMeter;
  readonly #options: DatagramRelayOptions;
  readonly #inner: Socket;
  readonly #outer: { ipv4: Socket | null; ipv6: Socket | null } = { ipv4: null, ipv6: null };
  #client: Endpoint | null = null;
  #isWatched = false;
  #isClosed = false;
  readonly #routes = new Map<number | string, Route>();
  /** Headers of the datagrams to the client, by source address and source port. */
  readonly #sources = new Map<string, Map<number, Buffer>>();

  constructor(inner: Socket, options: DatagramRelayOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#meter = new DatagramMeter(options);
    this.counts = this.#meter.counts;
    const { address, port } = inner.address();
    this.local = { address, port };
    options.ports.add('udp-client-side', port);
    inner.on('message', this.#onClientDatagram);
  }

  setClient(client: Endpoint): void {
    this.#client = client;
  }

  setRoute(header: Buffer, to: Endpoint): void {
    const key = headerKey(header);
    if (key !== null) this.#routes.set(key, { headerLength: header.length, to });
  }

  removeRoute(header: Buffer): void {
    const key = headerKey(header);
    if (key !== null) this.#routes.delete(key);
  }

  setSource({ address, port }: Endpoint, header: Buffer): void {
    const ports = this.#sources.get(address);
    if (ports) ports.set(port, header);
    else this.#sources.set(address, new Map([[port, header]]));
  }

  removeSource({ address, port }: Endpoint): void {
    const ports = this.#sources.get(address);
    ports?.delete(port);
    if (ports?.size === 0) this.#sources.delete(address);
  }

  watchClient(watch: boolean): void {
    this.#isWatched = watch;
  }

  setRates(rates: AccountRates | null): void {
    this.#meter.setRates(rates);
  }

  sendOutside(datagram: Buffer, offset: number, { address, port }: Endpoint): void {
    const length = datagram.length - offset;
    const socket = this.#outerFor(address);
    if (socket === null || length > MAX_DATAGRAM_BYTES) {
      this.counts.unsendable += 1;
      return;
    }
    // Without a callback, Node ignores an error of this datagram.
    if (this.#meter.passUp(length)) socket.send(datagram, offset, length, port, address);
  }

  openUpstream({ bindAddress, to, onDatagram }: UpstreamSocketOptions): UpstreamSocket | null {
    const socket = this.#isClosed ? null : openSocket(bindAddress, this.#options.portRange);
    if (socket === null || typeof socket === 'string') return null;
    const { port } = socket.address();
    this.#options.ports.add('udp-outside', port);
    socket.on('message', onDatagram);
    let isOpen = true;
    return {
      send: (header, datagram, offset) => {
        const length = datagram.length - offset;
        if (!isOpen) return;
        if (header.length + length > MAX_DATAGRAM_BYTES) this.counts.unsendable += 1;
        else if (this.#meter.passUp(length))
          socket.send([header, datagram.subarray(offset)], to.port, to.address);
      },
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#options.ports.remove('udp-outside', port);
        closeSocket(socket);
      },
    };
  }

  sendToClient(header: Buffer, data: Buffer): void {
    if (this.#isClosed || this.#client === null) return;
    if (this.#meter.passDown(header.length, data.length))
      this.#inner.send([header, data], this.#client.port, this.#client.address);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { ports } = this.#options;
    ports.remove('udp-client-side', this.local.port);
    closeSocket(this.#inner);
    for (const outer of [this.#outer.ipv4, this.#outer.ipv6]) {
      if (outer === null) continue;
      ports.remove('udp-outside', outer.address().port);
      closeSocket(outer);
    }
  }

  readonly #onClientDatagram = (datagram: Buffer, from: Endpoint): void => {
    const client = this.#client;
    if (!this.#isWatched && client !== null && from.port === client.port && from.address === client.address) {
      const key = headerKey(datagram);
      const route = key === null ? undefined : this.#routes.get(key);
      if (route !== undefined) return this.sendOutside(datagram, route.headerLength, route.to);
    }
    this.#options.onClientDatagram(datagram, from);
  };

  readonly #onOutsideDatagram = (data: Buffer, from: Endpoint): void => {
    const header = this.#sources.get(from.address)?.get(from.port);
    if (header === undefined) this.#options.onOutsideDatagram(data, from);
    else this.sendToClient(header, data);
  };

  /** The socket for destinations of this family, opened now if there is none; null when it cannot be opened. */
  #outerFor(address: string): Socket | null {
    if (this.#isClosed) return null;
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    const open = this.#outer[family];
    if (open !== null) return open;
    const opened = openSocket(family === 'ipv6' ? '::' : '0.0.0.0', this.#options.portRange);
    if (typeof opened === 'string') return null;
    opened.on('message', this.#onOutsideDatagram);
    this.#options.ports.add('udp-outside', opened.address().port);
    this.#outer[family] = opened;
    return opened;
  }
}
