// UDP ASSOCIATE through the running daemon: relayed datagrams, permitted clients and permitted destinations.
import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import { type LogLine, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../../helpers/descriptors.js';
import { startNameServer } from '../../helpers/name-server.js';
import { IPV6, needs, needsFor } from '../../helpers/programs.js';
import type { SocksLogin } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import {
  associateThrough,
  datagram,
  startUdpEcho,
  UdpAssociationClient,
  UdpEnd,
  unwrap,
} from '../../helpers/udp-client.js';
import { settled } from '../../proxy/io/helpers.js';

const LAST = 0x80;

/** Returns the log line at the end of an account's association. */
function endOf(daemon: TestDaemon, username: string): Promise<LogLine> {
  return daemon.waitForLine((line) => line.msg === 'session ended' && line['account'] === username);
}

/** The datagrams that a client receives after those of strangers and one of its destination, in their order. */
async function receivedBeside(t: TestContext, account: SocksLogin): Promise<string[]> {
  const client = await associateThrough(t, account);
  const destination = await UdpEnd.open(t);
  client.send('127.0.0.1', destination.port, 'hello');
  const { port: outer } = (await destination.receive()).from;
  const [otherAddress, denied, sameHost] = [
    await UdpEnd.open(t, '127.0.0.9'),
    await UdpEnd.open(t, '127.0.0.66'),
    await UdpEnd.open(t, '127.0.0.1'),
  ];
  denied.send('from a denied address', outer, '127.0.0.1');
  otherAddress.send('from another address', outer, '127.0.0.1');
  otherAddress.send('again', outer, '127.0.0.1');
  sameHost.send('from another port', outer, '127.0.0.1');
  destination.send('from a destination', outer, '127.0.0.1');
  const received: string[] = [];
  while (received.at(-1) !== 'from a destination') received.push((await client.receive()).data.toString());
  return received;
}

describe('a UDP association', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let accounts = 0;

  before(async () => {
    const names = await startNameServer(scope, (name, family) => {
      if (name === 'game.test') return family === 4 ? ['127.0.0.1'] : ['::1'];
      if (name === 'six.test') return family === 6 ? ['::1'] : [];
      if (name === 'slow.test') return 'silence';
      if (name === 'later.test') return family === 4 ? ['127.0.0.1'] : [];
      if (name === 'denied.test') return family === 4 ? ['169.254.169.254'] : [];
      return undefined;
    });
    daemon = await startTestDaemon(scope, {
      config: {
        socks: { host: 'localhost' },
        dns: { servers: [names.address], timeout: '6s' },
        egress: { private: 'allow', deny: ['127.0.0.66', '*:9'] },
        heartbeats: {
          games: [
            { id: 'arena', match: { hosts: ['game.test'], protocol: 'udp' } },
            { gameId: 'ID=([a-z]+)', match: { hosts: ['127.0.0.1'], protocol: 'udp' } },
          ],
        },
      },
    });
  });

  /** Adds an account for one test, so that its log lines are distinct. */
  async function newAccount() {
    accounts += 1;
    const username = `player${accounts}`;
    const id = await daemon.addAccount(username, 'secret');
    return { port: daemon.socks.port, username, password: 'secret', id };
  }

  for (const [kind, host, listenOn] of [
    ['an IPv4 address', '127.0.0.1', '127.0.0.1'],
    ['an IPv6 address', '::1', '::1'],
    ['a name', Buffer.from('game.test'), '127.0.0.1'],
    ['a name that has IPv6 only', Buffer.from('six.test'), '::1'],
    ['a name of this machine', Buffer.from('LOCALHOST.'), '127.0.0.1'],
    ['an address written as a name', Buffer.from('127.0.0.1'), '127.0.0.1'],
    ['an IPv6 address written as a name', Buffer.from('::1'), '::1'],
    ['an IPv4-mapped address', '::ffff:7f00:1', '127.0.0.1'],
  ] as const) {
    it(`relays datagrams to ${kind} and back`, needsFor(listenOn), async (t) => {
      const echo = await startUdpEcho(t, listenOn);
      const client = await associateThrough(t, await newAccount());
      for (const text of ['one', 'two', '', 'x'.repeat(9_000), 'y'.repeat(60_000)]) {
        client.send(host, echo.port, text);
        const answer = await client.receive();
        assert.equal(answer.data.toString(), text);
        assert.equal(answer.port, echo.port);
        assert.equal(answer.host, listenOn === '::1' ? `${'0'.repeat(31)}1` : '127.0.0.1');
      }
    });
  }

  it('serves a client that is connected by IPv6', needs(IPV6), async (t) => {
    const echo = await startUdpEcho(t);
    const account = { ...(await newAccount()), host: '::1' };
    const client = await associateThrough(t, account, { host: '::', port: 0 }, '::1');
    assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'across'), 'across');
  });

  it('is logged at its end with the relayed bytes without SOCKS headers, and the reason', async (t) => {
    const account = await newAccount();
    const echo = await startUdpEcho(t);
    const client = await associateThrough(t, account);
    await client.roundTrip('127.0.0.1', echo.port, 'twelve bytes');
    await client.roundTrip('127.0.0.1', echo.port, 'more');
    assert.equal((await daemon.account(account.username))['DataCount'], 1);
    client.control.destroy();
    const line = await endOf(daemon, account.username);
    const { bytesUp, bytesDown, datagramsUp, datagramsDown, end, protocol } = line;
    assert.deepEqual(
      { bytesUp, bytesDown, datagramsUp, datagramsDown, end, protocol },
      { bytesUp: 16, bytesDown: 16, datagramsUp: 2, datagramsDown: 2, end: 'client-closed', protocol: 'udp' },
    );
    assert.equal(line['destination'], `127.0.0.1:${echo.port}`);
    assert.equal(
      line['outgoing'],
      `:${(await echo.receive()).from.port}`,
      'the port that the destination sees',
    );
    // The entries are those of the opening and the close. No game rule matched.
    assert.equal((await daemon.account(account.username))['DataCount'], 2);
  });

  it('has a game by the name of its destination, or by its first datagrams', async (t) => {
    const byName = await newAccount();
    const byData = await newAccount();
    const echo = await startUdpEcho(t);
    const one = await associateThrough(t, byName);
    await one.roundTrip(Buffer.from('game.test'), echo.port, 'x');
    const two = await associateThrough(t, byData);
    await two.roundTrip('127.0.0.1', echo.port, 'hello');
    await two.roundTrip('127.0.0.1', echo.port, 'ID=chess;');
    assert.equal((await daemon.account(byName.username))['LatestGameId'], 'arena');
    assert.equal((await daemon.account(byData.username))['LatestGameId'], 'chess');
  });

  it('uses one outer port for all destinations of a family', async (t) => {
    const client = await associateThrough(t, await newAccount());
    const [one, two] = [await UdpEnd.open(t), await UdpEnd.open(t)];
    client.send('127.0.0.1', one.port, 'a');
    client.send('127.0.0.1', two.port, 'b');
    const [first, second] = [await one.receive(), await two.receive()];
    assert.equal(first.from.port, second.from.port);
    assert.notEqual(first.from.port, client.relay.port);
  });

  it('ends with its TCP connection, and frees its ports', async (t) => {
    const account = await newAccount();
    const echo = await startUdpEcho(t);
    const client = await associateThrough(t, account);
    await client.roundTrip('127.0.0.1', echo.port, 'x');
    client.control.socket.end();
    await client.control.closed();
    await endOf(daemon, account.username);
    // The port is free again, so the test can bind it.
    await UdpEnd.open(t, '127.0.0.1', client.relay.port);
  });

  for (const [change, path, body, reason] of [
    ['disabled', 'UpdateProxyAccount', { IsEnabled: false }, 'account-disabled'],
    ['given a new password', 'UpdateProxyAccount', { Password: 'other' }, 'password-changed'],
    ['deleted', 'DeleteProxyAccount', null, 'account-removed'],
  ] as const) {
    it(`ends when its account is ${change}`, async (t) => {
      const account = await newAccount();
      const echo = await startUdpEcho(t);
      const client = await associateThrough(t, account);
      await client.roundTrip('127.0.0.1', echo.port, 'alive');
      const url = body === null ? `/ProxyAccount/${path}?AID=${account.id}` : `/ProxyAccount/${path}`;
      const answer = await daemon.api('POST', url, body === null ? undefined : { AID: account.id, ...body });
      assert.equal(answer.status, 200, answer.text);
      await client.control.closed();
      assert.equal((await endOf(daemon, account.username))['end'], reason);
    });
  }

  it('ends when its account expires', async (t) => {
    const account = await newAccount();
    const client = await associateThrough(t, account);
    const expiresAtMs = (Math.floor(Date.now() / 1000) + 2) * 1000;
    const answer = await daemon.api('POST', '/ProxyAccount/UpdateProxyAccount', {
      AID: account.id,
      ExpiresAt: new Date(expiresAtMs).toISOString().slice(0, 19),
    });
    assert.equal(answer.status, 200);
    await client.control.closed();
    assert.ok(Date.now() >= expiresAtMs, 'too early');
    assert.equal((await endOf(daemon, account.username))['end'], 'account-expired');
  });

  it('leaves no descriptor open', async (t) => {
    const account = await newAccount();
    const echo = await startUdpEcho(t);
    // Those of the tests before may still be closing.
    const before = await settled(() => openDescriptors(daemon.pid));
    for (let i = 0; i < 5; i += 1) {
      const clients = await Promise.all(Array.from({ length: 10 }, () => associateThrough(t, account)));
      for (const client of clients) await client.roundTrip('127.0.0.1', echo.port, 'x');
      assert.ok(openDescriptors(daemon.pid) >= before + 30);
      for (const client of clients) client.control.destroy();
    }
    await descriptorsBackTo(daemon.pid, before);
  });

  it('continues after errors of its datagrams', async (t) => {
    const account = await newAccount();
    const closedEnd = await UdpEnd.open(t);
    const { port: refusing } = closedEnd;
    closedEnd.close();
    const echo = await startUdpEcho(t);
    const client = await associateThrough(t, account);
    // Refused by ICMP, no such network, forbidden, and a name that does not exist.
    for (let i = 0; i < 5; i += 1) {
      client.send('127.0.0.1', refusing, 'x');
      client.send('2001:db8::1', 7000, 'x');
      client.send('255.255.255.255', 7000, 'x');
      client.send(Buffer.from('nowhere.test'), 7000, 'x');
    }
    assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'alive'), 'alive');
  });

  it('drops and counts malformed datagrams', async (t) => {
    const account = await newAccount();
    const echo = await startUdpEcho(t);
    const client = await associateThrough(t, account);
    const malformed = [
      Buffer.alloc(0),
      Buffer.from('no header'),
      Buffer.from([0, 0, 0, 9, 127, 0, 0, 1, 1, 1, 1]),
      Buffer.from([0, 1, 0, 1, 127, 0, 0, 1, 1, 1, 1]),
      datagram('127.0.0.1', 0, 'port 0'),
      datagram('127.0.0.1', echo.port, 'last fragment', LAST),
      datagram('127.0.0.1', echo.port, 'cut').subarray(0, 9),
      Buffer.alloc(65_000, 0xff),
    ];
    for (const bytes of malformed) client.sendRaw(bytes);
    client.send(Buffer.from('0x7f.1'), echo.port, 'x');
    client.send(Buffer.from('a\0b.test'), echo.port, 'x');
    assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'good'), 'good');
    client.control.destroy();
    const dropped = (await endOf(daemon, account.username))['dropped'] as Record<string, number>;
    assert.deepEqual(dropped, { malformed: malformed.length, 'name-numeric': 1, 'name-bad-character': 1 });
  });

  it('reassembles fragments, and drops those out of order', async (t) => {
    const account = await newAccount();
    const target = await UdpEnd.open(t);
    const client = await associateThrough(t, account);
    const send = (data: string, fragment: number) => client.send('127.0.0.1', target.port, data, fragment);
    send('one ', 1);
    send('one ', 1);
    send('two ', 2);
    send('three', 3 | LAST);
    assert.equal((await target.receive()).data.toString(), 'one two three');
    send('a', 1);
    send('c', 3 | LAST);
    send('b', 2);
    send('x', 1);
    send('whole', 0);
    assert.equal((await target.receive()).data.toString(), 'whole');
    send('y', 2 | LAST);
    send('alone', 1 | LAST);
    assert.equal((await target.receive()).data.toString(), 'alone');
    client.control.destroy();
    const line = await endOf(daemon, account.username);
    assert.deepEqual(line['dropped'], { fragments: 5 });
    assert.equal(line['bytesUp'], 'one two three'.length + 'whole'.length + 'alone'.length);
  });

  it('sends fragments to names too', async (t) => {
    const echo = await startUdpEcho(t);
    const client = await associateThrough(t, await newAccount());
    const name = Buffer.from('game.test');
    client.send(name, echo.port, 'first ', 1);
    client.send(name, echo.port, 'second', 2 | LAST);
    assert.equal((await client.receive()).data.toString(), 'first second');
    assert.equal(await client.roundTrip(name, echo.port, 'standalone'), 'standalone');
  });

  it('queues datagrams while their name is resolved, and relays others at once', async (t) => {
    const account = await newAccount();
    const echo = await startUdpEcho(t);
    const client = await associateThrough(t, account);
    for (let i = 0; i < 100; i += 1) client.send(Buffer.from('slow.test'), echo.port, `waiting ${i}`);
    for (let i = 0; i < 20; i += 1) {
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, `${i}`), `${i}`);
    }
    await daemon.waitForLine(
      (line) =>
        line.msg === 'destination refused' &&
        line['account'] === account.username &&
        line['reason'] === 'resolve-timeout',
    );
    client.control.destroy();
    const dropped = (await endOf(daemon, account.username))['dropped'] as Record<string, number>;
    assert.deepEqual(dropped, { waiting: 36, 'resolve-timeout': 64 });
  });

  it('applies the egress rules to every datagram', async (t) => {
    const account = await newAccount();
    const echo = await startUdpEcho(t);
    const denied = await UdpEnd.open(t, '127.0.0.66');
    const client = await associateThrough(t, account);
    client.send('127.0.0.66', denied.port, 'x');
    client.send(Buffer.from('denied.test'), 80, 'x');
    client.send('169.254.169.254', 80, 'x');
    client.send('0.0.0.0', echo.port, 'x');
    client.send('224.0.0.1', echo.port, 'x');
    client.send('127.0.0.1', 9, 'x');
    assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'allowed'), 'allowed');
    // The name server answers in order, so the denied name has been checked, too.
    const later = Buffer.from('later.test');
    assert.equal(await client.roundTrip(later, echo.port, 'allowed too'), 'allowed too');
    client.control.destroy();
    const line = await endOf(daemon, account.username);
    assert.deepEqual(line['dropped'], { 'denied-by-rule': 2, 'always-denied': 4 });
    assert.equal(line['datagramsUp'], 2);
    assert.equal(denied.unread, 0);
    const refusals = daemon.lines.filter(
      (each) => each.msg === 'destination refused' && each['account'] === account.username,
    );
    assert.equal(refusals.length, 2, 'one line for each reason, whatever the number of datagrams');
  });

  it('never reaches the ports on which relays wait for clients', async (t) => {
    const [one, two] = [await newAccount(), await newAccount()];
    const echo = await startUdpEcho(t);
    const victim = await associateThrough(t, two);
    const attacker = await associateThrough(t, one);
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:7f00:1', Buffer.from('localhost')]) {
      attacker.send(host, victim.relay.port, datagram('127.0.0.1', echo.port, 'through another'));
      attacker.send(host, attacker.relay.port, datagram('127.0.0.1', echo.port, 'through itself'));
    }
    // Names are looked up in order, so `localhost` has been checked, too.
    const later = Buffer.from('later.test');
    assert.equal(await attacker.roundTrip(later, echo.port, 'done'), 'done');
    attacker.control.destroy();
    assert.deepEqual((await endOf(daemon, one.username))['dropped'], { 'own-listener': 10 });
  });

  it('lets two players reach each other by their outer ports, as behind one NAT', async (t) => {
    const echo = await startUdpEcho(t);
    const one = await associateThrough(t, await newAccount());
    const two = await associateThrough(t, await newAccount());
    const seenPorts: number[] = [];
    echo.socket.on('message', (_data, from) => seenPorts.push(from.port));
    await one.roundTrip('127.0.0.1', echo.port, 'which port');
    await two.roundTrip('127.0.0.1', echo.port, 'which port');
    const [portOne = 0, portTwo = 0] = seenPorts;
    one.send('127.0.0.1', portTwo, 'hello two');
    const received = await two.receive();
    assert.deepEqual([received.data.toString(), received.port], ['hello two', portOne]);
    two.send('127.0.0.1', portOne, 'hello one');
    assert.equal((await one.receive()).data.toString(), 'hello one');
  });

  it('is one of 120, one for each socket of a client, and every datagram is answered, at the defaults', async (t) => {
    const account = await newAccount();
    const echo = await startUdpEcho(t);
    const clients = await Promise.all(Array.from({ length: 120 }, () => associateThrough(t, account)));
    for (const text of ['A', 'AAAA']) {
      const answers = clients.map((client) => client.roundTrip('127.0.0.1', echo.port, text));
      assert.deepEqual(await Promise.all(answers), Array(120).fill(text));
    }
  });

  it('gives its client unsolicited datagrams with fullCone, and never from a denied address', async (t) => {
    const unsolicited = ['from another address', 'again'];
    assert.deepEqual(await receivedBeside(t, await newAccount()), [
      ...unsolicited,
      'from another port',
      'from a destination',
    ]);
  });

  describe('accepts as its client', () => {
    it('only the address of its TCP connection', async (t) => {
      const account = await newAccount();
      const echo = await startUdpEcho(t);
      const client = await associateThrough(t, account);
      const otherAddress = await UdpEnd.open(t, '127.0.0.2');
      otherAddress.send(datagram('127.0.0.1', echo.port, 'other'), client.relay.port, client.relay.host);
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'first'), 'first');
      otherAddress.send(datagram('127.0.0.1', echo.port, 'other'), client.relay.port, client.relay.host);
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'second'), 'second');
      client.control.destroy();
      const line = await endOf(daemon, account.username);
      assert.deepEqual(line['dropped'], { stranger: 2 });
      assert.equal(otherAddress.unread, 0);
    });

    it('only the address that the request declared, when it declares one of this network', async (t) => {
      const echo = await startUdpEcho(t);
      const account = await newAccount();
      const client = await associateThrough(t, account, { host: '127.0.0.3', port: 4_000 }, '127.0.0.3');
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'declared'), 'declared');
      const other = await UdpEnd.open(t, '127.0.0.1');
      other.send(datagram('127.0.0.1', echo.port, 'x'), client.relay.port, client.relay.host);
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'again'), 'again');
      client.control.destroy();
      assert.deepEqual((await endOf(daemon, account.username))['dropped'], { stranger: 1 });
    });

    it('the address behind a NAT when the declared one is private', async (t) => {
      const echo = await startUdpEcho(t);
      const declared = { host: '192.168.77.5', port: 5_000 };
      const client = await associateThrough(t, await newAccount(), declared);
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'through NAT'), 'through NAT');
    });

    it('the address of its TCP connection when the request declares a name', async (t) => {
      const echo = await startUdpEcho(t);
      const client = await associateThrough(t, await newAccount(), { host: Buffer.from('me.test'), port: 1 });
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'named'), 'named');
    });

    it('a new port of the same address', async (t) => {
      const echo = await startUdpEcho(t);
      const client = await associateThrough(t, await newAccount());
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'old'), 'old');
      const moved = await UdpEnd.open(t);
      moved.send(datagram('127.0.0.1', echo.port, 'new'), client.relay.port, client.relay.host);
      assert.equal(unwrap((await moved.receive()).data).data.toString(), 'new');
      // A malformed datagram from a third port changes nothing.
      const third = await UdpEnd.open(t);
      third.send('malformed', client.relay.port, client.relay.host);
      echo.send('for the client', await outerPort(echo, moved, client.relay), '127.0.0.1');
      assert.equal(unwrap((await moved.receive()).data).data.toString(), 'for the client');
      assert.equal(client.end.unread, 0);
      assert.equal(third.unread, 0);
    });

    /** Returns the outer port that a destination sees. */
    async function outerPort(echo: UdpEnd, from: UdpEnd, relay: { host: string; port: number }) {
      const outer = new Promise<number>((resolve) => {
        echo.socket.once('message', (_data, { port }) => resolve(port));
      });
      from.send(datagram('127.0.0.1', echo.port, 'port?'), relay.port, relay.host);
      await from.receive();
      return outer;
    }
  });
});

describe('a UDP association with publicAddress and private addresses denied', async () => {
  const scope = suiteScope();
  let isLater = false;
  const names = await startNameServer(scope, (name, family) => {
    if (family === 6) return [];
    if (name === 'moving.test') return [isLater ? '127.0.0.22' : '127.0.0.21'];
    return name === 'rebinding.test' ? [isLater ? '127.0.0.66' : '127.0.0.21'] : undefined;
  });
  const daemon = await startTestDaemon(scope, {
    config: {
      dns: { servers: [names.address] },
      egress: { private: 'deny', allow: ['127.0.0.21', '127.0.0.22', '127.0.0.99'] },
      socks: { udp: { publicAddress: ['203.0.113.7', '2001:db8::7'] } },
    },
  });
  /** Associates, and sends to the address of the listener, because the public one leads nowhere here. */
  async function associate(t: TestContext, username: string) {
    await daemon.addAccount(username, 'secret');
    const account = { port: daemon.socks.port, username, password: 'secret' };
    const { control, end, relay } = await associateThrough(t, account);
    assert.equal(relay.host, '203.0.113.7');
    return new UdpAssociationClient(control, end, { host: '127.0.0.1', port: relay.port });
  }

  it('replies with publicAddress, and accepts datagrams on every address', async (t) => {
    const echo = await startUdpEcho(t, '127.0.0.99');
    const client = await associate(t, 'public');
    assert.equal(await client.roundTrip('127.0.0.99', echo.port, 'x'), 'x');
  });

  it('resolves names again while datagrams flow: a new address of a name is used, but never a denied one', async (t) => {
    const [old, moved] = [await UdpEnd.open(t, '127.0.0.21'), await UdpEnd.open(t, '127.0.0.22')];
    const denied = await UdpEnd.open(t, '127.0.0.66', old.port);
    moved.close();
    const next = await UdpEnd.open(t, '127.0.0.22', old.port);
    const client = await associate(t, 'mover');
    const traffic = setInterval(() => {
      client.send(Buffer.from('moving.test'), old.port, 'moving');
      client.send(Buffer.from('rebinding.test'), old.port, 'rebinding');
    }, 100);
    try {
      const texts = new Set<string>();
      while (texts.size < 2) texts.add((await old.receive()).data.toString());
      isLater = true;
      assert.equal((await next.receive(15_000)).data.toString(), 'moving');
      await daemon.waitForLine(
        (line) => line['destination'] === `rebinding.test:${old.port}` && line['reason'] === 'private',
      );
      assert.equal(denied.unread, 0);
    } finally {
      // The timer must stop before the sockets are closed.
      clearInterval(traffic);
    }
  });

  it('reaches no private address, in any spelling', needs(IPV6), async (t) => {
    const [four, six] = [await UdpEnd.open(t, '0.0.0.0'), await UdpEnd.open(t, '::1')];
    const client = await associate(t, 'player');
    const names = [
      'localhost',
      'LOCALHOST.',
      'a.localhost',
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '0177.0.0.1',
      '::1',
      '[::1]',
      '::ffff:127.0.0.1',
      '0',
      '127.0.0.1.',
      '10.0.0.1',
      '127.0.0.1\0',
    ];
    const addresses = [
      '127.0.0.1',
      '127.9.9.9',
      '0.0.0.0',
      '10.0.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      '::',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      'fe80::1',
      'ff02::1',
      'fd00::1',
    ];
    const hosts = [...addresses, ...names.map((name) => Buffer.from(name))];
    for (const host of hosts) {
      for (const { port } of [four, six]) client.send(host, port, 'x');
      client.send(host, four.port, 'fragment', 1 | LAST);
    }
    // All addresses have been checked before this answer. Names may still be in the resolver.
    const echo = await startUdpEcho(t, '127.0.0.99');
    assert.equal(await client.roundTrip('127.0.0.99', echo.port, 'permitted'), 'permitted');
    client.control.socket.end();
    const line = await endOf(daemon, 'player');
    const dropped = Object.values(line['dropped'] as Record<string, number>).reduce(
      (sum, count) => sum + count,
      0,
    );
    assert.equal(line['datagramsUp'], 1);
    assert.ok(dropped >= addresses.length * 3 && dropped <= hosts.length * 3, String(dropped));
    assert.equal(four.unread + six.unread, 0);
  });
});

describe('a UDP association with fullCone false, maxDestinations and idleTimeout', async () => {
  const scope = suiteScope();
  const daemon = await startTestDaemon(scope, {
    config: {
      socks: { udp: { fullCone: false, maxDestinations: 2, idleTimeout: '6s' } },
      egress: { private: 'allow', deny: ['127.0.0.66'] },
    },
  });
  await daemon.addAccount('player', 'secret');
  const account = { port: daemon.socks.port, username: 'player', password: 'secret' };

  it('gives its client no unsolicited datagrams, and never one from a denied address', async (t) => {
    assert.deepEqual(await receivedBeside(t, account), ['from another port', 'from a destination']);
  });

  it('refuses those from the destination that was unused for longest, beyond maxDestinations', async (t) => {
    const hosts = ['127.0.0.11', '127.0.0.12', '127.0.0.13'];
    const [one, two, three] = await Promise.all(hosts.map((host) => UdpEnd.open(t, host)));
    assert.ok(one && two && three);
    const client = await associateThrough(t, account);
    let outer = 0;
    for (const [i, end] of [one, two, three].entries()) {
      client.send(hosts[i] ?? '', end.port, 'x');
      outer = (await end.receive()).from.port;
    }
    one.send('forgotten', outer, '127.0.0.1');
    two.send('remembered', outer, '127.0.0.1');
    assert.equal((await client.receive()).data.toString(), 'remembered');
  });

  it('ends after idleTimeout without datagrams', async (t) => {
    await daemon.addAccount('idle', 'secret');
    const echo = await startUdpEcho(t);
    const idle = await associateThrough(t, { ...account, username: 'idle' });
    const busy = await associateThrough(t, account);
    const traffic = setInterval(() => busy.send('127.0.0.1', echo.port, ''), 300);
    try {
      await idle.control.closed();
      assert.equal(busy.control.socket.destroyed, false);
    } finally {
      clearInterval(traffic);
    }
    const line = await endOf(daemon, 'idle');
    assert.equal(line['end'], 'idle-timeout');
    assert.equal(line['destination'], '*:0');
  });
});

it('a UDP association uses ports of portRange, and is refused when none is free', async (t) => {
  const free = await UdpEnd.open(t, '0.0.0.0');
  const first = Math.min(free.port, 65_000);
  free.close();
  const daemon = await startTestDaemon(t, {
    config: { socks: { udp: { portRange: `${first}-${first + 3}` } } },
  });
  await daemon.addAccount('player', 'secret');
  const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
  const echo = await startUdpEcho(t);
  const inRange = (port: number) => port >= first && port <= first + 3;
  const outer = new Promise<number>((resolve) => {
    echo.socket.once('message', (_data, { port }) => resolve(port));
  });
  const client = await associateThrough(t, account);
  await client.roundTrip('127.0.0.1', echo.port, 'x');
  assert.ok(inRange(client.relay.port) && inRange(await outer));
  const others: unknown[] = [];
  await assert.rejects(async () => {
    for (let i = 0; i < 4; i += 1) others.push(await associateThrough(t, account));
  }, /the proxy answered 1/);
  client.control.destroy();
  await daemon.waitForLine((line) => line.msg === 'session ended');
  await associateThrough(t, account);
});
