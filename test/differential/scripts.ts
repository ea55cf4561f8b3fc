// Byte scripts, and the result of each that a client sees: the method choice, the status of the login, the reply, and the end.
import { connect } from 'node:net';
import { greeting, login, RawClient, request } from '../helpers/socks-client.js';
import { type ComparedServer, USER } from './servers.js';

export interface Ports {
  /** An echo server on 127.0.0.1 and ::1. */
  readonly echo: number;
  /** A port without a listener. */
  readonly closed: number;
}

export interface Script {
  readonly name: string;
  /** Returns the bytes to send: each piece after the answer to the previous one. */
  pieces(ports: Ports, server: ComparedServer): readonly Buffer[];
  /** The last part of the protocol that the script reaches. */
  readonly expects: 'method' | 'login' | 'reply' | 'echo';
}

const PAYLOAD = 'ping';
/** Time without an answer after which a server counts as silent. */
const SILENCE_MS = 2_000;

const begin = (server: ComparedServer): readonly Buffer[] =>
  server.hasLogin ? [greeting(2), login(USER.username, USER.password)] : [greeting(0)];
const requests = (
  name: string,
  requestBytes: (ports: Ports) => Buffer,
  expects: Script['expects'] = 'reply',
): Script => ({ name, expects, pieces: (ports, server) => [...begin(server), requestBytes(ports)] });
const greetsWith = (name: string, bytes: Buffer): Script => ({
  name,
  expects: 'method',
  pieces: () => [bytes],
});
const logsInWith = (name: string, bytes: Buffer): Script => ({
  name,
  expects: 'login',
  pieces: () => [greeting(2), bytes],
});
/** Returns a copy of `bytes` with another octet at `index`. */
const withOctet = (bytes: Buffer, index: number, value: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[index] = value;
  return copy;
};

export const scripts: readonly Script[] = [
  greetsWith('offers no method', greeting()),
  greetsWith('offers only "no authentication"', greeting(0)),
  greetsWith('offers GSSAPI and a private method', greeting(1, 0x80)),
  greetsWith('offers "none acceptable"', greeting(0xff)),
  greetsWith('speaks SOCKS4', Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0])),
  greetsWith('speaks HTTP', Buffer.from('CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n')),
  logsInWith('logs in', login(USER.username, USER.password)),
  logsInWith('logs in with a wrong password', login(USER.username, 'wrong!')),
  logsInWith('logs in with an unknown user name', login('nobody', USER.password)),
  logsInWith('logs in with the beginning of the password', login(USER.username, 'secre')),
  logsInWith('logs in with a zero byte after the password', login(USER.username, 'secret\0')),
  logsInWith('logs in with an empty name', Buffer.from([1, 0, 1, 0x78])),
  logsInWith(
    'logs in with an empty password',
    Buffer.concat([Buffer.from([1, 6]), Buffer.from('player'), Buffer.from([0])]),
  ),
  logsInWith('logs in with version 5', withOctet(login(USER.username, USER.password), 0, 5)),
  requests('connects to IPv4', ({ echo }) => request('127.0.0.1', echo), 'echo'),
  requests('connects to IPv6', ({ echo }) => request('::1', echo), 'echo'),
  requests('connects to a name', ({ echo }) => request('localhost', echo), 'echo'),
  requests(
    'connects to an address written as a name',
    ({ echo }) => request(Buffer.from('127.0.0.1'), echo),
    'echo',
  ),
  requests('connects to an octal address written as a name', ({ echo }) =>
    request(Buffer.from('0177.0.0.1'), echo),
  ),
  requests('connects to a number written as a name', ({ echo }) => request(Buffer.from('2130706433'), echo)),
  requests('connects to 0.0.0.0', ({ echo }) => request('0.0.0.0', echo)),
  requests('connects to an IPv4-mapped address', ({ echo }) => request('::ffff:7f00:1', echo), 'echo'),
  requests('connects to an empty name', ({ echo }) => request(Buffer.alloc(0), echo)),
  requests('connects to a name with a zero byte', ({ echo }) =>
    request(Buffer.from('localhost\0.example'), echo),
  ),
  requests('connects to a name that does not exist', () => request('no-such-name.invalid', 80)),
  requests('connects to a closed port', ({ closed }) => request('127.0.0.1', closed)),
  requests('connects to port 0', () => request('127.0.0.1', 0)),
  requests('requests BIND', ({ echo }) => request('127.0.0.1', echo, 2)),
  requests('requests UDP ASSOCIATE', () => request('0.0.0.0', 0, 3)),
  requests('requests command 9', ({ echo }) => request('127.0.0.1', echo, 9)),
  requests('requests address type 5', ({ echo }) => withOctet(request('127.0.0.1', echo), 3, 5)),
  requests('sends a request of version 4', ({ echo }) => withOctet(request('127.0.0.1', echo), 0, 4)),
  {
    name: 'sends everything in one packet',
    expects: 'echo',
    pieces: ({ echo }, server) => [Buffer.concat([...begin(server), request('127.0.0.1', echo)])],
  },
  requests('sends a request with RSV 1', ({ echo }) => withOctet(request('127.0.0.1', echo), 2, 1), 'echo'),
];

/** Runs a script. Returns what the client sees: `method 02, login 00, reply 05, closed`; `silent` when nothing more comes. */
export async function resultOf(script: Script, server: ComparedServer, ports: Ports): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const client = new RawClient(socket);
  const events: string[] = [];
  const read = async (count: number): Promise<Buffer | null> => {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<'silent'>((resolve) => {
      timer = setTimeout(() => resolve('silent'), SILENCE_MS);
    });
    const bytes = await Promise.race([client.read(count).catch(() => 'closed' as const), silence]);
    clearTimeout(timer);
    if (typeof bytes === 'string') {
      events.push(bytes);
      return null;
    }
    return bytes;
  };
  const hex = (byte: number | undefined): string => (byte ?? 0).toString(16).padStart(2, '0');

  const pieces = [...script.pieces(ports, server)];
  const sendNext = (): void => {
    const piece = pieces.shift();
    if (piece) client.send(piece);
  };
  const run = async (): Promise<void> => {
    sendNext();
    const method = await read(2);
    if (!method) return;
    events.push(`method ${hex(method[1])}`);
    if (script.expects === 'method') return void (await read(1));
    if (method[1] === 2) {
      sendNext();
      const status = await read(2);
      if (!status) return;
      events.push(`login ${hex(status[1])}`);
    }
    if (script.expects === 'login') return void (await read(1));
    sendNext();
    const reply = await read(4);
    if (!reply) return;
    events.push(`reply ${hex(reply[1])}`);
    if (!(await read(reply[3] === 4 ? 18 : 6))) return;
    if (script.expects !== 'echo' || reply[1] !== 0) return void (await read(1));
    client.send(PAYLOAD);
    if ((await read(PAYLOAD.length))?.toString() === PAYLOAD) events.push('echo');
  };
  try {
    await run();
    return events.join(', ');
  } finally {
    client.destroy();
  }
}
