// The datagram relay of the node engine: node:dgram sockets, and one map lookup for each datagram.
import { createSocket, type Socket } from 'node:dgram';
import type { PortRange } from '../../../core/addresses/endpoints.js';
import type { Endpoint } from '../../../core/addresses/ip.js';
import { headerKey } from '../../protocols/datagram-header.js';
import type { BoundSocket, DatagramRelayOptions, OpenDatagrams, OpenedRelay, Side } from '../datagrams.js';
import { DatagramRelay } from '../datagrams.js';
import type { LocalEnd } from '../local-end.js';
import { candidatePorts } from '../local-end.js';
import { unsupported } from './listen.js';
import { codeOf } from './stream.js';

export const openDatagrams: OpenDatagrams = (options, onOpen) => onOpen(NodeDatagramRelay.open(options));

/** The sockets of one association. Lives until `close()`. */
class NodeDatagramRelay extends DatagramRelay<NodeSocket, Endpoint> {
  static open(options: DatagramRelayOptions): OpenedRelay {
    const relay = new NodeDatagramRelay(options);
    const code = relay.start();
    return code === null ? { ok: true, relay } : { ok: false, code };
  }

  protected openSocket(address: string, side: Side, end: LocalEnd | null): NodeSocket | string {
    const opened = openSocket(address, this.options.portRange, end);
    if (typeof opened === 'string') return opened;
    const sides = { client: this.#onClientDatagram, outside: this.#onOutsideDatagram };
    opened.on('message', typeof side === 'string' ? sides[side] : side);
    return new NodeSocket(opened);
  }

  protected toAddress(endpoint: Endpoint): Endpoint {
    return endpoint;
  }

  protected keyOf({ address, port }: Endpoint): string {
    return `${port} ${address}`;
  }

  protected isIpv6({ address }: Endpoint): boolean {
    return address.includes(':');
  }

  protected send({ socket }: NodeSocket, header: Buffer | null, data: Buffer, to: Endpoint): void {
    // Without a callback, Node ignores an error of this datagram.
    socket.send(header === null ? data : [header, data], to.port, to.address);
  }

  readonly #onClientDatagram = (datagram: Buffer, from: Endpoint): void => {
    const { client } = this;
    if (!this.isWatched && client !== null && from.port === client.port && from.address === client.address) {
      const key = headerKey(datagram);
      const route = key === null ? undefined : this.routes.get(key);
      if (route !== undefined) return this.sendOutside(datagram, route.headerLength, route.to);
    }
    this.options.onClientDatagram(datagram, from);
  };

  readonly #onOutsideDatagram = (data: Buffer, from: Endpoint): void => {
    const header = this.sources.get(this.keyOf(from));
    if (header === undefined) this.options.onOutsideDatagram(data, from);
    else this.sendToClient(header, data);
  };
}

class NodeSocket implements BoundSocket {
  readonly local: Endpoint;
  isClosed = false;

  constructor(readonly socket: Socket) {
    const { address, port } = socket.address();
    this.local = { address, port };
  }

  close(): void {
    if (!this.isClosed) closeSocket(this.socket);
    this.isClosed = true;
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
