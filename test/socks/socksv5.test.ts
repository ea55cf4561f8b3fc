// Each known defect of the package socksv5 is avoided: in the parser's adapter, and in the running daemon.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SocksParser } from '../../src/proxy/protocols/socksv5.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../helpers/descriptors.js';
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
import { echo, startTarget } from '../helpers/targets.js';

describe('the adapter of the socksv5 parser', () => {
  it('keeps every byte of an IPv6 destination, also zeros', () => {
    for (const bytes of [
      [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0x01, 0x01, 0],
      new Array<number>(16).fill(0),
      new Array<number>(16).fill(255),
      [0, 1, 0, 16, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ]) {
      const parser = new SocksParser();
      assert.equal(parser.feed(greeting(2))?.kind, 'methods');
      parser.expectRequest();
      const message = parser.feed(Buffer.from([5, 1, 0, 4, ...bytes, 0x1f, 0x90]));
      assert.ok(message?.kind === 'request');
      assert.deepEqual([...message.address], bytes);
      assert.equal(message.port, 8080);
      assert.equal(message.addressType, 4);
    }
  });

  it('keeps the octets of a domain name that is not UTF-8', () => {
    const parser = new SocksParser();
    parser.feed(greeting(2));
    parser.expectRequest();
    const message = parser.feed(Buffer.from([5, 1, 0, 3, 3, 0xff, 0x00, 0xfe, 0, 80]));
    assert.ok(message?.kind === 'request');
    assert.deepEqual([...message.address], [0xff, 0x00, 0xfe]);
  });

  it('reports bind and udp as well as connect', () => {
    for (const [code, command] of [
      [1, 'connect'],
      [2, 'bind'],
      [3, 'udp'],
    ] as const) {
      const parser = new SocksParser();
      parser.feed(greeting(2));
      parser.expectRequest();
      const message = parser.feed(request('127.0.0.1', 80, code));
      assert.ok(message?.kind === 'request');
      assert.equal(message.command, command);
    }
  });

  it('reports unsupported values by octet, not by text', () => {
    const failure = (bytes: number[]) => {
      const parser = new SocksParser();
      parser.feed(greeting(2));
      parser.expectRequest();
      const message = parser.feed(Buffer.from(bytes));
      return message?.kind === 'error' ? message.octet : message?.kind;
    };
    assert.equal(failure([4]), 'version');
    assert.equal(failure([5, 9]), 'command');
    assert.equal(failure([5, 1, 0, 9]), 'address-type');
    assert.equal(failure([5, 3, 0, 9]), 'address-type');
    assert.equal(new SocksParser().feed(Buffer.from([4]))?.kind, 'error');
    assert.equal(new SocksParser().feed(Buffer.from([5, 0]))?.kind, 'error');
  });

  it('returns the bytes after a message, with any chunk boundaries', () => {
    const bytes = Buffer.concat([greeting(0, 2), Buffer.from('next')]);
    for (let splitAt = 1; splitAt < bytes.length; splitAt += 1) {
      const parser = new SocksParser();
      const first = parser.feed(bytes.subarray(0, splitAt));
      const message = first ?? parser.feed(bytes.subarray(splitAt));
      assert.equal(message?.kind, 'methods');
      const rest = Buffer.concat([
        parser.rest ?? Buffer.alloc(0),
        first ? bytes.subarray(splitAt) : Buffer.alloc(0),
      ]);
      assert.equal(rest.toString(), 'next', `split at ${splitAt}`);
    }
  });

  it('shares no state between connections', () => {
    const parsers = Array.from({ length: 50 }, () => new SocksParser());
    for (const parser of parsers) parser.feed(greeting(2));
    for (const parser of parsers) parser.expectRequest();
    const requests = parsers.map((_, i) => request(`host-${i}.test`, 1000 + i));
    for (let at = 0; at < 30; at += 1) {
      for (const [i, parser] of parsers.entries()) {
        const byte = requests[i]?.subarray(at, at + 1);
        const message = byte?.length ? parser.feed(byte) : null;
        if (message === null) continue;
        assert.ok(message.kind === 'request');
        assert.equal(Buffer.from(message.address).toString(), `host-${i}.test`);
        assert.equal(message.port, 1000 + i);
      }
    }
  });
});

describe('the running daemon, despite defects of socksv5', async () => {
  const daemon = await startTestDaemon(suiteScope());
  const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
  await daemon.addAccount('player', 'secret');

  it('continues after a failed login', async () => {
    for (let i = 0; i < 3; i += 1) {
      const client = await RawClient.connect(daemon.socks.port);
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
    const [a, b] = await Promise.all([
      RawClient.connect(daemon.socks.port),
      RawClient.connect(daemon.socks.port),
    ]);
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
    const before = openDescriptors(daemon.pid);
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
