// CONNECT from a client's point of view: kinds of destinations, replies, relayed bytes, and the end of the connection.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../helpers/descriptors.js';
import { eventually } from '../helpers/eventually.js';
import { freePort } from '../helpers/ports.js';
import { IPV6, needs, needsFor } from '../helpers/programs.js';
import {
  connectThrough,
  greeting,
  loggedInClient,
  login,
  RawClient,
  readReply,
  request,
} from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, hold, startTarget } from '../helpers/targets.js';
import { settled } from '../proxy/io/helpers.js';

const PLAYER = { username: 'player', password: 'secret' };

describe('CONNECT', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let account: { port: number; username: string; password: string };

  before(async () => {
    daemon = await startTestDaemon(scope, { config: { socks: { connectTimeout: '2s' } } });
    await daemon.addAccount(PLAYER.username, PLAYER.password);
    account = { port: daemon.socks.port, ...PLAYER };
  });

  for (const [kind, host, listenOn] of [
    ['an IPv4 address', '127.0.0.1', '127.0.0.1'],
    ['an IPv6 address', '::1', '::1'],
    ['an IPv4 address sent as a name', Buffer.from('127.0.0.1'), '127.0.0.1'],
    ['an IPv6 address sent as a name', Buffer.from('::1'), '::1'],
    ['an IPv4-mapped IPv6 address', '::ffff:7f00:1', '127.0.0.1'],
    ['localhost on IPv4', 'localhost', '127.0.0.1'],
    ['localhost on IPv6 only', 'localhost', '::1'],
    ['a name in capitals with a trailing dot', 'LocalHost.', '127.0.0.1'],
  ] as const) {
    it(`connects to ${kind}`, needsFor(listenOn), async (t) => {
      const target = await startTarget(t, echo, listenOn);
      const client = await connectThrough(account, host as string, target.port);
      client.send('ping');
      assert.equal((await client.read(4)).toString(), 'ping');
      client.destroy();
    });
  }

  it('replies after the destination has answered, with the bound address of the real socket', async (t) => {
    const target = await startTarget(t, hold);
    const client = await loggedInClient(account);
    client.send(request('127.0.0.1', target.port));
    const reply = await readReply(client);
    const accepted = await target.nextConnection();
    assert.equal(reply.code, 0);
    assert.equal(reply.address, '127.0.0.1');
    assert.equal(reply.port, accepted.remotePort);
    client.destroy();
  });

  it('replies with a 22-byte frame when the bound address is IPv6', needs(IPV6), async (t) => {
    const target = await startTarget(t, hold, '::1');
    const client = await loggedInClient(account);
    client.send(request('::1', target.port));
    const reply = await readReply(client);
    assert.deepEqual([reply.code, reply.atyp, reply.address], [0, 4, '0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1']);
    client.destroy();
  });

  it('replies 05 to a refused connection, in 10 bytes, and closes', async (t) => {
    const target = await startTarget(t, hold);
    const client = await loggedInClient(account);
    client.send(request('127.0.0.1', await freePort()));
    assert.equal((await client.readToEnd()).toString('hex'), '05050001000000000000');
    assert.equal(await client.closed(), 'closed');
    assert.equal(target.accepted(), 0);
  });

  it('replies 04 to a name that does not exist', async () => {
    const client = await loggedInClient(account);
    client.send(request('no-such-name.invalid', 80));
    assert.equal((await client.readToEnd()).toString('hex'), '05040001000000000000');
  });

  for (const command of [0, 4, 0x80, 255]) {
    it(`replies 07 to command ${command}`, async () => {
      const client = await loggedInClient(account);
      client.send(request('127.0.0.1', 80, command));
      assert.equal((await client.readToEnd()).toString('hex'), '05070001000000000000');
    });
  }

  for (const addressType of [0, 2, 5, 255]) {
    it(`replies 08 to address type ${addressType}`, async () => {
      const client = await loggedInClient(account);
      client.send(Buffer.from([5, 1, 0, addressType, 1, 2, 3, 4, 0, 80]));
      assert.equal((await client.readToEnd()).toString('hex'), '05080001000000000000');
    });
  }

  it('replies 01 to a request of another version', async () => {
    const client = await loggedInClient(account);
    client.send(Buffer.from([4, 1, 0, 1, 127, 0, 0, 1, 0, 80]));
    assert.equal((await client.readToEnd()).toString('hex'), '05010001000000000000');
  });

  it('closes the connection of a refused request that is followed by other bytes', async () => {
    const client = await loggedInClient(account);
    client.send(Buffer.concat([request('127.0.0.1', 80, 9), randomBytes(5000)]));
    assert.equal((await client.readToEnd()).toString('hex'), '05070001000000000000');
    assert.equal(await client.closed(), 'closed');
  });

  it('relays bytes that a client sends in one packet with its handshake', async (t) => {
    const target = await startTarget(t, echo);
    const client = await RawClient.connect(account.port);
    const early = randomBytes(100_000);
    client.send(
      Buffer.concat([
        greeting(2),
        login(PLAYER.username, PLAYER.password),
        request('127.0.0.1', target.port),
        early,
      ]),
    );
    await client.read(2 + 2 + 10);
    assert.ok((await client.read(early.length)).equals(early));
    client.destroy();
  });

  it('relays a half-close of the client, and then the response', async (t) => {
    const target = await startTarget(t, (socket) => {
      const hash = createHash('sha256');
      socket.on('data', (chunk) => hash.update(chunk));
      socket.on('end', () => socket.end(hash.digest('hex')));
    });
    const client = await connectThrough(account, '127.0.0.1', target.port);
    const sent = randomBytes(3_000_000);
    client.send(sent);
    client.socket.end();
    const answer = (await client.readToEnd()).toString();
    assert.equal(answer, createHash('sha256').update(sent).digest('hex'));
    assert.equal(await client.closed(), 'closed');
  });

  it('relays a half-close of the destination, and then bytes of the client', async (t) => {
    const target = await startTarget(t, (socket) => socket.end('bye'));
    const client = await connectThrough(account, '127.0.0.1', target.port);
    const upstream = await target.nextConnection();
    assert.equal((await client.readToEnd()).toString(), 'bye');
    const received = readAll(upstream);
    client.send('still here');
    client.socket.end();
    assert.equal(await received, 'still here');
  });

  it('resets the client when the destination resets', async (t) => {
    const target = await startTarget(t, hold);
    const client = await connectThrough(account, '127.0.0.1', target.port);
    (await target.nextConnection()).resetAndDestroy();
    assert.equal(await client.closed(), 'reset');
  });

  it('closes the destination at once when the client resets', async (t) => {
    const target = await startTarget(t, hold);
    const client = await connectThrough(account, '127.0.0.1', target.port);
    const upstream = await target.nextConnection();
    const closed = new Promise((resolve) => upstream.once('close', resolve));
    upstream.resume();
    client.socket.resetAndDestroy();
    await closed;
  });

  it('stops reading from a sender whose receiver does not read', async (t) => {
    const target = await startTarget(t, hold);
    const client = await connectThrough(account, '127.0.0.1', target.port);
    const upstream = await target.nextConnection();
    upstream.pause();
    const chunk = Buffer.alloc(1 << 20);
    let written = 0;
    // Writes until all buffers on the way are full.
    await new Promise<void>((resolve) => {
      let stalled: NodeJS.Timeout;
      const push = (): void => {
        clearTimeout(stalled);
        stalled = setTimeout(resolve, 400);
        while (written < 512 * chunk.length) {
          written += chunk.length;
          if (!client.socket.write(chunk)) return void client.socket.once('drain', push);
        }
      };
      push();
    });
    assert.ok(written < 64 * chunk.length, `${written} bytes were taken without a reader`);
    client.destroy();
  });

  it('shows the login and the session in the account list, and logs the session once', async (t) => {
    await daemon.addAccount('counted', 'secret');
    assert.equal((await daemon.account('counted'))['LastLoginAt'], null);
    const target = await startTarget(t, echo);
    const client = await connectThrough({ ...account, username: 'counted' }, 'localhost', target.port);
    client.send('0123456789');
    await client.read(10);
    assert.equal((await daemon.account('counted'))['DataCount'], 1);
    client.socket.end();
    await client.closed();
    const line = await daemon.waitForLine(
      (each) => each.msg === 'session ended' && each['account'] === 'counted',
    );
    assert.deepEqual(
      [line['client'], line['destination'], line['address'], line['bytesUp'], line['bytesDown'], line['end']],
      ['127.0.0.1', `localhost:${target.port}`, '127.0.0.1', 10, 10, 'client-closed'],
    );
    const shown = await daemon.account('counted');
    assert.match(String(shown['LastLoginAt']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    assert.equal(shown['DataCount'], 2);
    assert.equal(shown['LatestGameId'], null);
    assert.equal(daemon.lines.filter((each) => each['account'] === 'counted').length, 1);
  });

  it('relays the bytes after urgent data at once', async (t) => {
    const target = await startTarget(t, echo);
    const client = await connectThrough(account, '127.0.0.1', target.port);
    // All three arrive before the daemon reads.
    daemon.signal('SIGSTOP');
    client.send('before');
    sendUrgent(client.socket);
    client.send('after');
    daemon.signal('SIGCONT');
    assert.equal((await client.read(11)).toString(), 'beforeafter');
    client.destroy();
  });

  it('escapes control characters of a user name in the log', async () => {
    const client = await RawClient.connect(account.port);
    client.send(Buffer.concat([greeting(2), login('a\nb\u001b[31m\u202e"}', 'x')]));
    await client.readToEnd();
    const line = await daemon.waitForLine(
      (each) => each.msg === 'login failed' && String(each['user']).startsWith('a'),
    );
    assert.equal(line['user'], 'a\\x0ab\\x1b[31m\\u{202e}"}');
    await eventually(() => assert.equal(line['client'], '127.0.0.1'));
  });

  describe('despite defects of socksv5', () => {
    it('continues after a failed login', async () => {
      for (let i = 0; i < 3; i += 1) {
        const client = await RawClient.connect(account.port);
        client.send(Buffer.concat([greeting(2), login('player', 'wrong')]));
        assert.equal((await client.readToEnd()).toString('hex'), '05020101');
      }
      const client = await loggedInClient(account);
      client.destroy();
      assert.equal(daemon.process.exitCode, null);
    });

    it('does not mix the credentials of concurrent logins', async () => {
      await daemon.addAccount('first', 'password-1');
      await daemon.addAccount('second', 'password-22');
      const [a, b] = await Promise.all([RawClient.connect(account.port), RawClient.connect(account.port)]);
      a.send(greeting(2));
      b.send(greeting(2));
      await Promise.all([a.read(2), b.read(2)]);
      const [loginA, loginB] = [login('first', 'password-1'), login('second', 'password-22')];
      a.send(loginA.subarray(0, 9));
      b.send(loginB.subarray(0, 4));
      a.send(loginA.subarray(9));
      b.send(loginB.subarray(4));
      assert.deepEqual([...(await a.read(2))], [1, 0]);
      assert.deepEqual([...(await b.read(2))], [1, 0]);
      a.destroy();
      b.destroy();
    });

    it('does not take an empty domain name for localhost', async (t) => {
      const target = await startTarget(t, echo);
      const client = await loggedInClient(account);
      client.send(request('', target.port));
      assert.equal((await readReply(client)).code, 2);
      assert.equal(target.accepted(), 0);
    });

    it('closes the sockets of refused requests that are followed by other bytes', async () => {
      (await loggedInClient(account)).destroy();
      // Those of the tests before may still be closing.
      const before = await settled(() => openDescriptors(daemon.pid));
      const clients = await Promise.all(Array.from({ length: 40 }, () => loggedInClient(account)));
      for (const client of clients)
        client.send(Buffer.concat([request('127.0.0.1', 80, 9), Buffer.alloc(20_000)]));
      // The clients never close their connections, and the daemon must not wait for that.
      await descriptorsBackTo(daemon.pid, before);
      for (const client of clients) client.destroy();
    });

    it('resets the client after a reset of the destination, and relays the response after a half-close', async (t) => {
      const target = await startTarget(t, (socket) => {
        socket.once('data', (chunk) => {
          if (chunk.toString() === 'reset') socket.resetAndDestroy();
        });
        socket.on('end', () => socket.end('answer'));
      });
      const reset = await connectThrough(account, '127.0.0.1', target.port);
      reset.send('reset');
      assert.equal(await reset.closed(), 'reset');
      const halfClosed = await connectThrough(account, '127.0.0.1', target.port);
      halfClosed.socket.end('question');
      assert.equal((await halfClosed.readToEnd()).toString(), 'answer');
    });
  });
});

/** Sends one byte of urgent data (RFC 9293 §3.8.5), which Node cannot. */
function sendUrgent(socket: Socket): void {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const send = koffi.load(null).func('intptr_t send(int socket, void *from, size_t bytes, int flags)');
  const { fd } = (socket as unknown as { readonly _handle: { readonly fd: number } })._handle;
  const MSG_OOB = 1;
  assert.equal(send(fd, Buffer.from('!'), 1, MSG_OOB), 1);
}

function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('end', () => resolve(text));
    socket.resume();
  });
}
