// The handshake with any packet boundaries, interleaved clients and mistakes: the right reply or a closed socket, and no leak.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../helpers/descriptors.js';
import { forEach } from '../helpers/for-each.js';
import { greeting, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

const LONGEST = `${'ü'.repeat(127)}x`; // 255 bytes of UTF-8, the most that RFC 1929 can carry

describe('the handshake', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let withShortLimit: TestDaemon;
  let target: Target;
  let port: number;

  before(async () => {
    // Under load a handshake may take long, so only the daemon for stalled clients has a short time limit.
    [daemon, withShortLimit] = (await Promise.all(
      ['5m', '3s'].map((handshakeTimeout) =>
        startTestDaemon(scope, {
          config: {
            socks: { protocols: ['socks5'], handshakeTimeout, login: { maxFailuresPerSource: 10_000 } },
          },
        }),
      ),
    )) as [TestDaemon, TestDaemon];
    target = await startTarget(scope, echo);
    port = daemon.socks.port;
    for (const each of [daemon, withShortLimit]) await each.addAccount('player', 'secret');
    await daemon.addAccount(LONGEST, LONGEST);
  });

  const handshakeTo = (destination: string): Buffer =>
    Buffer.concat([
      greeting(0, 2, 1),
      login('player', 'secret'),
      request(destination, target.port),
      Buffer.from('hello'),
    ]);

  async function assertSuccess(client: RawClient): Promise<void> {
    assert.equal((await client.read(4)).toString('hex'), '05020100');
    assert.equal((await readReply(client)).code, 0);
    assert.equal((await client.read(5)).toString(), 'hello');
    client.destroy();
  }

  for (const destination of ['127.0.0.1', 'localhost', '::ffff:7f00:1']) {
    it(`works when it is split in two at any byte, to ${destination}`, async () => {
      const bytes = handshakeTo(destination);
      const positions = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
      await forEach(positions, 8, async (splitAt) => {
        const client = await RawClient.connect(port);
        client.send(bytes.subarray(0, splitAt));
        await flushed(client);
        client.send(bytes.subarray(splitAt));
        await assertSuccess(client);
      });
    });

    it(`works when it arrives byte by byte, to ${destination}`, async () => {
      const client = await RawClient.connect(port);
      for (const byte of handshakeTo(destination)) {
        client.send(Buffer.from([byte]));
        await flushed(client);
      }
      await assertSuccess(client);
    });
  }

  it('accepts the longest user name and password, byte by byte', async () => {
    const client = await RawClient.connect(port);
    for (const byte of Buffer.concat([greeting(2), login(LONGEST, LONGEST)])) {
      client.send(Buffer.from([byte]));
      await flushed(client);
    }
    assert.equal((await client.read(4)).toString('hex'), '05020100');
    client.destroy();
  });

  it('never mixes 500 interleaved logins', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `user-${i}`);
    await forEach(names, 5, async (name) => {
      await daemon.addAccount(name, `password of ${name}`);
    });
    // Every second login has the password of another account and must fail.
    const cases = Array.from({ length: 500 }, (_, i) => ({
      name: names[i % 25] ?? '',
      password: `password of ${names[(i % 25) + (i % 2 === 0 ? 0 : i % 25 === 24 ? -1 : 1)]}`,
      mayPass: i % 2 === 0,
    }));
    const clients = await Promise.all(cases.map(() => RawClient.connect(port)));
    const queues = cases.map(({ name, password }) => [
      ...Buffer.concat([greeting(2), login(name, password)]),
    ]);
    // One byte of every connection in turn, so that all 500 logins are in progress at once.
    for (let at = 0; queues.some((queue) => at < queue.length); at += 1) {
      for (const [i, queue] of queues.entries()) {
        const byte = queue[at];
        if (byte !== undefined) clients[i]?.send(Buffer.from([byte]));
      }
      await Promise.all([clients[0], clients[499]].map((client) => client && flushed(client)));
    }
    for (const [i, client] of clients.entries()) {
      const expected = cases[i]?.mayPass ? '05020100' : '05020101';
      assert.equal((await client.read(4)).toString('hex'), expected, `login ${i}`);
      client.destroy();
    }
  });

  it('has the same reply for unknown users, wrong passwords, disabled and expired accounts', async () => {
    await daemon.addAccount('disabled', 'secret', { IsEnabled: false });
    await daemon.addAccount('expired', 'secret', { ExpiresAt: '2020-01-01T00:00:00' });
    for (const [name, password, message, reason] of [
      ['nobody', 'secret', 'login failed', 'unknown-user'],
      ['player', 'wrong', 'login failed', 'wrong-password'],
      ['PLAYER', 'secret', 'login failed', 'unknown-user'],
      ['player+jp', 'secret', 'login failed', 'unknown-user'],
      ['disabled', 'secret', 'login refused', 'disabled'],
      ['expired', 'secret', 'login refused', 'expired'],
      [Buffer.from([0xff, 0xfe]), 'secret', 'login failed', 'unknown-user'],
    ] as const) {
      const client = await RawClient.connect(port);
      client.send(Buffer.concat([greeting(2), login(name, password)]));
      assert.equal((await client.readToEnd()).toString('hex'), '05020101');
      assert.equal(await client.closed(), 'closed');
      await daemon.waitForLine((line) => line.msg === message && line['reason'] === reason);
    }
  });

  it('has the reply 05 FF when only other methods are offered', async () => {
    for (const methods of [[0], [1], [0, 1, 3, 0x80], [0xff]]) {
      const client = await RawClient.connect(port);
      client.send(greeting(...methods));
      assert.equal((await client.readToEnd()).toString('hex'), '05ff');
      assert.equal(await client.closed(), 'closed');
    }
  });

  it('is closed at its time limit at any stage', async () => {
    const stalls = [0, 1, 3, 5, 12].map(async (sent) => {
      const startedAt = Date.now();
      const client = await RawClient.connect(withShortLimit.socks.port);
      client.send(handshakeTo('127.0.0.1').subarray(0, sent));
      await client.closed();
      assert.ok(Date.now() - startedAt >= 2_500, 'it was closed before its time limit');
    });
    await Promise.all(stalls);
  });

  it('ends with the right reply or a closed socket when it is malformed, and leaves no descriptor open', async () => {
    const before = openDescriptors(daemon.pid);
    const cases = malformed();
    assert.ok(cases.length >= 200, `${cases.length} cases`);
    await forEach(cases, 16, async ({ bytes, answer }) => {
      const client = await RawClient.connect(port);
      client.send(bytes);
      if (answer === null) client.socket.end();
      const received = await client.readToEnd();
      const expected = answer ?? '';
      assert.ok(
        received.toString('hex').startsWith(expected),
        `${bytes.toString('hex')}: ${received.toString('hex')}`,
      );
      if (answer !== null) assert.equal(received.toString('hex'), expected);
      await client.closed();
    });
    await descriptorsBackTo(daemon.pid, before + 2);
  });
});

interface Malformed {
  readonly bytes: Buffer;
  /** All bytes of the server; null when the client closes first, and any prefix of a successful handshake is right. */
  readonly answer: string | null;
}

/** Handshakes that cannot succeed, ordered by the stage that fails. */
function malformed(): Malformed[] {
  const noMethod = '05ff';
  const failedLogin = '05020101';
  const cases: Malformed[] = [];
  for (let version = 0; version < 256; version += 3) {
    if (version !== 5) cases.push({ bytes: Buffer.from([version, 1, 2]), answer: noMethod });
  }
  cases.push({ bytes: Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), answer: noMethod });
  cases.push({ bytes: Buffer.from([22, 3, 1, 2, 0, 1, 0]), answer: noMethod });
  cases.push({ bytes: Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0]), answer: noMethod });
  cases.push({ bytes: Buffer.from([5, 0]), answer: noMethod });
  cases.push({ bytes: Buffer.from([5, 255, ...new Array<number>(255).fill(0)]), answer: noMethod });
  for (let version = 0; version < 256; version += 7) {
    if (version !== 1)
      cases.push({
        bytes: Buffer.concat([greeting(2), Buffer.from([version, 1, 97, 1, 97])]),
        answer: failedLogin,
      });
  }
  cases.push({ bytes: Buffer.concat([greeting(2), Buffer.from([1, 0, 1, 97])]), answer: failedLogin });
  // No user name and no password, from an address that no account authorizes.
  cases.push({ bytes: Buffer.concat([greeting(2), Buffer.from([1, 0, 0])]), answer: failedLogin });
  cases.push({ bytes: Buffer.concat([greeting(2), Buffer.from([1, 1, 97, 0])]), answer: failedLogin });
  for (let i = 0; i < 20; i += 1) {
    cases.push({
      bytes: Buffer.concat([greeting(2), login(randomBytes(1 + i * 12), randomBytes(255 - i * 12))]),
      answer: failedLogin,
    });
  }
  const good = Buffer.concat([greeting(2), login('player', 'secret')]);
  for (let version = 0; version < 256; version += 9) {
    if (version !== 5)
      cases.push({
        bytes: Buffer.concat([good, Buffer.from([version, 1, 0, 1, 1, 2, 3, 4, 0, 1])]),
        answer: '0502010005010001000000000000',
      });
  }
  for (let command = 4; command < 256; command += 9) {
    cases.push({
      bytes: Buffer.concat([good, request('127.0.0.1', 80, command)]),
      answer: '0502010005070001000000000000',
    });
  }
  for (const atyp of [0, 2, 5, 6, 7, 127, 128, 254, 255]) {
    cases.push({
      bytes: Buffer.concat([good, Buffer.from([5, 1, 0, atyp, 1, 2, 3, 4, 5, 6])]),
      answer: '0502010005080001000000000000',
    });
  }
  for (const name of ['', '\0', 'a b', 'a\0b', 'ü', '2130706433', '0x7f.1', '-a', 'a..b', 'a'.repeat(64)]) {
    cases.push({
      bytes: Buffer.concat([good, request(Buffer.from(name), 80)]),
      answer: '0502010005020001000000000000',
    });
  }
  // Valid beginnings: the client disconnects after each byte.
  const whole = Buffer.concat([good, request('127.0.0.1', 9)]);
  for (let splitAt = 0; splitAt < whole.length; splitAt += 1)
    cases.push({ bytes: whole.subarray(0, splitAt), answer: null });
  return cases;
}

/** Resolves once the bytes are sent, so that the next ones are in another packet. */
async function flushed(client: RawClient): Promise<void> {
  await new Promise<void>((resolve) => {
    client.socket.write('', () => setImmediate(resolve));
  });
}
