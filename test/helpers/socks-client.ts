// A SOCKS5 client that can send arbitrary bytes.
import { connect, type Socket } from 'node:net';

/** Returns the bytes of a greeting (RFC 1928 §3). */
export function greeting(...methods: number[]): Buffer {
  return Buffer.from([5, methods.length, ...methods]);
}

/** Returns the bytes of a login (RFC 1929 §2). */
export function login(username: string | Buffer, password: string | Buffer): Buffer {
  const usernameBytes = Buffer.from(username);
  const passwordBytes = Buffer.from(password);
  return Buffer.concat([
    Buffer.from([1, usernameBytes.length]),
    usernameBytes,
    Buffer.from([passwordBytes.length]),
    passwordBytes,
  ]);
}

/**
 * Returns the bytes of a request (RFC 1928 §4). A host with a colon is IPv6, four numbers are IPv4, any other host is a domain
 * name.
 */
export function request(host: string | Buffer, port: number, command = 1): Buffer {
  const tail = Buffer.alloc(2);
  tail.writeUInt16BE(port);
  return Buffer.concat([Buffer.from([5, command, 0]), addressField(host), tail]);
}

function addressField(host: string | Buffer): Buffer {
  if (typeof host === 'string' && /^\d+\.\d+\.\d+\.\d+$/.test(host)) {
    return Buffer.from([1, ...host.split('.').map(Number)]);
  }
  if (typeof host === 'string' && host.includes(':')) return Buffer.concat([Buffer.from([4]), ipv6(host)]);
  const name = Buffer.from(host);
  return Buffer.concat([Buffer.from([3, name.length]), name]);
}

function ipv6(text: string): Buffer {
  const [head = '', tail] = text.split('::');
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const all = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
}

const READ_TIMEOUT_MS = 45_000;
/** Digits of what was received, in an error message. */
const MOST_SHOWN = 400;

/** A connection that reads a given number of bytes, and that can wait for its end or reset. */
export class RawClient {
  static readonly #open = new Set<Socket>();
  readonly socket: Socket;
  /** Joined when they are read: joining with each chunk would copy large bodies again and again. */
  #chunks: Buffer[] = [];
  #length = 0;
  #ended = false;
  #closed = false;
  #failed: NodeJS.ErrnoException | null = null;
  readonly #wakers = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    RawClient.#open.add(socket);
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
      this.#wake();
    });
    socket.on('end', () => {
      this.#ended = true;
      this.#wake();
    });
    socket.on('error', (error) => {
      this.#failed = error;
      this.#wake();
    });
    socket.on('close', () => {
      this.#closed = true;
      RawClient.#open.delete(socket);
      this.#wake();
    });
  }

  /** Destroys every connection of this process, so that those which a failed test has left do not keep the process running. */
  static destroyAll(): void {
    for (const socket of RawClient.#open) socket.destroy();
  }

  /** `from`: the source address, for a client that must differ from others. */
  static async connect(port: number, host = '127.0.0.1', from?: string): Promise<RawClient> {
    const local = from === undefined ? {} : { localAddress: from };
    const socket = connect({ port, host, allowHalfOpen: true, noDelay: true, ...local });
    const client = new RawClient(socket);
    await client.#until(() => socket.readyState === 'open' || client.#closed, 'connect');
    if (client.#failed) throw client.#failed;
    return client;
  }

  send(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** Reads exactly `count` bytes. Rejects if the connection ends first. */
  async read(count: number): Promise<Buffer> {
    await this.#until(() => this.#length >= count || this.#ended || this.#closed, `${count} bytes`);
    if (this.#length < count) {
      throw new Error(`the connection ended after ${this.#length} of ${count} bytes: ${this.#shown()}`);
    }
    const all = this.#take();
    if (all.length > count) this.#chunks = [all.subarray(count)];
    this.#length = all.length - count;
    return all.subarray(0, count);
  }

  /** Reads everything until the other side has closed its direction, or the connection is gone. */
  async readToEnd(): Promise<Buffer> {
    await this.#until(() => this.#ended || this.#closed, 'the end');
    return this.#take();
  }

  /** Resolves when the connection is gone: 'reset' after an error, else 'closed'. Closes this side after the other side's FIN. */
  async closed(): Promise<'closed' | 'reset'> {
    await this.#until(() => this.#ended || this.#closed, 'the close');
    if (!this.#closed) this.socket.end();
    await this.#until(() => this.#closed, 'the close');
    return this.#failed ? 'reset' : 'closed';
  }

  destroy(): void {
    this.socket.destroy();
  }

  #take(): Buffer {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#length = 0;
    return all;
  }

  /** The beginning of what was received, for messages. */
  #shown(): string {
    return Buffer.concat(this.#chunks).toString('hex').slice(0, MOST_SHOWN);
  }

  #wake(): void {
    for (const waker of [...this.#wakers]) waker();
  }

  #until(isTrue: () => boolean, awaited: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (!isTrue()) return;
        clearTimeout(timer);
        this.#wakers.delete(check);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#wakers.delete(check);
        reject(new Error(`waited too long for ${awaited}; received ${this.#shown()}`));
      }, READ_TIMEOUT_MS);
      this.#wakers.add(check);
      if (this.socket.connecting) this.socket.once('connect', check);
      check();
    });
  }
}

export interface SocksLogin {
  /** Address of the listener; default: 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** The source address of the connection. */
  readonly from?: string | undefined;
}

/** Connects, logs in, and returns the client. Its next message is the request. */
export async function loggedInClient({
  host,
  port,
  username,
  password,
  from,
}: SocksLogin): Promise<RawClient> {
  const client = await RawClient.connect(port, host, from);
  client.send(greeting(2));
  await client.read(2);
  client.send(login(username, password));
  const [, status] = await client.read(2);
  if (status !== 0) throw new Error(`login refused with ${status}`);
  return client;
}

/** Sends a request and returns the reply's code (RFC 1928 §6) and bound address. */
export async function readReply(
  client: RawClient,
): Promise<{ code: number; atyp: number; address: string; port: number }> {
  const head = await client.read(4);
  const [, code = -1, , atyp = 0] = head;
  const address = await client.read(atyp === 4 ? 16 : 4);
  const port = (await client.read(2)).readUInt16BE();
  return { code, atyp, address: [...address].join('.'), port };
}

/** Connects through the proxy; throws unless the reply is success. */
export async function connectThrough(account: SocksLogin, host: string, port: number): Promise<RawClient> {
  const client = await loggedInClient(account);
  client.send(request(host, port));
  const { code } = await readReply(client);
  if (code !== 0) throw new Error(`the proxy answered ${code}`);
  return client;
}
