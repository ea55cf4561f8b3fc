// Byte scripts, and what a client sees of each: the method choice, the login's status, the reply, and the end.
import { connect } from 'node:net';
import { greeting, login, RawClient, request } from '../helpers/socks-client.js';
import { type ComparedServer, USER } from './servers.js';

export interface Ports {
  /** An echo server on 127.0.0.1 and ::1. */
  readonly echo: number;
  /** Nobody listens there. */
  readonly closed: number;
}

export interface Script {
  readonly name: string;
  /** What is sent: each piece after the answer to the one before. */
  pieces(ports: Ports, server: ComparedServer): readonly Buffer[];
  /** Up to where the script goes. */
  readonly expects: 'method' | 'login' | 'reply' | 'echo';
}

const PAYLOAD = 'ping';
/** A server that has not answered by then will not. */
const SILENCE_MS = 2_000;

const begin = (server: ComparedServer): readonly Buffer[] =>
  server.hasLogin ? [greeting(2), login(USER.username, USER.password)] : [greeting(0)];
const asks = (
  name: string,
  make: (ports: Ports) => Buffer,
  expects: Script['expects'] = 'reply',
): Script => ({ name, expects, pieces: (ports, server) => [...begin(server), make(ports)] });
const greets = (name: string, bytes: Buffer): Script => ({ name, expects: 'method', pieces: () => [bytes] });
const logsIn = (name: string, bytes: Buffer): Script => ({
  name,
  expects: 'login',
  pieces: () => [greeting(2), bytes],
});
/** The octet `at` of a request changed. */
const changed = (bytes: Buffer, at: number, value: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = value;
  return copy;
};

export const scripts: readonly Script[] = [
  greets('offers nothing', greeting()),
  greets('offers no login', greeting(0)),
  greets('offers GSSAPI and what is private', greeting(1, 0x80)),
  greets('offers "none acceptable"', greeting(0xff)),
  greets('speaks SOCKS4', Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0])),
  greets('speaks HTTP', Buffer.from('CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n')),
  logsIn('logs in', login(USER.username, USER.password)),
  logsIn('logs in with a wrong password', login(USER.username, 'wrong!')),
  logsIn('logs in as nobody', login('nobody', USER.password)),
  logsIn('logs in with the beginning of the password', login(USER.username, 'secre')),
  logsIn('logs in with a zero byte behind the password', login(USER.username, 'secret\0')),
  logsIn('logs in with an empty name', Buffer.from([1, 0, 1, 0x78])),
  logsIn(
    'logs in with an empty password',
    Buffer.concat([Buffer.from([1, 6]), Buffer.from('player'), Buffer.from([0])]),
  ),
  logsIn('logs in with version 5', changed(login(USER.username, USER.password), 0, 5)),
  asks('connects to IPv4', ({ echo }) => request('127.0.0.1', echo), 'echo'),
  asks('connects to IPv6', ({ echo }) => request('::1', echo), 'echo'),
  asks('connects to a name', ({ echo }) => request('localhost', echo), 'echo'),
  asks(
    'connects to an address written as a name',
    ({ echo }) => request(Buffer.from('127.0.0.1'), echo),
    'echo',
  ),
  asks('connects to an octal address written as a name', ({ echo }) =>
    request(Buffer.from('0177.0.0.1'), echo),
  ),
  asks('connects to a number written as a name', ({ echo }) => request(Buffer.from('2130706433'), echo)),
  asks('connects to 0.0.0.0', ({ echo }) => request('0.0.0.0', echo)),
  asks('connects to an IPv4-mapped address', ({ echo }) => request('::ffff:7f00:1', echo), 'echo'),
  asks('connects to an empty name', ({ echo }) => request(Buffer.alloc(0), echo)),
  asks('connects to a name with a zero byte', ({ echo }) =>
    request(Buffer.from('localhost\0.example'), echo),
  ),
  asks('connects to a name that does not exist', () => request('no-such-name.invalid', 80)),
  asks('connects to a closed port', ({ closed }) => request('127.0.0.1', closed)),
  asks('connects to port 0', () => request('127.0.0.1', 0)),
  asks('asks for BIND', ({ echo }) => request('127.0.0.1', echo, 2)),
  asks('asks for UDP ASSOCIATE', () => request('0.0.0.0', 0, 3)),
  asks('asks for command 9', ({ echo }) => request('127.0.0.1', echo, 9)),
  asks('asks with address type 5', ({ echo }) => changed(request('127.0.0.1', echo), 3, 5)),
  asks('asks with version 4', ({ echo }) => changed(request('127.0.0.1', echo), 0, 4)),
  {
    name: 'says everything in one packet',
    expects: 'echo',
    pieces: ({ echo }, server) => [Buffer.concat([...begin(server), request('127.0.0.1', echo)])],
  },
  asks('asks with RSV 1', ({ echo }) => changed(request('127.0.0.1', echo), 2, 1), 'echo'),
];

/** What the client sees: `method 02, login 00, reply 05, closed`; `silent` when nothing more comes. */
export async function play(script: Script, server: ComparedServer, ports: Ports): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const client = new RawClient(socket);
  const seen: string[] = [];
  const read = async (count: number): Promise<Buffer | null> => {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<'silent'>((resolve) => {
      timer = setTimeout(() => resolve('silent'), SILENCE_MS);
    });
    const bytes = await Promise.race([client.read(count).catch(() => 'closed' as const), silence]);
    clearTimeout(timer);
    if (typeof bytes === 'string') {
      seen.push(bytes);
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
    seen.push(`method ${hex(method[1])}`);
    if (script.expects === 'method') return void (await read(1));
    if (method[1] === 2) {
      sendNext();
      const status = await read(2);
      if (!status) return;
      seen.push(`login ${hex(status[1])}`);
    }
    if (script.expects === 'login') return void (await read(1));
    sendNext();
    const reply = await read(4);
    if (!reply) return;
    seen.push(`reply ${hex(reply[1])}`);
    if (!(await read(reply[3] === 4 ? 18 : 6))) return;
    if (script.expects !== 'echo' || reply[1] !== 0) return void (await read(1));
    client.send(PAYLOAD);
    if ((await read(PAYLOAD.length))?.toString() === PAYLOAD) seen.push('echo');
  };
  try {
    await run();
    return seen.join(', ');
  } finally {
    client.destroy();
  }
}
