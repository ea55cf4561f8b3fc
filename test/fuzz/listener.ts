// Recorded sessions with changed bytes, sent to the running daemon in packets of any length and ended in every way.
// The daemon must answer as the protocol requires, end the connection in time, and work as before.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { TestDaemon } from '../helpers/daemon.js';
import { NO_GUARD, startTestDaemon } from '../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../helpers/descriptors.js';
import { basic } from '../helpers/http.js';
import { connectHead } from '../helpers/http-proxy-client.js';
import { startNameServer } from '../helpers/name-server.js';
import { connectThrough, greeting, login, request } from '../helpers/socks-client.js';
import type { Scope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';
import { createRandom, type Random } from './random.js';

/** All addresses but loopback, so that no changed byte in an address makes the daemon connect to another machine. */
const NOT_LOOPBACK = [
  '0.0.0.0/2', '64.0.0.0/3', '96.0.0.0/4', '112.0.0.0/5', '120.0.0.0/6', '124.0.0.0/7', '126.0.0.0/8', '128.0.0.0/1',
  '100::/8', '200::/7', '400::/6', '800::/5', '1000::/4', '2000::/3', '4000::/2', '8000::/1',
]; // biome-ignore format: a table

const AT_ONCE = 24;
const ANSWER_TIMEOUT_MS = 10_000;

export interface ListenerFuzz {
  /** Runs a number of cases from a seed. Rejects with the seed and the bytes of the first case that fails. */
  run(cases: number, seed: number): Promise<void>;
  /** Rejects unless the daemon has no more descriptors, logged no error, and serves a session. */
  check(): Promise<void>;
}

export async function startListenerFuzz(t: Scope): Promise<ListenerFuzz> {
  const names = await startNameServer(t, (name) => (name.endsWith('.test') ? ['127.0.0.1'] : undefined));
  const unlimited = { maxFailuresPerSource: 1_000_000, maxFailuresPerUser: 1_000_000 };
  const daemon = await startTestDaemon(t, {
    config: {
      socks: {
        handshakeTimeout: '400ms',
        connectTimeout: '1s',
        idleTimeout: '1s',
        halfCloseTimeout: '500ms',
        login: unlimited,
        bind: { enabled: true, timeout: '1s' },
        udp: { idleTimeout: '1s' },
      },
      egress: { private: 'allow', deny: NOT_LOOPBACK },
      guard: NO_GUARD,
      dns: { servers: [names.address], timeout: '1s' },
    },
  });
  await daemon.addAccount('player', 'secret');
  const target = await startTarget(t, echo);
  const sessions = recordedSessions(target);
  const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
  (await connectThrough(account, '127.0.0.1', target.port)).destroy();
  const descriptorsBefore = openDescriptors(daemon.pid);

  return {
    async run(cases, seed) {
      const random = createRandom(seed);
      let remaining = cases;
      const worker = async (): Promise<void> => {
        while (remaining > 0) {
          remaining -= 1;
          const bytes = mutate(random, sessions[random.below(sessions.length)] ?? Buffer.alloc(0));
          try {
            await runCase(daemon, random, bytes);
          } catch (cause) {
            throw new Error(`seed ${seed}, sent ${bytes.toString('hex')}`, { cause });
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    },

    async check() {
      assert.equal(daemon.process.exitCode, null);
      await descriptorsBackTo(daemon.pid, descriptorsBefore + 4, 20_000);
      // pino's levels: 50 is error.
      const errors = daemon.lines.filter((line) => Number(line['level']) >= 50 || line['level'] === 'error');
      assert.deepEqual(errors, []);
      assert.equal(daemon.stderr(), '');
      const client = await connectThrough(account, '127.0.0.1', target.port);
      client.send('well');
      assert.equal((await client.read(4)).toString(), 'well');
      client.destroy();
    },
  };
}

function recordedSessions({ port }: Target): Buffer[] {
  const start = [greeting(2), login('player', 'secret')];
  const payload = Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return [
    ...['127.0.0.1', '::1', 'name.test', '::ffff:7f00:1'].map((host) =>
      Buffer.concat([...start, request(host, port), payload]),
    ),
    ...[2, 3].map((command) => Buffer.concat([...start, request('127.0.0.1', port, command), payload])),
    Buffer.concat([...start, request('no-such-name.example', 80)]),
    Buffer.concat([greeting(0, 2, 0x80), login('player', 'wrong'), request('127.0.0.1', port)]),
    Buffer.concat([greeting(2), login('x'.repeat(255), 'y'.repeat(255))]),
    // SOCKS4, SOCKS4a, TLS and HTTP: what scanners send.
    Buffer.from([4, 1, port >> 8, port & 255, 127, 0, 0, 1, 0]),
    Buffer.from([4, 1, 0, 80, 0, 0, 0, 1, 0x61, 0, 0x78, 0x2e, 0x74, 0x65, 0x73, 0x74, 0]),
    Buffer.from('160301007a0100007603030000', 'hex'),
    Buffer.from('CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n'),
    ...['127.0.0.1', '[::1]', 'name.test'].map((host) =>
      Buffer.from(
        `POST http://${host}:${port}/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${basic('player', 'secret')}\r\n` +
          'Transfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nX: y\r\n\r\n',
      ),
    ),
    ...[`127.0.0.1:${port}`, `[::1]:${port}`, `name.test:${port}`].map((authority) =>
      Buffer.concat([Buffer.from(connectHead(authority)), payload]),
    ),
  ];
}

function mutate(random: Random, original: Buffer): Buffer {
  const list = [...original];
  for (let changes = random.below(5); changes > 0; changes -= 1) {
    const at = random.below(list.length + 1);
    const kind = random.below(6);
    if (kind === 0) list[Math.min(at, list.length - 1)] = random.below(256);
    else if (kind === 1) list.splice(at, 1 + random.below(3));
    else if (kind === 2)
      list.splice(at, 0, ...Array.from({ length: 1 + random.below(300) }, () => random.below(256)));
    else if (kind === 3) list.splice(at, 0, ...list.slice(at, at + random.below(20)));
    else if (kind === 4) list.length = at;
    else if (list.length > 0) list[at % list.length] = (list[at % list.length] ?? 0) ^ (1 << random.below(8));
  }
  return Buffer.from(list);
}

/** Sends `bytes`, ends in one of four ways, and waits until the connection is gone. */
function runCase(daemon: TestDaemon, random: Random, bytes: Buffer): Promise<void> {
  const ending = random.below(4);
  return new Promise((resolve, reject) => {
    const socket = connect({
      port: daemon.socks.port,
      host: '127.0.0.1',
      allowHalfOpen: true,
      noDelay: true,
    });
    const received: Buffer[] = [];
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`still open; received ${Buffer.concat(received).toString('hex')}`));
    }, ANSWER_TIMEOUT_MS);
    socket.on('data', (chunk) => received.push(chunk));
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(timer);
      try {
        assertAnswer(Buffer.concat(received));
        resolve();
      } catch (error) {
        reject(error);
      }
    });
    let at = 0;
    const sendNext = (): void => {
      if (socket.destroyed) return;
      const length = 1 + random.below(random.below(3) === 0 ? 3 : 600);
      if (at < bytes.length) socket.write(bytes.subarray(at, at + length));
      at += length;
      if (at < bytes.length) return void setImmediate(sendNext);
      // With 0 the client waits, and the daemon must end the connection.
      if (ending === 1) socket.end();
      if (ending === 2) socket.destroy();
      if (ending === 3) socket.resetAndDestroy();
    };
    socket.once('connect', sendNext);
  });
}

/** An answer of HTTP (RFC 9110 §15): an open tunnel and any bytes after it, or one complete refusal. */
function assertHttpAnswer(text: string): void {
  if (text.startsWith('HTTP/1.1 200 Connection established\r\n\r\n')) return;
  const [, length, body] =
    /^HTTP\/1\.1 [45]\d\d .*\r\nContent-Length: (\d+)\r\n.*\r\n\r\n(.*)$/s.exec(text) ?? [];
  assert.equal(body?.length, Number(length), text);
}

/** The chosen method, the status of the login, a reply, and only after these other bytes: RFC 1928 §3 and §6, RFC 1929 §2. */
function assertAnswer(bytes: Buffer): void {
  if (bytes[0] === 0x48) return assertHttpAnswer(bytes.toString('latin1'));
  const hex = bytes.toString('hex');
  if (hex === '') return;
  // SOCKS4: no account has an authorized address here.
  if (hex.startsWith('00')) return assert.match(hex, /^005[bd]0{12}$/);
  assert.match(hex, /^05(02|ff)/, hex);
  if (hex.startsWith('05ff')) return assert.equal(hex, '05ff');
  if (hex.length === 4) return;
  assert.match(hex, /^05020[1](00|01)/, hex);
  if (hex.startsWith('05020101')) return assert.equal(hex, '05020101');
  if (hex.length === 8) return;
  assert.match(hex, /^05020100050[0-8]00(01.{12}|04.{36})/, hex);
  if (!hex.startsWith('0502010005' + '00')) assert.equal(hex.length, 8 + 20, hex);
}
