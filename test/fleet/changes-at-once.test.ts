// Changes of one object at two nodes in the same moment: none is lost, and of two for the same version one is refused.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Knex } from 'knex';
import { NO_PLAN_LIMITS } from '../../src/core/accounts/plans/plans.js';
import { NOTICE_DEFAULTS } from '../../src/core/notices/notice-settings.js';
import { connectPg } from '../../src/store/pg/connect.js';
import { runProcess } from '../helpers/command.js';
import { fetchFrom } from '../helpers/console.js';
import { ADMIN, type ApiAnswer, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { startFleet } from '../helpers/fleet.js';
import { basic } from '../helpers/http.js';
import { suiteScope } from '../helpers/suite.js';

type Json = Record<string, unknown>;
type Answers = readonly [ApiAnswer, ApiAnswer];

const getJson = async (node: TestDaemon, path: string) => (await node.api('GET', path)).json as Json;

/** Every setting that is saved as a whole, with a body that differs for each number. */
const SETTINGS: Readonly<Record<string, (number: number) => Json>> = {
  whitelist: (number) => ({ whitelist: `127.0.0.1, 10.0.0.${number}` }),
  games: (number) => ({ rules: [{ id: `game ${number}` }] }),
  plans: (days) => ({ plans: [{ name: 'month', days, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS }] }),
  pac: (number) => ({ rules: [{ match: `${number}.example`, via: 'proxy' }], otherwise: 'direct' }),
  'public-address': (port) => ({ host: null, port }),
  retention: (heartbeatDays) => ({
    heartbeatDays,
    heartbeatsPerAccount: 1_000,
    sessionDays: 30,
    runDays: 1,
    loginDays: 1,
    auditDays: 400,
  }),
  notices: (historyDays) => ({ ...NOTICE_DEFAULTS, historyDays }),
};

describe('two nodes', async () => {
  const t = suiteScope();
  let one: TestDaemon;
  let two: TestDaemon;
  let db: Knex;
  before(async () => {
    const playerPage = { enabled: true, outsideWhitelist: true, mayChange: ['authorizedAddresses'] };
    const fleet = await startFleet(t, ['gate-1', 'gate-2'], {
      admin: { trustedProxies: ['127.0.0.1'], playerPage, maxTokens: 1 },
      socks: { publicHost: '127.0.0.1' },
    });
    [one, two] = fleet.nodes as [TestDaemon, TestDaemon];
    db = connectPg(fleet.connection, 2);
    t.after(() => db.destroy());
  });

  /** Holds both requests between their reads and their writes of a table, until both wait to write it, or one for the other. */
  async function atOnce<Answer>(
    table: string,
    first: () => Promise<Answer>,
    second: () => Promise<Answer>,
  ): Promise<readonly [Answer, Answer]> {
    const lock = await db.transaction();
    await lock.raw('lock table ?? in exclusive mode', [table]);
    const answers = Promise.all([first(), second()]);
    const bothWait = eventually(async () => {
      const waiting = await db('pg_locks')
        .whereRaw("not granted and (relation = ?::regclass or locktype = 'advisory')", [table])
        .whereRaw('database = (select oid from pg_database where datname = current_database())');
      assert.equal(waiting.length, 2);
    });
    await Promise.race([bothWait, answers]).finally(() => lock.rollback());
    return answers;
  }

  /** Asserts that one of two changes was made and the other refused. Returns the one that was made. */
  function winnerOf(answers: Answers, refusal: number): ApiAnswer {
    const [made, refused] = [...answers].sort((a, b) => a.status - b.status);
    assert.ok(made && refused);
    assert.deepEqual([made.status < 300, refused.status], [true, refusal], refused.text);
    return made;
  }

  for (const [what, send] of [
    [
      'a purchase',
      (node: TestDaemon) =>
        node.api('POST', '/api/v1/accounts', { username: 'once' }, { 'idempotency-key': 'order' }),
    ],
    [
      'a renewal',
      (node: TestDaemon, id: string) =>
        node.api(
          'POST',
          '/api/v1/accounts/bulk',
          { ids: [id], action: { type: 'extend', days: 30, from: 'expiry' }, dryRun: false },
          { 'idempotency-key': 'renewal' },
        ),
    ],
  ] as const) {
    test(`${what} at both nodes in the same moment with one idempotency key counts once`, async () => {
      const made = await one.api('POST', '/api/v1/accounts', {
        username: `for ${what}`,
        expiresAt: '2040-01-01T00:00:00Z',
      });
      const { id } = (made.json as { account: { id: string } }).account;
      await eventually(async () =>
        assert.equal((await two.api('GET', `/api/v1/accounts/${id}`)).status, 200),
      );
      const lock = await db.transaction();
      await lock.raw('lock table idempotency_keys in exclusive mode');
      const sent = Promise.all([send(one, id), send(two, id)]);
      // One waits for the table, the other for it or for the first one's rows; the sweep of old keys may wait too.
      await eventually(async () => {
        const waiting = await db('pg_stat_activity')
          .whereRaw("datname = current_database() and wait_event_type = 'Lock'")
          .whereRaw('cardinality(pg_blocking_pids(pid)) > 0');
        assert.ok(waiting.length >= 2, String(waiting.length));
      }).finally(() => lock.rollback());
      const answers = await sent;
      const isReplayed = ({ headers }: ApiAnswer) => headers.get('idempotency-replayed') === 'true';
      const [first, repeated] = [...answers].sort((a, b) => Number(isReplayed(a)) - Number(isReplayed(b)));
      assert.ok(first && repeated && !isReplayed(first) && isReplayed(repeated), answers[1].text);
      assert.equal(repeated.status, first.status);
      assert.ok(first.status < 300, first.text);
      // An answer that the other node makes again names its own address for players.
      const essence = ({ json }: ApiAnswer) => {
        const { count, account, credentials } = json as { count?: number; account?: Json; credentials: Json };
        return [count, account, credentials['password']];
      };
      assert.deepEqual(essence(repeated), essence(first));
      const names = await db('accounts').where('username', 'once');
      assert.equal(names.length, what === 'a purchase' ? 1 : names.length);
      const renewed = what === 'a renewal' ? Date.UTC(2040, 0, 31) : Date.UTC(2040, 0, 1);
      const [stored] = await db('accounts').where({ id });
      assert.equal(Number(stored.expires_at), renewed);
      // Of one node the other one repeats the answer.
      for (const node of [one, two]) assert.equal((await send(node, id)).text, first.text);
    });
  }

  for (const [name, body] of Object.entries(SETTINGS)) {
    test(`one of two changes of ${name} for the same version is refused, and the other one holds at both`, async () => {
      const path = `/api/v1/settings/${name}`;
      let etag = (await one.api('GET', path)).headers.get('etag') ?? '';
      // The second time, the setting is stored already, and a node does not know yet what the other one has saved.
      for (const number of [2, 4]) {
        const answers = await atOnce(
          'settings',
          () => one.api('PUT', path, body(number), { 'if-match': etag }),
          () => two.api('PUT', path, body(number + 1), { 'if-match': etag }),
        );
        const made = winnerOf(answers, 412);
        etag = made.headers.get('etag') ?? '';
        for (const node of [one, two]) {
          await eventually(async () => assert.deepEqual((await node.api('GET', path)).json, made.json));
        }
      }
    });
  }

  test('one of two changes of only a secret for the same version is refused', async () => {
    const path = '/api/v1/settings/notices';
    const withToken = (token: string) => ({
      ...NOTICE_DEFAULTS,
      telegram: { ...NOTICE_DEFAULTS.telegram, token },
    });
    await one.api('PUT', path, withToken('1:a'));
    const read = await one.api('GET', path);
    const match = { 'if-match': read.headers.get('etag') ?? '' };
    const answers = await atOnce(
      'settings',
      () => one.api('PUT', path, withToken('2:b'), match),
      () => two.api('PUT', path, withToken('3:c'), match),
    );
    const made = winnerOf(answers, 412);
    assert.deepEqual(made.json, read.json, 'the answer shows nothing of the secret');
    assert.notEqual(made.headers.get('etag'), match['if-match']);
    await eventually(async () =>
      assert.equal((await two.api('GET', path)).headers.get('etag'), made.headers.get('etag')),
    );
  });

  test('one of two changes of an account, or of its limits, for the same version is refused', async () => {
    const id = await one.addAccount('ann', 'word');
    await eventually(() => two.account('ann'));
    for (const [path, fields] of [
      [`/api/v1/accounts/${id}`, [{ remarks: 'one' }, { tags: ['two'] }]],
      [`/api/v1/accounts/${id}/limits`, [{ maxSessions: 1 }, { maxClientAddresses: 2 }]],
    ] as const) {
      const etag = (await one.api('GET', path)).headers.get('etag') ?? '';
      const answers = await atOnce(
        'accounts',
        () => one.api('PATCH', path, fields[0], { 'if-match': etag }),
        () => two.api('PATCH', path, fields[1], { 'if-match': etag }),
      );
      const { json } = winnerOf(answers, 412);
      for (const node of [one, two]) {
        await eventually(async () => assert.deepEqual((await node.api('GET', path)).json, json));
      }
    }
  });

  test('an account that one node changes and the other one deletes for the same version is changed or deleted', async () => {
    const id = await one.addAccount('bea', 'word');
    await eventually(() => two.account('bea'));
    const path = `/api/v1/accounts/${id}`;
    const etag = (await one.api('GET', path)).headers.get('etag') ?? '';
    const [changed, deleted] = await atOnce(
      'accounts',
      () => one.api('PATCH', path, { remarks: 'one' }, { 'if-match': etag }),
      () => two.api('DELETE', path, undefined, { 'if-match': etag }),
    );
    const statuses = `${changed.status} ${deleted.status}`;
    assert.ok(statuses === '200 412' || statuses === '404 200', statuses);
  });

  test('two changes of other fields of an account are both made', async () => {
    const id = await one.addAccount('cat', 'word');
    await eventually(() => two.account('cat'));
    const path = `/api/v1/accounts/${id}`;
    await atOnce(
      'accounts',
      () => one.api('PATCH', path, { remarks: 'three', limits: { maxSessions: 3 } }),
      () => two.api('PATCH', path, { tags: ['four'], limits: { maxClientAddresses: 4 } }),
    );
    for (const node of [one, two]) {
      await eventually(async () => {
        const { remarks, tags, limits } = (await node.api('GET', path)).json as Json & { limits: Json };
        const both = [remarks, tags, limits['maxSessions'], limits['maxClientAddresses']];
        assert.deepEqual(both, ['three', ['four'], 3, 4]);
      });
    }
  });

  test('two extensions of an account are both made, and so are two tags', async () => {
    const added = await one.api('POST', '/api/v1/accounts', {
      username: 'dan',
      expiresAt: '2030-01-01T00:00:00Z',
    });
    const { id } = (added.json as { account: Json }).account;
    await eventually(() => two.account('dan'));
    const bulk = (node: TestDaemon, action: Json) => async () => {
      const answer = await node.api('POST', '/api/v1/accounts/bulk', { ids: [id], action, dryRun: false });
      assert.equal((answer.json as Json)['count'], 1, answer.text);
      return answer;
    };
    const extend = { type: 'extend', days: 10, from: 'expiry' };
    const answers = await atOnce('accounts', bulk(one, extend), bulk(two, extend));
    const expiries = answers.map(({ json }) => {
      const { changes } = json as { changes: { after: Json }[] };
      return changes[0]?.after['expiresAt'];
    });
    assert.deepEqual(expiries.sort(), ['2030-01-11T00:00:00.000Z', '2030-01-21T00:00:00.000Z']);
    await atOnce(
      'accounts',
      bulk(one, { type: 'tag', add: ['one'] }),
      bulk(two, { type: 'tag', add: ['two'] }),
    );
    for (const node of [one, two]) {
      await eventually(async () => {
        const { expiresAt, tags } = await getJson(node, `/api/v1/accounts/${id}`);
        assert.deepEqual([expiresAt, [...(tags as string[])].sort()], [expiries[1], ['one', 'two']]);
      });
    }
  });

  test('tags and addresses that two commands add are all kept', async () => {
    const id = await one.addAccount('fay', 'word');
    await eventually(() => two.account('fay'));
    // A daemon makes the changes of one account one after another.
    const add = (node: TestDaemon, tag: string, address: string) => async () => {
      const options = ['--tag', tag, '--authorize', address, '--config', node.configFile];
      const { code, stderr } = await runProcess('/', ['account', 'update', 'fay', ...options]);
      assert.equal(code, 0, stderr);
    };
    await atOnce('accounts', add(one, 'vip', '198.51.100.1'), add(two, 'weekly', '198.51.100.2'));
    await eventually(async () => {
      const { tags, authorizedAddresses } = await getJson(one, `/api/v1/accounts/${id}`);
      assert.deepEqual(tags, ['vip', 'weekly']);
      assert.deepEqual([...(authorizedAddresses as string[])].sort(), ['198.51.100.1', '198.51.100.2']);
    });
  });

  test('a link has the listeners of both nodes, and works at the other node until it is revoked', async () => {
    const id = await one.addAccount('linked', 'word');
    // Another test has set a port for both.
    await one.api('PUT', '/api/v1/settings/public-address', { host: null, port: null });
    const made = await one.api('POST', `/api/v1/accounts/${id}/subscription`);
    const path = new URL(String((made.json as Json)['url'])).pathname;
    await eventually(async () => {
      const { text } = await fetchFrom(two, 'GET', `${path}?format=links`, {});
      const ports = Array.from(text.matchAll(/@127\.0\.0\.1:(\d+)#127\.0\.0\.1%3A\1$/gm), ([, port]) =>
        Number(port),
      );
      assert.deepEqual(ports.sort(), [one.socks.port, two.socks.port].sort(), text);
    });
    assert.equal((await one.api('DELETE', `/api/v1/accounts/${id}/subscription`)).status, 204);
    assert.equal((await fetchFrom(two, 'GET', `${path}?format=links`, {})).status, 404);
  });

  test('two addresses that a player adds are both authorized', async () => {
    const id = await one.addAccount('eve', 'word');
    await eventually(() => two.account('eve'));
    const made = await one.api('POST', `/api/v1/accounts/${id}/subscription`);
    const page = new URL(String((made.json as Json)['url'])).pathname;
    const added = ['203.0.113.1', '203.0.113.2'];
    const [first, second] = [one, two].map((node, index) => async () => {
      const from = { 'x-forwarded-for': added[index] ?? '' };
      const answer = await fetchFrom(node, 'POST', `${page}/addresses`, from, {});
      assert.equal(answer.status, 200, answer.text);
      return answer;
    });
    assert.ok(first && second);
    await atOnce('accounts', first, second);
    for (const node of [one, two]) {
      await eventually(async () => {
        const { authorizedAddresses } = await getJson(node, `/api/v1/accounts/${id}`);
        assert.deepEqual([...(authorizedAddresses as string[])].sort(), added);
      });
    }
  });

  test('two changes of an operator are both made: renaming does not enable it again', async () => {
    const operator = { name: 'kim', password: 'a good password', role: 'viewer' };
    const { id } = (await one.api('POST', '/api/v1/operators', operator)).json as Json;
    await eventually(async () => assert.match((await two.api('GET', '/api/v1/operators')).text, /kim/));
    const path = `/api/v1/operators/${id}`;
    const answers = await atOnce(
      'operators',
      () => one.api('PATCH', path, { isEnabled: false }),
      () => two.api('PATCH', path, { name: 'lee' }),
    );
    assert.deepEqual([answers[0].status, answers[1].status], [200, 200]);
    for (const node of [one, two]) {
      const { items } = (await node.api('GET', '/api/v1/operators')).json as { items: Json[] };
      assert.deepEqual([items[0]?.['name'], items[0]?.['isEnabled']], ['lee', false]);
    }
  });

  test('one of two tokens is refused when only one more is allowed', async () => {
    const create = (node: TestDaemon) => () =>
      node.api('POST', '/api/v1/tokens', { name: 't', scopes: ['accounts:read'], expiresAt: null });
    winnerOf(await atOnce('api_tokens', create(one), create(two)), 409);
    for (const node of [one, two]) {
      await eventually(async () => {
        const { items } = (await getJson(node, '/api/v1/tokens')) as { items: Json[] };
        assert.equal(items.length, 1);
      });
    }
  });

  test('one of two new passwords of the administrator is refused, and the other one is valid at both', async () => {
    const path = '/api/v1/settings/admin-password';
    const change = (node: TestDaemon, next: string) =>
      node.api('PUT', path, { current: ADMIN.password, next });
    const answers = await atOnce(
      'settings',
      () => change(one, 'password one'),
      () => change(two, 'password two'),
    );
    const made = winnerOf(answers, 400);
    const password = made === answers[0] ? 'password one' : 'password two';
    for (const node of [one, two]) {
      await eventually(async () => {
        const authorization = basic(ADMIN.username, password);
        assert.equal((await node.api('GET', '/api/v1/me', undefined, { authorization })).status, 200);
      });
    }
  });
});
