// Accounts that may log in only from some client addresses, by every protocol, for new and for live sessions.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { ACCESS_FIELDS, INITIAL_FIELDS } from '../../src/core/accounts/fields/account-fields.js';
import { makeCertificate } from '../helpers/certificate.js';
import { runCommand } from '../helpers/command.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { connectHead, readHead } from '../helpers/http-proxy-client.js';
import { has, needs } from '../helpers/programs.js';
import { greeting, login, RawClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

const ALLOWED = '127.0.1.1';
const OTHER = '127.0.1.2';
const BALANCER = '127.0.3.1';
const NAMES = ['one', 'two', 'three', 'four', 'five'];

for (const [title, socks] of [
  ['three workers', { workers: 3 }],
  ['the node engine', { engine: 'node' }],
] as const) {
  describe(`allowed clients with ${title}`, () => {
    const withTls = has('openssl');
    const scope = suiteScope();
    let daemon: TestDaemon;
    let target: Target;
    const ids = new Map<string, string>();
    /** Plain, behind a load balancer, TLS. */
    let ports: number[];

    before(async () => {
      daemon = await startTestDaemon(scope, {
        config: {
          socks: {
            ...socks,
            maxAllowedClients: 2,
            login: { maxFailuresPerSource: 1_000, maxFailuresPerUser: 1_000 },
            proxyProtocolFrom: [BALANCER],
            listeners: [
              { host: '127.0.0.1', port: 0, proxyProtocol: true },
              ...(withTls ? [tlsListener()] : []),
            ],
          },
        },
      });
      target = await startTarget(scope, echo);
      const ready = await daemon.waitForLine(({ msg }) => msg === 'ready');
      ports = (ready['socks'] as string[]).map((address) => Number(address.replace(/^.*:/, '')));
      for (const name of NAMES) {
        ids.set(name, await daemon.addAccount(name, 'secret'));
        await allow(name, [ALLOWED, '2001:db8::/32']);
      }
    });

    function tlsListener() {
      const { certFile: cert, keyFile: key } = makeCertificate(scope);
      return { host: '127.0.0.1', port: 0, tls: { cert, key } };
    }

    async function allow(name: string, allowedClients: readonly string[]): Promise<void> {
      const answer = await daemon.api('PATCH', `/api/v1/accounts/${ids.get(name)}`, { allowedClients });
      assert.equal(answer.status, 200, answer.text);
    }

    const connectFrom = (from: string): Promise<RawClient> =>
      RawClient.connect(ports[0] ?? 0, '127.0.0.1', from);

    /** Returns the reply to the login: 0100 for success. */
    async function loginReply(client: RawClient, name: string, password = 'secret'): Promise<string> {
      client.send(Buffer.concat([greeting(2), login(name, password)]));
      return (await client.read(4)).subarray(2).toString('hex');
    }

    async function relay(client: RawClient): Promise<void> {
      client.send(request('127.0.0.1', target.port));
      assert.equal((await readReply(client)).code, 0);
      await assertEcho(client);
    }

    async function assertEcho(client: RawClient): Promise<void> {
      client.send('hello');
      assert.equal((await client.read(5)).toString(), 'hello');
    }

    it('SOCKS5 refuses other addresses like a wrong password, whichever worker accepts', async () => {
      for (const name of NAMES) {
        const allowed = await connectFrom(ALLOWED);
        assert.equal(await loginReply(allowed, name), '0100');
        await relay(allowed);
        allowed.destroy();
        const wrong = await connectFrom(ALLOWED);
        const answer = await loginReply(wrong, name, 'wrong');
        const refused = await connectFrom(OTHER);
        assert.equal(await loginReply(refused, name), answer);
        assert.deepEqual(await refused.readToEnd(), await wrong.readToEnd());
        const line = await daemon.waitForLine(
          (one) => one.msg === 'login refused' && one['user'] === name && one['client'] === OTHER,
        );
        assert.equal(line['reason'], 'client-not-allowed');
      }
      await eventually(async () => {
        const found = await daemon.api('GET', `/api/v1/logins?failed=true&search=${OTHER}`);
        const { items } = found.json as { items: { username: string; outcome: string }[] };
        assert.deepEqual(items.map(({ username, outcome }) => `${username} ${outcome}`).sort(), [
          ...NAMES.map((name) => `${name} client-not-allowed`).sort(),
        ]);
      });
      const metrics = (await daemon.api('GET', '/metrics')).text;
      assert.match(metrics, /pulsegate_logins_total\{.*outcome="client-not-allowed".*\} 5/);
    });

    it('HTTP refuses other addresses like a wrong password', async () => {
      const answers = [];
      for (const [from, password] of [
        [ALLOWED, 'wrong'],
        [OTHER, 'secret'],
        [ALLOWED, 'secret'],
      ] as const) {
        const client = await connectFrom(from);
        client.send(
          connectHead(`127.0.0.1:${target.port}`, `Proxy-Authorization: ${basic('one', password)}\r\n`),
        );
        const { line, fields } = await readHead(client);
        answers.push({ line, fields: Object.keys(fields) });
        client.destroy();
      }
      const [wrong, refused, right] = answers;
      assert.deepEqual(refused, wrong);
      assert.match(right?.line ?? '', / 200 /);
    });

    it('clients without credentials are refused from other addresses, too', async () => {
      const id = await daemon.addAccount('console', 'secret');
      const authorizedAddresses = ['127.0.4.0/24'];
      const body = { authorizedAddresses, allowedClients: ['127.0.4.1'] };
      assert.equal((await daemon.api('PATCH', `/api/v1/accounts/${id}`, body)).status, 200);
      const answers = [];
      for (const from of ['127.0.4.1', '127.0.4.2']) {
        const client = await connectFrom(from);
        client.send(
          Buffer.concat([
            Buffer.from([4, 1, target.port >> 8, target.port & 255, 127, 0, 0, 1]),
            Buffer.from('someone\0'),
          ]),
        );
        answers.push((await client.read(8))[1]);
        client.destroy();
      }
      assert.deepEqual(answers, [90, 93]);
    });

    it('the client address is that of the PROXY header', async () => {
      const answers = [];
      for (const address of [ALLOWED, OTHER, '2001:db8::7', '::ffff:127.0.1.1']) {
        const client = await RawClient.connect(ports[1] ?? 0, '127.0.0.1', BALANCER);
        const family = address.includes(':') ? 'TCP6' : 'TCP4';
        const own = family === 'TCP6' ? '::1' : '127.0.0.1';
        client.send(`PROXY ${family} ${address} ${own} 4000 1080\r\n`);
        answers.push(await loginReply(client, 'two'));
        client.destroy();
      }
      assert.deepEqual(answers, ['0100', '0101', '0100', '0100']);
    });

    it('the client address is that of a TLS client', needs('openssl'), async () => {
      const answers = [];
      for (const localAddress of [ALLOWED, OTHER]) {
        const options = { port: ports[2] ?? 0, host: '127.0.0.1', rejectUnauthorized: false, localAddress };
        const client = new RawClient(connect(options));
        answers.push(await loginReply(client, 'two'));
        client.destroy();
      }
      assert.deepEqual(answers, ['0100', '0101']);
    });

    it('a change ends the sessions of addresses that are no longer allowed, and only these', async () => {
      for (const name of NAMES) await allow(name, []);
      const sessions = await Promise.all(
        NAMES.flatMap((name) =>
          [ALLOWED, OTHER].map(async (from) => {
            const client = await connectFrom(from);
            assert.equal(await loginReply(client, name), '0100');
            await relay(client);
            return { from, client };
          }),
        ),
      );
      for (const name of NAMES) await allow(name, [ALLOWED]);
      for (const { client, from } of sessions) if (from === OTHER) await client.closed();
      for (const { client, from } of sessions) {
        if (from === OTHER) continue;
        await assertEcho(client);
        client.destroy();
      }
      await eventually(() => {
        const ended = daemon.lines.filter(
          ({ msg, end }) => msg === 'session ended' && end === 'client-not-allowed',
        );
        assert.deepEqual(ended.map((line) => line['account']).sort(), [...NAMES].sort());
      });
      const loggedIn = await connectFrom(ALLOWED);
      assert.equal(await loginReply(loggedIn, 'five'), '0100');
      await allow('five', [OTHER]);
      loggedIn.send(request('127.0.0.1', target.port));
      assert.notEqual((await readReply(loggedIn)).code, 0);
    });

    it('a schedule refuses logins and ends sessions outside it', async () => {
      const url = `/api/v1/accounts/${ids.get('four')}`;
      await allow('four', []);
      const set = async (schedule: string | null) => {
        const answer = await daemon.api('PATCH', url, { schedule });
        assert.equal(answer.status, 200, answer.text);
        return answer.json as {
          schedule: string | null;
          isOutsideSchedule: boolean;
          scheduleChangesAt: string | null;
        };
      };
      // A day on which the test does not run.
      const day = new Date(Date.now() + 2 * 86_400_000).toUTCString().slice(0, 3);
      const live = await connectFrom(ALLOWED);
      assert.equal(await loginReply(live, 'four'), '0100');
      await relay(live);
      const always = await set('mon-sun 00:00-24:00');
      assert.deepEqual([always.isOutsideSchedule, always.scheduleChangesAt], [false, null]);
      await assertEcho(live);
      const closed = await set(`${day} 0:00-24:00`);
      assert.equal(closed.schedule, `${day.toLowerCase()} 00:00-24:00`);
      assert.equal(closed.isOutsideSchedule, true);
      assert.match(String(closed.scheduleChangesAt), /T00:00:00\.000Z$/);
      await live.closed();
      await daemon.waitForLine(({ msg, end }) => msg === 'session ended' && end === 'outside-schedule');
      const refused = await connectFrom(ALLOWED);
      assert.equal(await loginReply(refused, 'four'), '0101');
      await daemon.waitForLine(({ msg, reason }) => msg === 'login refused' && reason === 'outside-schedule');
      assert.equal((await daemon.api('PATCH', url, { schedule: 'workdays' })).status, 400);
      await set('');
      const again = await connectFrom(ALLOWED);
      assert.equal(await loginReply(again, 'four'), '0100');
      again.destroy();
    });

    it('a bulk change previews the sessions that it ends, sets and clears the lists, and keeps fields that it does not name', async () => {
      const names = ['one', 'two'];
      for (const name of names) await allow(name, []);
      const [kept, ended] = [await connectFrom(ALLOWED), await connectFrom(OTHER)];
      assert.deepEqual([await loginReply(kept, 'one'), await loginReply(ended, 'two')], ['0100', '0100']);
      for (const client of [kept, ended]) await relay(client);
      const bulk = async (access: object, dryRun: boolean) => {
        const body = {
          ids: names.map((name) => ids.get(name)),
          action: { type: 'set-access', access },
          dryRun,
        };
        const answer = await daemon.api('POST', '/api/v1/accounts/bulk', body);
        assert.equal(answer.status, 200, answer.text);
        return answer.json as {
          count: number;
          skippedCount: number;
          sessionsEnded: number;
          changes: { before: unknown; after: unknown }[];
        };
      };
      const access = { allowedClients: [ALLOWED], schedule: 'mon-sun 0:00-24:00' };
      const none = Object.fromEntries(ACCESS_FIELDS.map((name) => [name, INITIAL_FIELDS[name]]));
      const preview = await bulk(access, true);
      assert.deepEqual([preview.count, preview.sessionsEnded], [2, 1]);
      assert.deepEqual(preview.changes[0]?.before, { ...none, allowedClients: [], schedule: null });
      const set = { ...none, allowedClients: [ALLOWED], schedule: 'mon-sun 00:00-24:00' };
      assert.deepEqual(preview.changes[0]?.after, set);
      await assertEcho(ended);
      assert.equal((await bulk(access, false)).sessionsEnded, 1);
      await ended.closed();
      await assertEcho(kept);
      assert.deepEqual(
        [(await bulk(access, true)).skippedCount, (await bulk({}, true)).skippedCount],
        [2, 2],
      );

      const day = new Date(Date.now() + 2 * 86_400_000).toUTCString().slice(0, 3).toLowerCase();
      const closing = await bulk({ schedule: `${day} 00:00-24:00` }, true);
      assert.equal(closing.sessionsEnded, 1);
      assert.deepEqual(closing.changes[0]?.after, { ...set, schedule: `${day} 00:00-24:00` });
      const cleared = await bulk({ allowedClients: [], schedule: '' }, false);
      assert.deepEqual(cleared.changes[0]?.after, { ...none, allowedClients: [], schedule: null });
      await assertEcho(kept);
      kept.destroy();
      for (const [wrong, path] of [
        [{ allowedClients: ['home.example'] }, 'allowedClients'],
        [{ schedule: 'workdays' }, 'schedule'],
      ] as const) {
        const action = { type: 'set-access', access: wrong };
        const answer = await daemon.api('POST', '/api/v1/accounts/bulk', {
          filter: {},
          action,
          dryRun: true,
        });
        assert.equal(answer.status, 400);
        assert.ok(answer.text.includes(`"body.action.access.${path}"`), answer.text);
      }
    });

    it('the API refuses invalid entries and too many, and the command line replaces the list', async () => {
      const url = `/api/v1/accounts/${ids.get('three')}`;
      const malformed = await daemon.api('PATCH', url, { allowedClients: ['home.example'] });
      assert.equal(malformed.status, 400);
      assert.match(malformed.text, /"body\.allowedClients".*home\.example/);
      const three = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
      assert.match(
        (await daemon.api('PATCH', url, { allowedClients: three })).text,
        /at most 2 addresses and networks \(socks\.maxAllowedClients\)/,
      );
      const many = { pattern: 'cafe{1-2}', allowedClients: ['127.0.1.0/24'] };
      assert.equal((await daemon.api('POST', '/api/v1/accounts/batch', many)).status, 200);
      const wrong = { ...many, allowedClients: three };
      assert.equal((await daemon.api('POST', '/api/v1/accounts/batch', wrong)).status, 400);
      const file = (await daemon.api('GET', '/api/v1/accounts/export?format=csv&search=cafe')).text;
      assert.match(file, /"cafe1",.*127\.0\.1\.0\/24/);

      const pulsegate = (...args: string[]) =>
        runCommand(daemon.dataDir, ['account', ...args, '--config', daemon.configFile]);
      assert.equal((await pulsegate('update', 'three', '--allowed-clients', `${OTHER}, 192.0.2.1`)).code, 0);
      assert.match((await pulsegate('show', 'three')).stdout, /allowed clients +127\.0\.1\.2, 192\.0\.2\.1/);
      await eventually(async () => {
        const client = await connectFrom(OTHER);
        const answer = await loginReply(client, 'three');
        client.destroy();
        assert.equal(answer, '0100');
      });
      const audit = (await daemon.api('GET', '/api/v1/audit?limit=1')).text;
      assert.match(audit, /"allowedClients":"127\.0\.1\.2, 192\.0\.2\.1"/);
    });
  });
}
