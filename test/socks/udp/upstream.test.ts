// Datagrams through a correct upstream proxy: another daemon, or danted.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startDanted } from '../../differential/servers.js';
import { type LogLine, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../../helpers/descriptors.js';
import { eventually } from '../../helpers/eventually.js';
import { startNameServer } from '../../helpers/name-server.js';
import { needs, needsFor } from '../../helpers/programs.js';
import { suiteScope } from '../../helpers/suite.js';
import { associateThrough, startUdpEcho, UdpEnd } from '../../helpers/udp-client.js';

const LAST = 0x80;
/** So many echoes that the worker has taken the direct flows over. */
const WARM_UP = 100;

function endOf(daemon: TestDaemon, username: string): Promise<LogLine> {
  return daemon.waitForLine((line) => line.msg === 'session ended' && line['account'] === username);
}

for (const engine of ['native', 'node'] as const) {
  describe(`datagrams through another daemon, with the ${engine} engine`, () => {
    const scope = suiteScope();
    let upstream: TestDaemon;
    let daemon: TestDaemon;
    let accounts = 0;

    before(async () => {
      // Each daemon can resolve names that the other cannot.
      const upstreamNames = await startNameServer(scope, (name, family) =>
        family === 4 && name.endsWith('.upstream.test') ? ['127.0.1.5'] : undefined,
      );
      const names = await startNameServer(scope, (name, family) =>
        family === 4 && name.endsWith('.local.test') ? ['127.0.0.1'] : undefined,
      );
      upstream = await startTestDaemon(scope, { config: { dns: { servers: [upstreamNames.address] } } });
      await upstream.addAccount('child', 'child-secret');
      const login = {
        proxy: `127.0.0.1:${upstream.socks.port}`,
        username: 'child',
        password: 'child-secret',
      };
      daemon = await startTestDaemon(scope, {
        config: {
          dns: { servers: [names.address] },
          egress: {
            // The address of a name that the upstream proxy resolves is not checked against these rules.
            private: 'deny',
            allow: ['127.0.0.0/24', '::1', '*.local.test'],
            deny: ['bad.upstream.test', '127.0.0.66', '*:9'],
          },
          socks: {
            engine,
            upstreams: [
              { match: { hosts: ['127.0.0.1'] }, proxy: null },
              { match: { hosts: ['*.upstream.test'] }, ...login, names: 'proxy' },
              { match: { hosts: ['*'] }, ...login },
            ],
          },
          heartbeats: {
            games: [
              { id: 'arena', match: { hosts: ['arena.upstream.test'], protocol: 'udp' } },
              { gameId: 'ID=([a-z]+)', match: { hosts: ['127.0.0.5'], protocol: 'udp' } },
            ],
          },
        },
      });
    });

    async function newAccount() {
      accounts += 1;
      const username = `player${accounts}`;
      const id = await daemon.addAccount(username, 'secret');
      return { port: daemon.socks.port, username, password: 'secret', id };
    }

    for (const [kind, host, listenOn, requested] of [
      ['an IPv4 address', '127.0.0.5', '127.0.0.5', '127.0.0.5'],
      ['an IPv6 address', '::1', '::1', '[::1]'],
      [
        'a name that only the upstream proxy knows',
        Buffer.from('game.upstream.test'),
        '127.0.1.5',
        'game.upstream.test',
      ],
      ['an address written as a name', Buffer.from('127.0.0.5'), '127.0.0.5', '127.0.0.5'],
    ] as const) {
      it(`are relayed to ${kind} and back`, needsFor(listenOn), async (t) => {
        const account = await newAccount();
        const linesBefore = upstream.lines.length;
        const echo = await startUdpEcho(t, listenOn);
        const client = await associateThrough(t, account);
        for (const text of ['one', 'two', '', 'x'.repeat(9_000), 'y'.repeat(60_000)]) {
          client.send(host, echo.port, text);
          const answer = await client.receive();
          assert.equal(answer.data.toString(), text);
          assert.equal(answer.port, echo.port);
          assert.equal(answer.host, listenOn === '::1' ? `${'0'.repeat(31)}1` : listenOn);
        }
        client.control.destroy();
        const line = await endOf(daemon, account.username);
        const bytes = 6 + 9_000 + 60_000;
        assert.deepEqual(
          [line['bytesUp'], line['bytesDown'], line['datagramsUp'], line['datagramsDown'], line['dropped']],
          [bytes, bytes, 5, 5, {}],
        );
        assert.equal(line['via'], `127.0.0.1:${upstream.socks.port}`);
        const logged = typeof host === 'string' ? requested : host.toString();
        assert.equal(line['destination'], `${logged}:${echo.port}`);
        // The upstream proxy's association has ended with this one.
        const upstreamLine = await upstream.waitForLine(
          (each) => each.msg === 'session ended' && upstream.lines.indexOf(each) >= linesBefore,
        );
        assert.deepEqual(
          [
            upstreamLine['account'],
            upstreamLine['destination'],
            upstreamLine['bytesUp'],
            upstreamLine['end'],
          ],
          ['child', `${requested}:${echo.port}`, bytes, 'client-closed'],
        );
      });
    }

    it('follow the rule for the address of a name that this daemon resolves', async (t) => {
      const account = await newAccount();
      const echo = await startUdpEcho(t);
      const client = await associateThrough(t, account);
      assert.equal(await client.roundTrip(Buffer.from('direct.local.test'), echo.port, 'x'), 'x');
      client.control.destroy();
      const line = await endOf(daemon, account.username);
      assert.deepEqual(
        [line['via'], line['datagramsDown']],
        [undefined, 1],
        'the address has a rule without an upstream proxy',
      );
    });

    it('share the association with direct ones, also after a worker has taken these over', async (t) => {
      const account = await newAccount();
      const direct = await startUdpEcho(t);
      const remote = await startUdpEcho(t, '127.0.0.5');
      const client = await associateThrough(t, account);
      for (let i = 0; i < WARM_UP; i += 1) {
        assert.equal(await client.roundTrip('127.0.0.1', direct.port, `${i}`), `${i}`);
      }
      for (let i = 0; i < WARM_UP; i += 1) {
        assert.equal(await client.roundTrip('127.0.0.5', remote.port, `remote ${i}`), `remote ${i}`);
        assert.equal(await client.roundTrip('127.0.0.1', direct.port, `direct ${i}`), `direct ${i}`);
      }
      client.control.destroy();
      const line = await endOf(daemon, account.username);
      assert.deepEqual(
        [line['datagramsUp'], line['datagramsDown'], line['dropped']],
        [3 * WARM_UP, 3 * WARM_UP, {}],
      );
    });

    it('may be fragmented', async (t) => {
      const echo = await startUdpEcho(t, '127.0.0.5');
      const client = await associateThrough(t, await newAccount());
      client.send('127.0.0.5', echo.port, 'first ', 1);
      client.send('127.0.0.5', echo.port, 'second', 2 | LAST);
      assert.equal((await client.receive()).data.toString(), 'first second');
    });

    it('are checked against the egress rules for names and ports', async (t) => {
      const account = await newAccount();
      const echo = await startUdpEcho(t, '127.0.0.5');
      const client = await associateThrough(t, account);
      client.send(Buffer.from('bad.upstream.test'), echo.port, 'x');
      client.send(Buffer.from('game.upstream.test'), 9, 'x');
      client.send('127.0.0.66', echo.port, 'x');
      client.send('10.1.1.1', echo.port, 'x');
      client.send('169.254.169.254', echo.port, 'x');
      assert.equal(await client.roundTrip('127.0.0.5', echo.port, 'permitted'), 'permitted');
      client.control.destroy();
      const { dropped, datagramsUp } = await endOf(daemon, account.username);
      assert.deepEqual(dropped, { 'denied-by-rule': 3, private: 1, 'always-denied': 1 });
      assert.equal(datagramsUp, 1);
    });

    it('have a game by the name of their destination, or by the first datagrams', async (t) => {
      const [byName, byData] = [await newAccount(), await newAccount()];
      const echo = await startUdpEcho(t, '127.0.0.5');
      const one = await associateThrough(t, byName);
      one.send(Buffer.from('arena.upstream.test'), echo.port, 'x');
      const two = await associateThrough(t, byData);
      await two.roundTrip('127.0.0.5', echo.port, 'hello');
      await two.roundTrip('127.0.0.5', echo.port, 'ID=chess;');
      await eventually(async () => {
        assert.equal((await daemon.account(byName.username))['LatestGameId'], 'arena');
        assert.equal((await daemon.account(byData.username))['LatestGameId'], 'chess');
      });
    });

    it('are limited by the rate of the account', async (t) => {
      const account = await newAccount();
      const limits = { bytesPerSecondUp: 1_000 };
      const set = await daemon.api('PATCH', `/api/v1/accounts/${account.id}/limits`, limits);
      assert.equal(set.status, 200, set.text);
      const destination = await UdpEnd.open(t, '127.0.0.5');
      const client = await associateThrough(t, account);
      for (let i = 0; i < 10; i += 1) client.send('127.0.0.5', destination.port, Buffer.alloc(1_000));
      await destination.receive();
      client.control.destroy();
      const line = await endOf(daemon, account.username);
      const dropped = (line['dropped'] as Record<string, number>)['over-rate'] ?? 0;
      assert.ok(dropped >= 7, `${dropped} dropped`);
      assert.equal(Number(line['datagramsUp']) + dropped, 10);
    });

    it('arrive from hosts that the client never sent to, like direct ones', async (t) => {
      const destination = await UdpEnd.open(t, '127.0.0.5');
      const otherHost = await UdpEnd.open(t, '127.0.0.6');
      const denied = await UdpEnd.open(t, '127.0.0.66');
      const client = await associateThrough(t, await newAccount());
      client.send('127.0.0.5', destination.port, 'hello');
      const { port } = (await destination.receive()).from;
      denied.send('from a denied address', port, '127.0.0.1');
      otherHost.send('from another host', port, '127.0.0.1');
      const received = await client.receive();
      assert.deepEqual(
        [received.data.toString(), received.host, received.port],
        ['from another host', '127.0.0.6', otherHost.port],
      );
    });

    it('leave no descriptor open', async (t) => {
      const account = await newAccount();
      const echo = await startUdpEcho(t, '127.0.0.5');
      const warm = await associateThrough(t, account);
      await warm.roundTrip('127.0.0.5', echo.port, 'x');
      warm.control.destroy();
      await endOf(daemon, account.username);
      const before = openDescriptors(daemon.pid);
      for (let i = 0; i < 3; i += 1) {
        const clients = await Promise.all(Array.from({ length: 10 }, () => associateThrough(t, account)));
        for (const client of clients) await client.roundTrip('127.0.0.5', echo.port, 'x');
        // Each association has four. Some of the first one may have been open still at the count before.
        assert.ok(openDescriptors(daemon.pid) >= before + 30);
        for (const client of clients) client.control.destroy();
        await descriptorsBackTo(daemon.pid, before);
      }
    });
  });
}

describe('datagrams through danted', () => {
  it('are relayed to the destination and back', needs('danted'), async (t) => {
    const { port } = await startDanted(t, 'udpassociate udpreply');
    const daemon = await startTestDaemon(t, {
      config: { socks: { upstreams: [{ proxy: `127.0.0.1:${port}` }] } },
    });
    await daemon.addAccount('player', 'secret');
    const echo = await startUdpEcho(t);
    const client = await associateThrough(t, {
      port: daemon.socks.port,
      username: 'player',
      password: 'secret',
    });
    for (let i = 0; i < 20; i += 1) {
      client.send('127.0.0.1', echo.port, `datagram ${i}`);
      const answer = await client.receive();
      assert.deepEqual(
        [answer.data.toString(), answer.host, answer.port],
        [`datagram ${i}`, '127.0.0.1', echo.port],
      );
    }
  });
});
