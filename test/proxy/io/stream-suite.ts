// What the streams, listeners and timers of every engine must do.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import {
  AF_INET,
  AF_UNIX,
  type Libc,
  loadLibc,
  SOCK_STREAM,
  SOCKADDR_BYTES,
} from '../../../src/proxy/io/native/libc.js';
import { readSockaddr, writeSockaddr } from '../../../src/proxy/io/native/sockaddr.js';
import type { ListenerSpec } from '../../../src/proxy/messages.js';
import { eventually } from '../../helpers/eventually.js';
import { freePort } from '../../helpers/ports.js';
import { IPV6, needs, needsFor } from '../../helpers/programs.js';
import { type Driver, Remote, type RemoteStream } from './driver.js';
import { closed, it, readAll, settled, Target } from './helpers.js';

type Listener = Exclude<Awaited<ReturnType<Driver['listen']>>, string>;

export function streamSuite(driver: () => Driver): void {
  let listener: Listener;
  let target: Target;
  let accepted = 0;
  const clients: Socket[] = [];

  before(async () => {
    listener = await listen('127.0.0.1');
    target = await Target.start();
  });
  after(async () => {
    await listener.listener.call('close');
    target.close();
    for (const client of clients) client.destroy();
  });

  async function listen(address: string, port = 0): Promise<Listener> {
    const result = await driver().listen(address, port);
    return typeof result === 'string' ? assert.fail(result) : result;
  }

  /** Connects a client of the test to the driver. */
  async function pair(): Promise<{ client: Socket; stream: RemoteStream }> {
    const client = connect({
      port: listener.local.port,
      host: '127.0.0.1',
      allowHalfOpen: true,
      noDelay: true,
    });
    clients.push(client.on('error', () => {}));
    const stream = await driver().accepted(listener.listener, accepted++);
    return { client, stream };
  }

  async function dialStream(to: { address: string; port: number }): Promise<RemoteStream> {
    const result = await driver().connect(to);
    return typeof result === 'string' ? assert.fail(result) : result;
  }

  it('an accepted stream has both endpoints, and transfers bytes and FIN both ways', async () => {
    const { client, stream } = await pair();
    assert.deepEqual(stream.peer, { address: '127.0.0.1', port: client.localPort });
    assert.deepEqual(stream.local, listener.local);
    await stream.call('resume');
    client.write('one');
    await stream.data(3);
    client.end(' two');
    await stream.event('end');
    assert.equal(stream.received.toString(), 'one two');
    await stream.call('write', Buffer.from('answer'));
    await stream.call('shutdown');
    assert.equal((await readAll(client)).toString(), 'answer');
    await stream.call('close');
    await closed(client);
    assert.equal(stream.events('end').length + stream.events('failed').length, 1);
  });

  it('a dialled stream has both endpoints, and transfers bytes and FIN both ways', async () => {
    const stream = await dialStream({ address: '127.0.0.1', port: target.port });
    const far = await target.connectionFrom(stream.local.port);
    assert.deepEqual(stream.peer, { address: '127.0.0.1', port: target.port });
    assert.equal(stream.local.address, '127.0.0.1');
    await stream.call('write', Buffer.from('question'));
    await stream.call('shutdown');
    assert.equal((await readAll(far.resume())).toString(), 'question');
    far.end('answer');
    await stream.call('resume');
    await stream.event('end');
    assert.equal(stream.received.toString(), 'answer');
    await stream.call('close');
    await closed(far);
  });

  it('bytes that the peer sends at once are kept until the stream is read', async () => {
    const banner = createServer((socket) => socket.end('220 ready'));
    banner.listen(0, '127.0.0.1');
    await once(banner, 'listening');
    const stream = await dialStream({
      address: '127.0.0.1',
      port: (banner.address() as { port: number }).port,
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([stream.events('data'), stream.events('end')], [[], []]);
    await stream.call('resume');
    await stream.event('end');
    assert.equal(stream.received.toString(), '220 ready');
    await stream.call('close');
    banner.close();
  });

  it('a stream begins paused, and reports no event until it is resumed', async () => {
    const { client, stream } = await pair();
    client.end('x'.repeat(100));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([stream.events('data'), stream.events('end')], [[], []]);
    await stream.call('resume');
    await stream.event('end');
    assert.equal(stream.received.length, 100);
    await stream.call('close');
  });

  it('pause() within a callback takes effect at once, and loses no byte', async () => {
    const { client, stream } = await pair();
    const sent = randomBytes(200_000);
    await driver().call(0, 'react', stream.object, 'data', 'pause');
    client.end(sent);
    for (let chunks = 1; stream.received.length < sent.length; chunks += 1) {
      await stream.call('resume');
      await stream.event('data', chunks - 1);
      await driver().call(0, 'now');
      assert.equal(stream.events('data').length, chunks);
    }
    assert.equal(stream.events('end').length, 0);
    await stream.call('resume');
    await stream.event('end');
    assert.ok(stream.received.equals(sent));
    await stream.call('close');
  });

  for (const [event, bytes] of [
    ['data', 200_000],
    ['end', 10],
  ] as const) {
    it(`no event is reported after close() within a callback (${event})`, async () => {
      const { client, stream } = await pair();
      await driver().call(0, 'react', stream.object, event, 'close');
      client.end(randomBytes(bytes));
      await stream.call('resume');
      await stream.event(event);
      await closed(client.resume());
      assert.equal(stream.events('data').length, 1);
      assert.equal(stream.events('end').length, event === 'end' ? 1 : 0);
      assert.equal(stream.events('failed').length, 0);
    });
  }

  it('methods of a closed stream do nothing', async () => {
    const { client, stream } = await pair();
    await stream.call('close');
    for (const method of ['close', 'resume', 'pause', 'shutdown', 'keepAlive']) await stream.call(method);
    await stream.call('write', Buffer.from('x'));
    assert.equal((await readAll(client)).length, 0);
    client.destroy();
    await driver().call(0, 'now');
    assert.deepEqual([stream.events('data'), stream.events('end'), stream.events('failed')], [[], [], []]);
  });

  it('a reset is reported with its code', async () => {
    const { client, stream } = await pair();
    await stream.call('resume');
    client.resetAndDestroy();
    assert.equal(await stream.event('failed'), 'ECONNRESET');
    await stream.call('write', Buffer.from('x'));
    await stream.call('close');
    assert.equal(stream.events('failed').length, 1);
  });

  it('a stream is blocked while its peer does not read', async () => {
    const { client, stream } = await pair();
    let written = 0;
    while (!(await driver().isBlocked(stream))) {
      await stream.call('write', Buffer.alloc(16 * 1024));
      written += 16 * 1024;
    }
    let read = 0;
    client.on('data', ({ length }: Buffer) => {
      read += length;
    });
    await stream.event('drain');
    assert.equal(await driver().isBlocked(stream), false);
    await eventually(() => read === written);
    await stream.call('close');
  });

  it('many small writes arrive in order, and then FIN', async () => {
    const { client, stream } = await pair();
    const parts = Array.from({ length: 60 }, () => randomBytes(1000));
    await Promise.all(parts.map((part) => stream.call('write', part)));
    await stream.call('shutdown');
    assert.ok((await readAll(client)).equals(Buffer.concat(parts)));
    client.destroy();
    await stream.call('close');
  });

  it('keep-alive can be turned on, and does not affect the bytes', async () => {
    const { client, stream } = await pair();
    await stream.call('keepAlive');
    await stream.call('resume');
    client.end('x');
    await stream.event('end');
    await stream.call('close');
  });

  it('a failed connection has an error code', async () => {
    const port = await freePort();
    assert.equal(await driver().connect({ address: '127.0.0.1', port }), 'ECONNREFUSED');
    assert.equal(await driver().connect({ address: '255.255.255.255', port }), 'ENETUNREACH');
  });

  it(
    'a failed connection to an IPv6 address has an error code',
    async () => {
      const port = await freePort();
      assert.equal(await driver().connect({ address: '::1', port }), 'ECONNREFUSED');
      // A link-local address without its zone. Newer versions of Node choose one.
      if (driver().engine === 'native') {
        assert.equal(await driver().connect({ address: 'fe80::1', port }), 'EINVAL');
      }
    },
    needs(IPV6),
  );

  it('an attempt that is cancelled reports nothing', async () => {
    const attempts = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const to = { address: '127.0.0.1', port: target.port };
        const call = driver().call<number>(0, 'connect', to);
        const attempt = new Remote(driver(), await call);
        await attempt.call('cancel');
        await attempt.call('cancel');
        return attempt;
      }),
    );
    await settled(() => attempts.reduce((sum, each) => sum + each.events('connected').length, 0));
    // Over loopback, some attempts were connected before they could be cancelled.
    for (const each of attempts)
      assert.equal(each.events('failed').length + each.events('too early').length, 0);
    for (const each of attempts) {
      for (const made of each.events('connected')) await driver().stream(made).call('close');
    }
  });

  it('a port in use is reported, and is free again once its listener is closed', async () => {
    const { listener: first, local } = await listen('127.0.0.1');
    assert.equal(await driver().listen('127.0.0.1', local.port), 'EADDRINUSE');
    assert.equal(await driver().listen('192.0.2.1', 0), 'EADDRNOTAVAIL');
    await first.call('close');
    await first.call('close');
    let again = await driver().listen('127.0.0.1', local.port);
    while (typeof again === 'string') again = await driver().listen('127.0.0.1', local.port);
    await again.listener.call('close');
  });

  it(
    'a listener on an IPv6 address accepts only IPv6',
    async () => {
      const { listener: every, local } = await listen('::');
      assert.equal(local.address, '::');
      const four = connect({ port: local.port, host: '127.0.0.1' });
      const [error] = (await once(four, 'error')) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ECONNREFUSED');
      const six = connect({ port: local.port, host: '::1' });
      const stream = await driver().accepted(every);
      assert.deepEqual(stream.peer, { address: '::1', port: six.localPort });
      assert.deepEqual(stream.local, { address: '::1', port: local.port });
      await stream.call('close');
      six.destroy();
      await every.call('close');
    },
    needs(IPV6),
  );

  it('all of 300 connections at once are accepted', async () => {
    const busy = await listen('127.0.0.1');
    const many = Array.from({ length: 300 }, () => connect({ port: busy.local.port, host: '127.0.0.1' }));
    await eventually(() => busy.listener.events('connection').length === 300);
    const ports = busy.listener.events<{ peer: { port: number } }>('connection').map(({ peer }) => peer.port);
    assert.deepEqual(ports.sort(), many.map((client) => client.localPort ?? 0).sort());
    const streams = busy.listener.events('connection').map((made) => driver().stream(made));
    await Promise.all(streams.map((stream) => stream.call('close')));
    for (const client of many) client.destroy();
    await busy.listener.call('close');
  });

  for (const [kind, open] of [
    ['TCP', listenTcp],
    ['Unix', listenUnix],
  ] as const) {
    it(`a listener accepts from an existing ${kind} socket`, async () => {
      const libc = loadLibc();
      const { fd, where, close } = open(libc);
      const listener = new Remote(driver(), await driver().call<number>(0, 'serve', unopened(fd, kind)));
      const clients = Array.from({ length: 5 }, () => connect(where));
      for (const [i, client] of clients.entries()) {
        client.end(`from ${i}`);
        const stream = await driver().accepted(listener, i);
        await stream.call('resume');
        await stream.event('end');
        assert.match(stream.received.toString(), /^from [0-4]$/);
        if (kind === 'Unix')
          assert.deepEqual([stream.peer, stream.local], Array(2).fill({ address: '', port: 0 }));
        else assert.equal(stream.peer.address, '127.0.0.1');
        await stream.call('write', Buffer.from('answer'));
        await stream.call('shutdown');
        await stream.call('close');
      }
      for (const client of clients) assert.equal((await readAll(client)).toString(), 'answer');
      await listener.call('close');
      await listener.call('close');
      // Node closes the descriptor with its listener.
      if (driver().engine === 'native') libc.close(fd);
      close();
    });
  }

  it('a stream can be detached and adopted with its unread bytes', async () => {
    const { client, stream } = await pair();
    client.write('before');
    const fd = await driver().call<number>(0, 'detach', stream.object);
    if (driver().engine === 'node') {
      assert.equal(fd, -1);
      await stream.call('resume');
      await stream.data(6);
      await stream.call('close');
      return;
    }
    assert.deepEqual([stream.events('data'), stream.events('failed')], [[], []]);
    const adopted = driver().stream(await driver().call(0, 'adopt', fd));
    assert.deepEqual([adopted.peer, adopted.local], [stream.peer, stream.local]);
    client.end(' after');
    await adopted.call('resume');
    await adopted.event('end');
    assert.equal(adopted.received.toString(), 'before after');
    await adopted.call('write', Buffer.from('answer'));
    await adopted.call('shutdown');
    assert.equal((await readAll(client)).toString(), 'answer');
    await adopted.call('close');
  });

  it('timers fire once, in their order, and not early', async () => {
    const delays = [0, 1, 5, 20, 21, 60, 60_000];
    const timers = await Promise.all(
      delays.map(async (ms) => new Remote(driver(), await driver().call<number>(0, 'timer', ms))),
    );
    const cleared = new Remote(driver(), await driver().call<number>(0, 'clearedTimer', 10));
    for (const [i, ms] of delays.entries()) {
      const timer = timers[i] ?? assert.fail();
      if (ms > 1000) {
        await timer.call('clear');
        continue;
      }
      const late = await timer.event<number>('due');
      // On a busy machine a timer may fire late, but before the last one.
      assert.ok(late >= ms - 1 && late < 60_000, `${late} ms instead of ${ms}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(
      [...timers, cleared].map((timer) => timer.events('due').length),
      [1, 1, 1, 1, 1, 1, 0, 0],
    );
  });

  for (const address of ['127.0.0.1', '::1']) {
    it(
      `the source address for ${address} is that of the routing table`,
      async () => {
        assert.equal(await driver().call(0, 'sourceAddressFor', address), address);
      },
      needsFor(address),
    );
  }
}

const unopened = (fd: number, kind: string): ListenerSpec => ({
  id: 1,
  fd,
  host: '',
  port: 0,
  path: kind === 'Unix' ? 'path' : null,
  mode: 0,
  isDualStack: false,
  hasProxyHeader: false,
  isFromTls: false,
  protocols: [],
});

interface ListeningSocket {
  readonly fd: number;
  readonly where: NetConnectOpts;
  close(): void;
}

function listenTcp(libc: Libc): ListeningSocket {
  const fd = libc.socket(AF_INET, SOCK_STREAM);
  const sockaddr = new Uint8Array(SOCKADDR_BYTES);
  const bytes = writeSockaddr(sockaddr, { address: '127.0.0.1', port: 0 });
  assert.equal(libc.bind(fd, sockaddr, bytes) + libc.listen(fd, 10) + libc.getsockname(fd, sockaddr), 0);
  return { fd, where: { host: '127.0.0.1', port: readSockaddr(sockaddr).port }, close() {} };
}

function listenUnix(libc: Libc): ListeningSocket {
  const folder = mkdtempSync(join(tmpdir(), 'io-'));
  const path = join(folder, 'socket');
  const fd = libc.socket(AF_UNIX, SOCK_STREAM);
  // struct sockaddr_un: the family, and the path with its zero.
  const sockaddr = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(`${path}\0`)]);
  assert.equal(libc.bind(fd, sockaddr, sockaddr.length) + libc.listen(fd, 10), 0);
  return { fd, where: { path }, close: () => rmSync(folder, { recursive: true }) };
}
