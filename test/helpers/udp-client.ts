// A SOCKS5 UDP client and UDP destinations, which send arbitrary datagrams and receive them one at a time.
import { randomInt } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { loggedInClient, type RawClient, readReply, request, type SocksLogin } from './socks-client.js';

export interface Received {
  readonly data: Buffer;
  readonly from: { readonly address: string; readonly port: number };
}

const RECEIVE_TIMEOUT_MS = 30_000;

/** Ports below those that a system assigns automatically (`ip_local_port_range` of Linux, RFC 6335 §6 elsewhere). */
const [FIRST_PORT, LAST_PORT] = [10_240, 32_767];

/** A UDP socket from which a test reads datagrams one by one, in the order of arrival. */
export class UdpEnd {
  readonly socket: Socket;
  readonly #unread: Received[] = [];
  readonly #waiting: ((received: Received) => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('message', (data: Buffer, { address, port }: RemoteInfo) => {
      const received = { data, from: { address, port } };
      const waiter = this.#waiting.shift();
      if (waiter) waiter(received);
      else this.#unread.push(received);
    });
  }

  /**
   * Opens a socket on `host`. The end of the test closes it. Without `port`, it gets a free port outside the range of a daemon's
   * relays: a relay refuses datagrams to its own port number, whichever address of this machine they are for.
   */
  static async open(t: Pick<TestContext, 'after'>, host = '127.0.0.1', port?: number): Promise<UdpEnd> {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const end = new UdpEnd(socket);
    t.after(() => end.close());
    socket.bind(port ?? randomInt(FIRST_PORT, LAST_PORT + 1), host);
    try {
      await once(socket, 'listening');
    } catch (error) {
      if (port !== undefined || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return UdpEnd.open(t, host);
    }
    return end;
  }

  get port(): number {
    return this.socket.address().port;
  }

  /** Number of received datagrams that were not read. */
  get unread(): number {
    return this.#unread.length;
  }

  send(data: Buffer | string, port: number, host: string): void {
    this.socket.send(data, port, host);
  }

  /** Resolves with the next datagram. Rejects when none arrives. */
  receive(timeoutMs = RECEIVE_TIMEOUT_MS): Promise<Received> {
    const ready = this.#unread.shift();
    if (ready) return Promise.resolve(ready);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(new Error('no datagram came'));
      }, timeoutMs);
      const waiter = (received: Received): void => {
        clearTimeout(timer);
        resolve(received);
      };
      this.#waiting.push(waiter);
    });
  }

  close(): void {
    try {
      this.socket.close();
    } catch {
      // The test has closed the socket itself.
    }
  }
}

/** Starts a destination that sends every datagram back to its sender. */
export async function startUdpEcho(t: Pick<TestContext, 'after'>, host = '127.0.0.1'): Promise<UdpEnd> {
  const end = await UdpEnd.open(t, host);
  end.socket.on('message', (data: Buffer, { address, port }: RemoteInfo) =>
    end.socket.send(data, port, address),
  );
  return end;
}

/** Returns a datagram: the header of RFC 1928 §7 and `data`. Hosts are as in `request`. */
export function datagram(host: string | Buffer, port: number, data: Buffer | string, fragment = 0): Buffer {
  // After VER, CMD and RSV of a request, and after RSV and FRAG of a header, both have the same fields.
  const fields = request(host, port).subarray(3);
  return Buffer.concat([Buffer.from([0, 0, fragment]), fields, Buffer.from(data)]);
}

export interface Unwrapped {
  readonly host: string;
  readonly port: number;
  readonly data: Buffer;
}

/** Parses a datagram from the relay. */
export function unwrap(bytes: Buffer): Unwrapped {
  const isV4 = bytes[3] === 1;
  const portAt = isV4 ? 8 : 20;
  if (bytes.readUIntBE(0, 3) !== 0 || (!isV4 && bytes[3] !== 4)) {
    throw new Error(`not a datagram of a relay: ${bytes.subarray(0, 24).toString('hex')}`);
  }
  const address = bytes.subarray(4, portAt);
  const host = isV4 ? address.join('.') : address.toString('hex');
  return { host, port: bytes.readUInt16BE(portAt), data: bytes.subarray(portAt + 2) };
}

/** An association: its control connection, and a UDP socket to send from. */
export class UdpAssociationClient {
  constructor(
    readonly control: RawClient,
    readonly end: UdpEnd,
    /** BND.ADDR and BND.PORT. */
    readonly relay: { readonly host: string; readonly port: number },
  ) {}

  send(host: string | Buffer, port: number, data: Buffer | string, fragment = 0): void {
    this.sendRaw(datagram(host, port, data, fragment));
  }

  sendRaw(bytes: Buffer): void {
    this.end.send(bytes, this.relay.port, this.relay.host);
  }

  async receive(timeoutMs?: number): Promise<Unwrapped> {
    return unwrap((await this.end.receive(timeoutMs)).data);
  }

  /** Sends a text, and returns the text of the response. */
  async roundTrip(host: string | Buffer, port: number, data: string): Promise<string> {
    this.send(host, port, data);
    return (await this.receive()).data.toString();
  }
}

export const UDP_ASSOCIATE = 3; // RFC 1928 §4

/** Logs in and associates. Throws unless the reply is success. `declared` is DST.ADDR and DST.PORT of the request. */
export async function associateThrough(
  t: Pick<TestContext, 'after'>,
  account: SocksLogin,
  declared: { readonly host: string | Buffer; readonly port: number } = { host: '0.0.0.0', port: 0 },
  host = '127.0.0.1',
): Promise<UdpAssociationClient> {
  const control = await loggedInClient(account);
  t.after(() => control.destroy());
  control.send(request(declared.host, declared.port, UDP_ASSOCIATE));
  const { code, atyp, address, port } = await readReply(control);
  if (code !== 0) throw new Error(`the proxy answered ${code}`);
  const relayHost = atyp === 4 ? '::1' : address;
  return new UdpAssociationClient(control, await UdpEnd.open(t, host), { host: relayHost, port });
}
