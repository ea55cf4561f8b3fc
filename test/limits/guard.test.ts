// The guard: new connections, destinations and failed connects of one account beyond a limit are slowed, then refused.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { NO_GUARD, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { connectHead, readHead } from '../helpers/http-proxy-client.js';
import { loggedInClient, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';
import { associateThrough, startUdpEcho } from '../helpers/udp-client.js';

const [SUCCEEDED, NOT_ALLOWED] = [0, 2]; // RFC 1928 §6
const MOST = 5;
const lists = { private: 'allow', allow: [], deny: [] };

for (const engine of ['native', 'node'])
  describe(`guard of accounts, ${engine} engine`, () => {
    const scope = suiteScope();
    let daemon: TestDaemon;
    let target: Target;
    before(async () => {
      target = await startTarget(scope, echo, '0.0.0.0');
      daemon = await startTestDaemon(scope, {
        config: {
          socks: { engine },
          metrics: {},
          egress: {
            ...lists,
            classes: {
              connections: { ...lists, guard: { ...NO_GUARD, connectionsPerMinute: MOST } },
              destinations: { ...lists, guard: { ...NO_GUARD, destinationsPerMinute: MOST } },
              datagrams: { ...lists, guard: { ...NO_GUARD, udpDestinationsPerSecond: MOST } },
              failures: { ...lists, guard: { ...NO_GUARD, failedConnectionsPerMinute: MOST } },
              second: { ...lists, guard: { ...NO_GUARD, connectionsPerSecond: MOST } },
              off: { ...lists, guard: NO_GUARD },
            },
          },
        },
      });
    });

    async function account(username: string, egressClass: string | null) {
      const id = await daemon.addAccount(username, 'secret');
      if (egressClass !== null) await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, { egressClass });
      return { id, login: { port: daemon.socks.port, username, password: 'secret' } };
    }

    async function replyOf(
      login: { port: number; username: string; password: string },
      host: string,
      port: number,
    ) {
      const client = await loggedInClient(login);
      client.send(request(host, port));
      const { code } = await readReply(client);
      client.destroy();
      return code;
    }

    const hostOf = (n: number) => `127.0.${1 + (n >> 8)}.${n & 255}`;

    it('refuses the connection after the last of a minute, and says so everywhere', async () => {
      const { id, login } = await account('many', 'connections');
      for (let n = 0; n < MOST; n += 1)
        assert.equal(await replyOf(login, '127.0.0.1', target.port), SUCCEEDED);
      assert.equal(await replyOf(login, '127.0.0.1', target.port), NOT_ALLOWED);
      const line = await daemon.waitForLine(
        (each) => each.msg === 'account limited' && each['account'] === 'many',
      );
      assert.deepEqual(
        [line['limit'], line['slowed'], line['refused']],
        ['guard.connectionsPerMinute', 0, 1],
      );
      await eventually(async () => {
        const { json } = await daemon.api('GET', `/api/v1/logins?accountId=${id}&failed=true`);
        const { items } = json as { items: { outcome: string }[] };
        assert.deepEqual(
          items.map(({ outcome }) => outcome),
          ['too-many-connections'],
        );
      });
      const { text } = await daemon.api('GET', '/metrics');
      assert.match(text, /pulsegate_logins_total\{outcome="too-many-connections"[^}]*\} 1\n/);
    });

    it('answers HTTP with 429 and the seconds to wait', async () => {
      const { login } = await account('web', 'connections');
      const fields = `Proxy-Authorization: ${basic('web', 'secret')}\r\n`;
      for (let n = 0; n < MOST; n += 1) await replyOf(login, '127.0.0.1', target.port);
      const client = await RawClient.connect(login.port);
      client.send(connectHead(`127.0.0.1:${target.port}`, fields));
      const head = await readHead(client);
      assert.equal(head.status, 429);
      // A minute has five: the next is there after twelve seconds, less what the five took.
      assert.ok(Number(head.fields['retry-after']) > 0 && Number(head.fields['retry-after']) <= 12);
      client.destroy();
    });

    it('slows down what comes too fast by a second at most, and refuses more', async () => {
      const { login } = await account('fast', 'second');
      const clients = await Promise.all(Array.from({ length: 4 * MOST }, () => loggedInClient(login)));
      for (const client of clients) client.send(request('127.0.0.1', target.port));
      const replies = await Promise.all(clients.map((client) => readReply(client)));
      for (const client of clients) client.destroy();
      const served = replies.filter(({ code }) => code === SUCCEEDED).length;
      // At once, then one second's worth in turn; a slow machine may take longer to send them.
      assert.ok(served >= 2 * MOST && served < 4 * MOST, `${served} served`);
      const line = await daemon.waitForLine(
        (each) => each.msg === 'account limited' && each['account'] === 'fast',
      );
      assert.ok(Number(line['slowed']) > 0);
    });

    it('refuses new destinations, and none that the account uses', async () => {
      const { login } = await account('scan', 'destinations');
      for (let n = 1; n <= MOST; n += 1)
        assert.equal(await replyOf(login, hostOf(n), target.port), SUCCEEDED);
      assert.equal(await replyOf(login, hostOf(MOST + 1), target.port), NOT_ALLOWED);
      assert.equal(await replyOf(login, hostOf(1), target.port), SUCCEEDED);
    });

    it('refuses new destinations after too many failures, each destination counted once', async () => {
      const { login } = await account('failing', 'failures');
      // No other test listens on port 9 (discard).
      for (let n = 0; n < 2 * MOST; n += 1) assert.notEqual(await replyOf(login, hostOf(1), 9), NOT_ALLOWED);
      for (let n = 2; n <= MOST; n += 1) assert.notEqual(await replyOf(login, hostOf(n), 9), NOT_ALLOWED);
      assert.equal(await replyOf(login, hostOf(MOST + 1), target.port), NOT_ALLOWED);
    });

    it('drops datagrams to more new destinations', async (t) => {
      const { login } = await account('pings', 'datagrams');
      const ends = [];
      for (let n = 1; n <= 3 * MOST; n += 1) ends.push(await startUdpEcho(t, hostOf(n)));
      const client = await associateThrough(t, login);
      for (const [n, end] of ends.entries()) client.send(hostOf(n + 1), end.port, Buffer.from('ping'));
      for (let n = 0; n < MOST; n += 1) await client.receive();
      const line = daemon.waitForLine((each) => each.msg === 'session ended' && each['account'] === 'pings');
      await daemon.waitForLine((each) => each.msg === 'account limited' && each['account'] === 'pings');
      client.control.destroy();
      const { dropped } = (await line) as unknown as { dropped: Record<string, number> };
      const many = dropped['too-many-destinations'] ?? 0;
      assert.ok(many > 0 && many <= 2 * MOST, `${many}`);
    });

    it('lets the mix of a household pass by default: 600 connections to 80 hosts, 500 pings of servers', async (t) => {
      const { login } = await account('household', null);
      const server = await startUdpEcho(t, '0.0.0.0');
      const udp = await associateThrough(t, login);
      let sent = 0;
      const tabs = async (): Promise<void> => {
        // As many at once as browsers open through a proxy.
        for (let n = sent++; n < 600; n = sent++)
          assert.equal(await replyOf(login, hostOf(n % 80), target.port), SUCCEEDED);
      };
      const pings = async (): Promise<void> => {
        for (let n = 0; n < 500; n += 1) {
          udp.send(hostOf(n), server.port, Buffer.from('ping'));
          await udp.receive();
        }
      };
      await Promise.all([pings(), ...Array.from({ length: 32 }, tabs)]);
      // Here it comes faster than from a household, so it may be slowed.
      const line = daemon.lines.find(
        ({ msg, account: name }) => msg === 'account limited' && name === 'household',
      );
      assert.equal(line?.['refused'] ?? 0, 0);
    });

    it('reaches fewer destinations with the limits than without', async () => {
      const reached = async (username: string, egressClass: string | null): Promise<number> => {
        const { login } = await account(username, egressClass);
        let [next, found] = [0, 0];
        const scan = async (): Promise<void> => {
          for (let n = next++; n < 40; n = next++)
            if ((await replyOf(login, hostOf(n), target.port)) === SUCCEEDED) found += 1;
        };
        await Promise.all(Array.from({ length: 8 }, scan));
        return found;
      };
      assert.equal(await reached('unlimited', 'off'), 40);
      assert.equal(await reached('limited', 'destinations'), MOST);
    });
  });
