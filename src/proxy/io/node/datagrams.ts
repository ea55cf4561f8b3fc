// The datagram relay of the node engine: node:dgram sockets, and one map lookup for each datagram.
import { createSocket, type Socket } from 'node:dgram';
import type { PortRange } from '../../../core/endpoints.js';
import type { Endpoint } from '../../../core/ip.js';
import { headerKey, MAX_DATAGRAM_BYTES } from '../../protocols/datagram-header.js';
import { candidatePorts } from '../candidate-ports.js';
import { DatagramMeter } from '../datagram-meter.js';
import type {
  DatagramRelay,
  DatagramRelayOptions,
  OpenDatagrams,
  UpstreamSocket,
  UpstreamSocketOptions,
} from '../datagrams.js';
import type { LocalEnd } from '../local-end.js';
import type { AccountRates } from '../rates.js';
import { unsupported } from './listen.js';
import { codeOf } from './stream.js';

export const openDatagrams: OpenDatagrams = (options, onOpen) => {
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
    if (typeof socket === 'string' || length > MAX_DATAGRAM_BYTES) {
      this.counts.unsendable += 1;
      return;
    }
    // Without a callback, Node ignores an error of this datagram.
    if (this.#meter.passUp(length)) socket.send(datagram, offset, length, port, address);
  }

  outsidePort(address: string): number | string {
    const socket = this.#outerFor(address);
    return typeof socket === 'string' ? socket : socket.address().port;
  }

  openUpstream({ bindAddress, end, to, onDatagram }: UpstreamSocketOptions): UpstreamSocket | null {
    const socket = this.#isClosed ? null : openSocket(bindAddress, this.#options.portRange, end);
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

  /** The socket for destinations of this family, opened now if there is none; a system error code when it cannot be opened. */
  #outerFor(address: string): Socket | string {
    if (this.#isClosed) return 'EBADF';
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    const open = this.#outer[family];
    if (open !== null) return open;
    const { outside, portRange } = this.#options;
    const end = outside?.[family] ?? null;
    const opened = openSocket(end?.address ?? (family === 'ipv6' ? '::' : '0.0.0.0'), portRange, end);
    if (typeof opened === 'string') return opened;
    opened.on('message', this.#onOutsideDatagram);
    this.#options.ports.add('udp-outside', opened.address().port);
    this.#outer[family] = opened;
    return opened;
  }
}

/** Room for bursts while the event loop is busy; the system may grant less (net.core.rmem_max). */
const RECEIVE_BUFFER_BYTES = 1024 * 1024;

/**
 * A bound socket, or a system error code.
 * @param range first and last port to choose from; null: the system chooses
 * @param end its address is `address`
 */
function openSocket(address: string, range: PortRange | null, end: LocalEnd | null = null): Socket | string {
  const code = unsupported(end);
  if (code !== null) return code;
  for (const port of candidatePorts(range)) {
    const result = bindSocket(address, port);
    if (result !== 'EADDRINUSE') return result;
  }
  return 'EADDRINUSE';
}

function bindSocket(address: string, port: number): Socket | string {
  let failed: string | null = null;
  const socket = createDatagramSocket(address, RECEIVE_BUFFER_BYTES);
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failed ??= codeOf(error);
  });
  // Without a lookup `bind` is synchronous.
  socket.bind({ address, port, exclusive: true });
  if (failed === null) return socket;
  closeSocket(socket);
  return failed;
}

function createDatagramSocket(address: string, recvBufferSize?: number): Socket {
  const isV6 = address.includes(':');
  return createSocket({
    type: isV6 ? 'udp6' : 'udp4',
    ipv6Only: isV6,
    recvBufferSize,
    // Every host is an IP address here; dns.lookup would delay each datagram by a turn of the event loop.
    lookup: (host, family, done) => done(null, host, Number(family)),
  });
}

/** Closes the socket; datagrams that still arrive are not reported. */
function closeSocket(socket: Socket): void {
  socket.removeAllListeners('message');
  socket.close();
}

/** The local address that a connection to `address` would use, by the routing table; null when there is no route. */
export function sourceAddressFor(address: string, done: (source: string | null) => void): void {
  const socket = createDatagramSocket(address);
  const finish = (source: string | null): void => {
    socket
      .removeAllListeners('error')
      .on('error', () => {})
      .close();
    done(source);
  };
  socket.once('error', () => finish(null));
  // Connecting a UDP socket sends nothing; the port does not matter.
  socket.connect(9, address, () => finish(socket.address().address));
}
