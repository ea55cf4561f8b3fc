// Datagrams by way of an upstream proxy that keeps to the rules: another daemon, or danted.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startDanted } from '../../differential/servers.js';
import { type LogLine, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../../helpers/descriptors.js';
import { eventually } from '../../helpers/eventually.js';
import { startNameServer } from '../../helpers/name-server.js';
import { needs } from '../../helpers/programs.js';
import { suiteScope } from '../../helpers/suite.js';
import { associateThrough, startUdpEcho, UdpEnd } from '../../helpers/udp-client.js';

const LAST = 0x80;
/** Echoes that certainly make a splice relay hand the direct flows to its worker. */
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
      // Each knows names that the other does not.
      const upstreamNames = await startNameServer(scope, (name, family) =>
        family === 4 && name.endsWith('.there.test') ? ['127.0.1.5'] : undefined,
      );
      const names = await startNameServer(scope, (name, family) =>
        family === 4 && name.endsWith('.here.test') ? ['127.0.0.1'] : undefined,
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
            // What a name of the upstream proxy's leads to may be private there: it is in none of these.
            private: 'deny',
            allow: ['127.0.0.0/24', '::1', '*.here.test'],
            deny: ['bad.there.test', '127.0.0.66', '*:9'],
          },
          socks: {
            engine,
            upstreams: [
              { match: { hosts: ['127.0.0.1'] }, proxy: null },
              { match: { hosts: ['*.there.test'] }, ...login, names: 'proxy' },
              { match: { hosts: ['*'] }, ...login },
            ],
          },
          heartbeats: {
            games: [
              { id: 'arena', match: { hosts: ['arena.there.test'], protocol: 'udp' } },
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

    for (const [what, host, listenOn, asked] of [
      ['an IPv4 address', '127.0.0.5', '127.0.0.5', '127.0.0.5'],
      ['an IPv6 address', '::1', '::1', '[::1]'],
      [
        'a name that only the upstream proxy knows',
        Buffer.from('game.there.test'),
        '127.0.1.5',
        'game.there.test',
      ],
      ['an address written as a name', Buffer.from('127.0.0.5'), '127.0.0.5', '127.0.0.5'],
    ] as const) {
      it(`go to ${what} and back`, async (t) => {
        const account = await newAccount();
        const seen = upstream.lines.length;
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
        const shown = typeof host === 'string' ? asked : host.toString();
        assert.equal(line['destination'], `${shown}:${echo.port}`);
        // The end of the association has ended the upstream proxy's.
        const theirs = await upstream.waitForLine(
          (each) => each.msg === 'session ended' && upstream.lines.indexOf(each) >= seen,
        );
        assert.deepEqual(
          [theirs['account'], theirs['destination'], theirs['bytesUp'], theirs['end']],
          ['child', `${asked}:${echo.port}`, bytes, 'client-closed'],
        );
      });
    }

    it('go where the address of a name leads that is resolved here', async (t) => {
      const account = await newAccount();
      const echo = await startUdpEcho(t);
      const client = await associateThrough(t, account);
      assert.equal(await client.roundTrip(Buffer.from('direct.here.test'), echo.port, 'x'), 'x');
      client.control.destroy();
      const line = await endOf(daemon, account.username);
      assert.deepEqual([line['via'], line['datagramsDown']], [undefined, 1], 'its address is an exception');
    });

    it('share the association with direct ones, also once these have a worker', async (t) => {
      const account = await newAccount();
      const direct = await startUdpEcho(t);
      const far = await startUdpEcho(t, '127.0.0.5');
      const client = await associateThrough(t, account);
      for (let i = 0; i < WARM_UP; i += 1) {
        assert.equal(await client.roundTrip('127.0.0.1', direct.port, `${i}`), `${i}`);
      }
      for (let i = 0; i < WARM_UP; i += 1) {
        assert.equal(await client.roundTrip('127.0.0.5', far.port, `far ${i}`), `far ${i}`);
        assert.equal(await client.roundTrip('127.0.0.1', direct.port, `near ${i}`), `near ${i}`);
      }
      client.control.destroy();
      const line = await endOf(daemon, account.username);
      assert.deepEqual(
        [line['datagramsUp'], line['datagramsDown'], line['dropped']],
        [3 * WARM_UP, 3 * WARM_UP, {}],
      );
    });

    it('may come in fragments', async (t) => {
      const echo = await startUdpEcho(t, '127.0.0.5');
      const client = await associateThrough(t, await newAccount());
      client.send('127.0.0.5', echo.port, 'first ', 1);
      client.send('127.0.0.5', echo.port, 'second', 2 | LAST);
      assert.equal((await client.receive()).data.toString(), 'first second');
    });

    it('pass the egress rules for names and ports', async (t) => {
      const account = await newAccount();
      const echo = await startUdpEcho(t, '127.0.0.5');
      const client = await associateThrough(t, account);
      client.send(Buffer.from('bad.there.test'), echo.port, 'x');
      client.send(Buffer.from('game.there.test'), 9, 'x');
      client.send('127.0.0.66', echo.port, 'x');
      client.send('10.1.1.1', echo.port, 'x');
      client.send('169.254.169.254', echo.port, 'x');
      assert.equal(await client.roundTrip('127.0.0.5', echo.port, 'permitted'), 'permitted');
      client.control.destroy();
      const { dropped, datagramsUp } = await endOf(daemon, account.username);
      assert.deepEqual(dropped, { 'denied-by-rule': 3, private: 1, 'always-denied': 1 });
      assert.equal(datagramsUp, 1);
    });

    it('name the game by destination, and by the first datagrams', async (t) => {
      const [byName, byData] = [await newAccount(), await newAccount()];
      const echo = await startUdpEcho(t, '127.0.0.5');
      const one = await associateThrough(t, byName);
      one.send(Buffer.from('arena.there.test'), echo.port, 'x');
      const two = await associateThrough(t, byData);
      await two.roundTrip('127.0.0.5', echo.port, 'hello');
      await two.roundTrip('127.0.0.5', echo.port, 'ID=chess;');
      await eventually(async () => {
        assert.equal((await daemon.account(byName.username))['LatestGameId'], 'arena');
        assert.equal((await daemon.account(byData.username))['LatestGameId'], 'chess');
      });
    });

    it('keep to the rate of the account', async (t) => {
      const account = await newAccount();
      const limits = { bytesPerSecondUp: 1_000 };
      const set = await daemon.api('PATCH', `/api/v1/accounts/${account.id}/limits`, limits);
      assert.equal(set.status, 200, set.text);
      const far = await UdpEnd.open(t, '127.0.0.5');
      const client = await associateThrough(t, account);
      for (let i = 0; i < 10; i += 1) client.send('127.0.0.5', far.port, Buffer.alloc(1_000));
      await far.receive();
      client.control.destroy();
      const line = await endOf(daemon, account.username);
      const dropped = (line['dropped'] as Record<string, number>)['over-rate'] ?? 0;
      assert.ok(dropped >= 7, `${dropped} dropped`);
      assert.equal(Number(line['datagramsUp']) + dropped, 10);
    });

    it('are heard from hosts that the client never sent to, as direct ones are', async (t) => {
      const far = await UdpEnd.open(t, '127.0.0.5');
      const stranger = await UdpEnd.open(t, '127.0.0.6');
      const denied = await UdpEnd.open(t, '127.0.0.66');
      const client = await associateThrough(t, await newAccount());
      client.send('127.0.0.5', far.port, 'hello');
      const { port } = (await far.receive()).from;
      denied.send('from a denied address', port, '127.0.0.1');
      stranger.send('from a stranger', port, '127.0.0.1');
      const heard = await client.receive();
      assert.deepEqual(
        [heard.data.toString(), heard.host, heard.port],
        ['from a stranger', '127.0.0.6', stranger.port],
      );
    });

    it('leave no descriptor behind', async (t) => {
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
        // Four each; a few of the first association may still have been open when the others began.
        assert.ok(openDescriptors(daemon.pid) >= before + 30);
        for (const client of clients) client.control.destroy();
        await descriptorsBackTo(daemon.pid, before);
      }
    });
  });
}

describe('datagrams through danted', () => {
  it('go there and back', needs('danted'), async (t) => {
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
