// The guard: new connections, destinations and failed connects of one account beyond a limit are slowed, then refused, and an account
// that goes on is suspended. Ports and BitTorrent that egress rules deny.
import assert from 'node:assert/strict';
import { before, describe, it, test } from 'node:test';
import { runCommand } from '../helpers/command.js';
import { type LogLine, NO_GUARD, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { connectHead, readHead } from '../helpers/http-proxy-client.js';
import { connectThrough, loggedInClient, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';
import { associateThrough, startUdpEcho, type UdpEnd } from '../helpers/udp-client.js';

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
          socks: { engine, workers: 1, bind: { enabled: true } },
          metrics: {},
          egress: {
            ...lists,
            classes: {
              connections: { ...lists, guard: { ...NO_GUARD, connectionsPerMinute: MOST } },
              destinations: { ...lists, guard: { ...NO_GUARD, destinationsPerMinute: MOST } },
              datagrams: { ...lists, guard: { ...NO_GUARD, udpDestinationsPerSecond: MOST } },
              failures: { ...lists, guard: { ...NO_GUARD, failedConnectionsPerMinute: MOST } },
              second: { ...lists, guard: { ...NO_GUARD, connectionsPerSecond: MOST } },
              places: { ...lists, guard: { ...NO_GUARD, maxConnections: 1 } },
              off: { ...lists, guard: NO_GUARD },
              mail: { ...lists, denyPorts: [] },
              scans: { ...lists, denyPorts: ['smtp', 'scans', 9], bittorrent: 'deny' },
            },
          },
        },
      });
    });

    /** @param rules an egress class, or limits of the account itself */
    async function account(username: string, rules: string | object | null) {
      const id = await daemon.addAccount(username, 'secret');
      const limits = typeof rules === 'string' ? { egressClass: rules } : rules;
      if (limits !== null)
        assert.equal((await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, limits)).status, 200);
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

    it('counts by the limits of an account before those of its class, and at once by the new ones', async () => {
      const { id, login } = await account('own', 'destinations');
      const set = (limits: object) => daemon.api('PATCH', `/api/v1/accounts/${id}`, { limits });
      const reached = async (from: number, count: number) => {
        const replies = [];
        for (let n = from; n < from + count; n += 1)
          replies.push(await replyOf(login, hostOf(n), target.port));
        return replies.filter((code) => code === SUCCEEDED).length;
      };
      await set({ destinationsPerMinute: 2 });
      assert.equal(await reached(1, 3), 2);
      await set({ destinationsPerMinute: 0 });
      assert.equal(await reached(11, 2 * MOST), 2 * MOST);
      await set({ destinationsPerMinute: null, connectionsPerMinute: 3 });
      assert.equal(await reached(31, MOST), 3);
      const line = await daemon.waitForLine(
        (each) => each['account'] === 'own' && each['limit'] === 'guard.connectionsPerMinute',
      );
      // One report a minute: it may come between two refusals.
      const refused = Number(line['refused']);
      assert.ok(refused >= 1 && refused <= MOST - 3, `${refused} refused`);
      for (const wrong of [-1, 1.5, 10_000_001, '5'])
        assert.equal((await set({ connectionsPerMinute: wrong })).status, 400);
    });

    it('opens as many connections at once as its own limit says, before that of its class', async () => {
      const { id, login } = await account('open', { egressClass: 'places', maxConnections: MOST });
      const open: RawClient[] = [];
      const more = async () => {
        const client = await loggedInClient(login);
        client.send(request('127.0.0.1', target.port));
        open.push(client);
        return (await readReply(client)).code;
      };
      for (let n = 1; n <= MOST; n += 1) assert.equal(await more(), SUCCEEDED, `${n} of ${MOST}`);
      assert.equal(await more(), NOT_ALLOWED);
      await daemon.waitForLine(
        (each) => each['account'] === 'open' && each['reason'] === 'max-connections-per-account',
      );
      await daemon.waitForLine(
        (each) => each['account'] === 'open' && each['limit'] === 'guard.maxConnections',
      );
      await eventually(async () => {
        const { json } = await daemon.api('GET', `/api/v1/logins?accountId=${id}&failed=true`);
        const [latest] = (json as { items: { outcome: string }[] }).items;
        assert.equal(latest?.outcome, 'too-many-open-connections');
      });
      const set = (maxConnections: number | null) =>
        daemon.api('PATCH', `/api/v1/accounts/${id}`, { limits: { maxConnections } });
      await set(null);
      assert.equal(await more(), NOT_ALLOWED);
      await set(0);
      assert.equal(await more(), SUCCEEDED);
      for (const client of open) client.destroy();
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

    for (const [username, rules] of [
      ['fast', 'second'],
      ['fast-own', { connectionsPerSecond: MOST }],
    ] as const)
      it(`slows down what comes too fast by a second at most, and refuses more, by ${username === 'fast' ? 'its class' : 'its own limit'}`, async () => {
        const { login } = await account(username, rules);
        const clients = await Promise.all(Array.from({ length: 4 * MOST }, () => loggedInClient(login)));
        for (const client of clients) client.send(request('127.0.0.1', target.port));
        const replies = await Promise.all(clients.map((client) => readReply(client)));
        for (const client of clients) client.destroy();
        const served = replies.filter(({ code }) => code === SUCCEEDED).length;
        // At once, then one second's worth in turn; a slow machine may take longer to send them.
        assert.ok(served >= 2 * MOST && served < 4 * MOST, `${served} served`);
        const line = await daemon.waitForLine(
          (each) => each.msg === 'account limited' && each['account'] === username,
        );
        assert.ok(Number(line['slowed']) > 0);
      });

    for (const [username, rules] of [
      ['scan', 'destinations'],
      ['scan-own', { destinationsPerMinute: MOST }],
    ] as const)
      it(`refuses new destinations, and none that the account uses, by ${username === 'scan' ? 'its class' : 'its own limit'}`, async () => {
        const { login } = await account(username, rules);
        for (let n = 1; n <= MOST; n += 1)
          assert.equal(await replyOf(login, hostOf(n), target.port), SUCCEEDED);
        assert.equal(await replyOf(login, hostOf(MOST + 1), target.port), NOT_ALLOWED);
        assert.equal(await replyOf(login, hostOf(1), target.port), SUCCEEDED);
      });

    for (const [username, rules] of [
      ['failing', 'failures'],
      ['failing-own', { failedConnectionsPerMinute: MOST }],
    ] as const)
      it(`refuses new destinations after too many failures, each destination counted once, by ${username === 'failing' ? 'its class' : 'its own limit'}`, async () => {
        const { login } = await account(username, rules);
        // No other test listens on port 9 (discard).
        for (let n = 0; n < 2 * MOST; n += 1)
          assert.notEqual(await replyOf(login, hostOf(1), 9), NOT_ALLOWED);
        for (let n = 2; n <= MOST; n += 1) assert.notEqual(await replyOf(login, hostOf(n), 9), NOT_ALLOWED);
        assert.equal(await replyOf(login, hostOf(MOST + 1), target.port), NOT_ALLOWED);
      });

    for (const [username, rules] of [
      ['pings', 'datagrams'],
      ['pings-own', { udpDestinationsPerSecond: MOST }],
    ] as const)
      it(`drops datagrams to more new destinations, by ${username === 'pings' ? 'its class' : 'its own limit'}`, async (t) => {
        const { login } = await account(username, rules);
        const ends = [];
        for (let n = 1; n <= 3 * MOST; n += 1) ends.push(await startUdpEcho(t, hostOf(n)));
        const client = await associateThrough(t, login);
        for (const [n, end] of ends.entries()) client.send(hostOf(n + 1), end.port, Buffer.from('ping'));
        for (let n = 0; n < MOST; n += 1) await client.receive();
        const line = daemon.waitForLine(
          (each) => each.msg === 'session ended' && each['account'] === username,
        );
        await daemon.waitForLine((each) => each.msg === 'account limited' && each['account'] === username);
        client.control.destroy();
        const { dropped } = (await line) as unknown as { dropped: Record<string, number> };
        const many = dropped['too-many-destinations'] ?? 0;
        assert.ok(many > 0 && many <= 2 * MOST, `${many}`);
      });

    /** The rules that the log names for the account's refused destinations, by destination. */
    const rulesOf = (username: string) =>
      daemon.lines.flatMap((each) =>
        each.msg === 'destination refused' && each['account'] === username
          ? [`${each['destination']} ${each['reason']} ${each['rule']}`]
          : [],
      );

    it('denies port 25 by every protocol, and opens it for the accounts of a class', async (t) => {
      const { login } = await account('spammer', null);
      const smtp = '127.0.0.1:25';
      assert.equal(await replyOf(login, '127.0.0.1', 25), NOT_ALLOWED);
      assert.equal(await replyOf(login, 'mail.unresolved.test', 25), NOT_ALLOWED);
      const bind = await loggedInClient(login);
      bind.send(request('127.0.0.1', 25, 2));
      assert.equal((await readReply(bind)).code, NOT_ALLOWED);
      const field = `Proxy-Authorization: ${basic('spammer', 'secret')}\r\n`;
      for (const head of [
        connectHead(smtp, field),
        `GET http://${smtp}/ HTTP/1.1\r\nHost: ${smtp}\r\n${field}\r\n`,
      ]) {
        const client = await RawClient.connect(login.port);
        client.send(head);
        assert.equal((await readHead(client)).status, 403);
      }
      const udp = await associateThrough(t, login);
      udp.send('127.0.0.1', 25, 'x');
      await eventually(() =>
        assert.deepEqual(
          rulesOf('spammer'),
          [smtp, 'mail.unresolved.test:25', smtp, smtp, smtp, smtp].map(
            (each) => `${each} denied-by-rule egress.denyPorts: smtp`,
          ),
        ),
      );
      const mail = await account('mailer', 'mail');
      assert.notEqual(await replyOf(mail.login, '127.0.0.1', 25), NOT_ALLOWED);
      const scanner = await account('scanner', 'scans');
      for (const port of [25, 445, 138, 9])
        assert.equal(await replyOf(scanner.login, '127.0.0.1', port), NOT_ALLOWED);
      assert.notEqual(await replyOf(scanner.login, '127.0.0.1', 140), NOT_ALLOWED);
      const byList = '127.0.0.1:445 denied-by-rule egress.classes.scans.denyPorts: scans';
      await eventually(() => assert.ok(rulesOf('scanner').includes(byList)));
    });

    // BEP 3: reserved bits of libtorrent, an info hash and a peer id.
    const handshake = Buffer.concat([
      Buffer.from('\x13BitTorrent protocol', 'latin1'),
      Buffer.from('0000000000180005aabbccddeeff00112233445566778899aabbccdd', 'hex'),
      Buffer.from('-LT20B0-abcdefghijkl'),
    ]);

    it('ends a session that begins with the handshake of BitTorrent, also in two parts', async () => {
      const { id, login } = await account('torrent', 'scans');
      const connected = async (to = login): Promise<RawClient> => {
        const client = await loggedInClient(to);
        client.send(request('127.0.0.1', target.port));
        assert.equal((await readReply(client)).code, SUCCEEDED);
        return client;
      };
      const whole = await connected();
      whole.send(handshake);
      assert.equal((await whole.readToEnd()).length, 0);
      const parts = await connected();
      parts.send(handshake.subarray(0, 7));
      assert.deepEqual(await parts.read(7), handshake.subarray(0, 7));
      parts.send(handshake.subarray(7));
      assert.equal((await parts.readToEnd()).length, 0);
      // Sent before the answer to CONNECT.
      const early = await RawClient.connect(login.port);
      const field = `Proxy-Authorization: ${basic('torrent', 'secret')}\r\n`;
      early.send(Buffer.concat([Buffer.from(connectHead(`127.0.0.1:${target.port}`, field)), handshake]));
      assert.equal((await readHead(early)).status, 200);
      assert.equal((await early.readToEnd()).length, 0);
      for (const client of [whole, parts, early]) client.destroy();

      const other = await connected();
      const alike = Buffer.from(handshake.map((byte, i) => (i === 19 ? 0x21 : byte)));
      other.send(alike.subarray(0, 12));
      assert.deepEqual(await other.read(12), alike.subarray(0, 12));
      other.send(alike.subarray(12));
      assert.deepEqual(await other.read(alike.length - 12), alike.subarray(12));
      const allowed = await connected((await account('seeder', null)).login);
      allowed.send(handshake);
      assert.deepEqual(await allowed.read(handshake.length), handshake);
      for (const client of [other, allowed]) client.destroy();

      const isEnd = (each: LogLine) => each['account'] === 'torrent' && each['end'] === 'bittorrent';
      await eventually(() =>
        assert.deepEqual(
          daemon.lines.filter(isEnd).map((each) => each['bytesUp']),
          [0, 7, 0],
        ),
      );
      assert.equal(
        rulesOf('torrent').filter((each) => each.endsWith('bittorrent egress.classes.scans.bittorrent'))
          .length,
        3,
      );
      await daemon.waitForLine(
        (each) => each['account'] === 'torrent' && each['limit'] === 'egress.bittorrent',
      );
      await eventually(async () => {
        const { json } = await daemon.api('GET', `/api/v1/logins?accountId=${id}&failed=true`);
        assert.equal((json as { items: { outcome: string }[] }).items[0]?.outcome, 'bittorrent');
      });
      const { text } = await daemon.api('GET', '/metrics');
      assert.match(text, /pulsegate_logins_total\{outcome="bittorrent"[^}]*\} 1\n/);
    });

    it('drops datagrams of BitTorrent, and then all to the same destination', async (t) => {
      const { login } = await account('dht', 'scans');
      const client = await associateThrough(t, login);
      // The header of BEP 29 with one extension, of a selective acknowledgement.
      const utp = (type: number, payload: Buffer) =>
        Buffer.concat([
          Buffer.from([(type << 4) | 1, 1, 0x1f, 0x2e]),
          Buffer.alloc(16, 7),
          Buffer.from([0, 4, 1, 0, 0, 0]),
          payload,
        ]);
      const node = 'abcdefghij0123456789';
      const denied = [
        `d1:ad2:id20:${node}e1:q4:ping1:t2:aa1:y1:qe`,
        `d1:ad2:id20:${node}9:info_hash20:mnopqrstuvwxyz123456e1:q9:get_peers1:t2:aa1:v4:LT\x01\x021:y1:qe`,
        `d2:ip6:\x7f\x00\x00\x01\x1a\xe11:rd2:id20:${node}e1:t2:aa1:y1:re`,
        Buffer.from('0000041727101980000000001a2b3c4d', 'hex'),
        utp(4, handshake),
        utp(0, handshake),
      ].map((each) => (typeof each === 'string' ? Buffer.from(each, 'latin1') : each));
      const others = [utp(4, Buffer.alloc(0)), utp(0, Buffer.from('a game')), Buffer.from('d1:t2:aa1:y1:qe')];
      const ends: UdpEnd[] = [];
      for (let n = 0; n <= denied.length; n += 1) ends.push(await startUdpEcho(t, hostOf(n + 1)));
      const [peer] = ends;
      assert.ok(peer);
      for (const other of [...others, ...others, Buffer.from('game')]) {
        client.send(hostOf(1), peer.port, other);
        assert.deepEqual((await client.receive()).data, other);
      }
      // The eighth to its destination is the last that is looked at.
      for (const [n, data] of denied.entries()) client.send(hostOf(n + 1), ends[n]?.port ?? 0, data);
      client.send(hostOf(1), peer.port, 'more');
      // All arrive in this order, and only the last is answered.
      client.send(hostOf(denied.length + 1), ends.at(-1)?.port ?? 0, 'last');
      assert.equal((await client.receive()).data.toString(), 'last');
      client.control.destroy();
      const line = await daemon.waitForLine(
        (each) => each.msg === 'session ended' && each['account'] === 'dht',
      );
      assert.deepEqual(line['dropped'], { bittorrent: denied.length + 1 });
      assert.deepEqual(rulesOf('dht').length, 1);
      await daemon.waitForLine((each) => each['account'] === 'dht' && each['refused'] === denied.length);
    });

    it('lets the mix of a household pass untouched by default: 600 connections to as many hosts, 500 servers, 100 peers', async (t) => {
      const { id, login } = await account('household', null);
      const server = await startUdpEcho(t, '0.0.0.0');
      const udp = await associateThrough(t, login);
      let sent = 0;
      const tabs = async (): Promise<void> => {
        for (let n = sent++; n < 600; n = sent++)
          assert.equal(await replyOf(login, hostOf(n), target.port), SUCCEEDED);
      };
      const ping = async (from: number, to: number): Promise<void> => {
        for (let n = from; n < to; n += 1) {
          udp.send(hostOf(n), server.port, Buffer.from('ping'));
          await udp.receive();
        }
      };
      // The list of servers is as long as udpDestinationsPerSecond allows, so the peers come in another second, however fast it was.
      const pings = async (): Promise<void> => {
        await ping(0, 500);
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        await ping(500, 600);
      };
      await Promise.all([pings(), ...Array.from({ length: 32 }, tabs)]);
      udp.control.destroy();
      const ended = await daemon.waitForLine(
        (each) =>
          each['account'] === 'household' && each['protocol'] === 'udp' && each.msg === 'session ended',
      );
      assert.deepEqual([ended['datagramsUp'], ended['dropped']], [600, {}]);
      // The worker reports all accounts at a time: after the report of another one there is none to come of this.
      const other = await account('marker', 'connections');
      for (let n = 0; n <= MOST; n += 1) await replyOf(other.login, '127.0.0.1', target.port);
      await daemon.waitForLine((each) => each.msg === 'account limited' && each['account'] === 'marker');
      assert.ok(
        !daemon.lines.some((each) => each.msg === 'account limited' && each['account'] === 'household'),
      );
      const { json } = await daemon.api('GET', `/api/v1/logins?accountId=${id}`);
      const { items } = json as { items: { outcome: string }[] };
      assert.deepEqual(new Set(items.map(({ outcome }) => outcome)), new Set(['success']));
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

test('an account that goes on is suspended: its sessions end, and it comes back at the time, or when it is lifted', async (t) => {
  const target = await startTarget(t, echo, '127.0.0.1');
  const start = (engine: string, time: string, dataDir?: string) =>
    startTestDaemon(t, {
      ...(dataDir === undefined ? {} : { dataDir }),
      config: {
        socks: { engine },
        metrics: {},
        notices: { url: 'http://127.0.0.1:9/', secret: `whsec_${'A'.repeat(32)}`, lookEvery: '50ms' },
        egress: lists,
        guard: {
          ...NO_GUARD,
          connectionsPerSecond: MOST,
          suspend: { after: 2 * MOST, within: '1m', for: time },
        },
      },
    });
  const loginTo = ({ socks }: TestDaemon, username: string) => ({
    port: socks.port,
    username,
    password: 'secret',
  });
  /** Opens more than the guard allows until the account is suspended. */
  async function scan(daemon: TestDaemon) {
    const isSuspension = ({ msg }: { msg: string }) => msg === 'account suspended';
    const attempt = async (): Promise<void> => {
      const client = await loggedInClient(loginTo(daemon, 'scanner'));
      client.send(request('127.0.0.1', target.port));
      await readReply(client).finally(() => client.destroy());
    };
    while (!daemon.lines.some(isSuspension)) await Promise.allSettled(Array.from({ length: 20 }, attempt));
    return daemon.waitForLine(isSuspension);
  }

  const first = await start('native', '1h');
  const id = await first.addAccount('scanner', 'secret');
  await first.addAccount('other', 'secret');
  const path = `/api/v1/accounts/${id}`;
  const get = async (daemon: TestDaemon) => (await daemon.api('GET', path)).json as Record<string, unknown>;
  const itemsOf = async (list: string) =>
    ((await first.api('GET', list)).json as { items: Record<string, unknown>[] }).items;
  const token = (scopes: string[]) => first.api('POST', '/api/v1/tokens', { name: scopes.join(), scopes });
  // Announced is what happens after the channel has been switched on.
  await eventually(async () => {
    await token(['sessions:read']);
    assert.ok((await itemsOf('/api/v1/event-deliveries')).length > 0);
  });
  // Beyond the five at once, each waits for its turn, and none longer than a second.
  await first.addAccount('hasty', 'secret');
  const hasty = await Promise.all(
    Array.from({ length: 2 * MOST - 1 }, () => loggedInClient(loginTo(first, 'hasty'))),
  );
  for (const client of hasty) client.send(request('127.0.0.1', target.port));
  for (const client of hasty) assert.equal((await readReply(client)).code, SUCCEEDED);
  for (const client of hasty) client.destroy();
  await eventually(async () => {
    const notice = (await itemsOf('/api/v1/event-deliveries')).find(({ type }) => type === 'account.limited');
    const { username, limit, slowed, refused } = (notice?.['data'] ?? {}) as Record<string, unknown>;
    assert.deepEqual([username, limit, refused], ['hasty', 'connectionsPerSecond', 0]);
    assert.ok(Number(slowed) > 0 && Number(slowed) < MOST, `${slowed} slowed`);
  });
  const other = await connectThrough(loginTo(first, 'other'), '127.0.0.1', target.port);
  const held = await connectThrough(loginTo(first, 'scanner'), '127.0.0.1', target.port);
  const line = await scan(first);
  assert.deepEqual(
    [line['account'], line['limit'], line['refused']],
    ['scanner', 'guard.connectionsPerSecond', 2 * MOST],
  );
  await held.closed();
  await first.waitForLine(({ msg, end }) => msg === 'session ended' && end === 'account-suspended');
  await assert.rejects(loggedInClient(loginTo(first, 'scanner')));
  await first.waitForLine(({ msg, reason }) => msg === 'login refused' && reason === 'suspended');
  other.send('go on');
  assert.equal((await other.read(5)).toString(), 'go on');
  await eventually(async () => {
    const outcomes = (await itemsOf(`/api/v1/logins?accountId=${id}`)).map(({ outcome }) => outcome);
    for (const outcome of ['slowed', 'too-many-connections', 'suspended'])
      assert.ok(outcomes.includes(outcome), `${outcome} in ${outcomes}`);
    const events = await itemsOf('/api/v1/event-deliveries');
    const notice = events.find(({ type }) => type === 'account.suspended');
    const { username, by, after } = (notice?.['data'] ?? {}) as Record<string, unknown>;
    const { suspendedUntil } = (after ?? {}) as Record<string, unknown>;
    assert.deepEqual([username, by, suspendedUntil], ['scanner', 'pulsegate', line['until']]);
  });
  assert.match((await first.api('GET', '/metrics')).text, /pulsegate_logins_total\{outcome="suspended"/);
  const suspended = await get(first);
  assert.deepEqual(
    [suspended['isEnabled'], suspended['suspendedUntil'], suspended['suspendReason']],
    [true, line['until'], 'too-many-connections'],
  );
  const found = await itemsOf('/api/v1/accounts?suspended=true');
  assert.deepEqual(
    found.map(({ username }) => username),
    ['scanner'],
  );
  // The account API knows no suspension.
  assert.deepEqual(Object.keys(await first.account('scanner')), Object.keys(await first.account('other')));
  assert.equal((await first.account('scanner'))['IsEnabled'], true);
  const { secret } = (await token(['accounts:read', 'accounts:write'])).json as { secret: string };
  const lift = { suspendedUntil: null };
  const withoutEgress = await first.api('PATCH', path, lift, { authorization: `Bearer ${secret}` });
  assert.equal(withoutEgress.status, 403, withoutEgress.text);
  // What a person has suspended can be lifted without that right; a reason of the guard's own is not taken.
  const { items: others } = (await first.api('GET', '/api/v1/accounts?search=other')).json as {
    items: { id: string }[];
  };
  const otherPath = `/api/v1/accounts/${others[0]?.id}`;
  const suspend = (reason: string) =>
    first.api('POST', '/api/v1/accounts/bulk', {
      ids: [others[0]?.id],
      action: { type: 'suspend', reason },
      dryRun: false,
    });
  assert.match(
    (await suspend('too-many-connections')).text,
    /"path":"body.action.reason".*words of your own/,
  );
  assert.equal((await suspend('unpaid')).status, 200);
  assert.notEqual(
    ((await first.api('GET', otherPath)).json as { suspendedUntil: string }).suspendedUntil,
    null,
  );
  const lifted = await first.api('PATCH', otherPath, lift, { authorization: `Bearer ${secret}` });
  assert.equal((lifted.json as { suspendedUntil: unknown }).suspendedUntil, null, lifted.text);
  // Without that right, neither the suspension nor its reason can be replaced.
  for (const action of [{ type: 'resume' }, { type: 'suspend', reason: 'unpaid' }]) {
    const bulk = { ids: [id], action, dryRun: false };
    const answer = await first.api('POST', '/api/v1/accounts/bulk', bulk);
    assert.match(answer.text, /"count":0,.*"suspended-by-guard"/);
  }
  first.signal('SIGTERM');
  await first.exited();

  const second = await start('node', '1s', first.dataDir);
  const login = loginTo(second, 'scanner');
  await assert.rejects(loggedInClient(login));
  const pulsegate = (...args: string[]) =>
    runCommand(second.dataDir, ['account', ...args, 'scanner', '--config', second.configFile]);
  assert.match((await pulsegate('show')).stdout, /^state +suspended until .* UTC \(too-many-connections\)$/m);
  assert.match((await pulsegate('resume')).stdout, /^Resumed scanner\.$/m);
  const { suspendedUntil, suspendReason } = await get(second);
  assert.deepEqual([suspendedUntil, suspendReason], [null, null]);
  (await loggedInClient(login)).destroy();
  const { until } = await scan(second);
  await eventually(async () => (await loggedInClient(login)).destroy());
  assert.ok(Date.now() >= Date.parse(String(until)));
  assert.equal((await get(second))['suspendedUntil'], null);
});
