// Lists and searches on connections that only read: they delay no write, have a time limit, and find every part of a text.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Knex } from 'knex';
import type { Context } from 'koa';
import type { LoginEntry } from '../../src/core/accounts/access/login-log.js';
import { QueryTooSlowError } from '../../src/core/errors.js';
import { answerFailures } from '../../src/http/guards/failures.js';
import { DEFAULT_READING } from '../../src/store/database.js';
import { connectReaders } from '../../src/store/sqlite/connect.js';
import { openSqlite, sqliteLoginSearch } from '../../src/store/sqlite/database.js';
import { sqlitePackage } from '../../src/store/sqlite/package.js';
import { createLoginStore } from '../../src/store/tables/logs.js';
import { eventually } from '../helpers/eventually.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { connectBeside, openTestStore } from './helpers.js';

/** A query that takes much longer than the limit. It ends, because only sqlite3 can interrupt a query. */
const LONG =
  'with recursive n(i) as (select 1 union all select i + 1 from n limit 30000000) select count(*) from n';

function login(username: string, fields: Partial<LoginEntry> = {}): LoginEntry {
  return { at: 1, accountId: null, username, client: '192.0.2.1', outcome: 'success', times: 1, ...fields };
}

test('a write does not wait for earlier searches', async (t) => {
  const { dataDir } = await openTestStore(t);
  const database = await openSqlite(
    { client: sqliteClient, busyTimeoutMs: 60_000, dataDir },
    { is: 'command' },
  );
  t.after(() => database.close());
  const logins = createLoginStore(database);
  const held = [database.reads, database.scans].map(async ({ client }) => ({
    client,
    connection: (await client.acquireConnection()) as unknown,
  }));
  const busy = await Promise.all(held);
  let ended = 0;
  const searches = ['', 'ay', 'lay'].map(async (search) => {
    const count = await logins.count({ search });
    ended += 1;
    return count;
  });
  await logins.add([login('player')]);
  assert.equal(ended, 0);
  for (const { client, connection } of busy) await client.releaseConnection(connection);
  assert.deepEqual(await Promise.all(searches), [1, 1, 1]);
});

test('a query that runs or waits too long is cancelled, and the next one works', async (t) => {
  const { file } = await openTestStore(t);
  const reads = connectReaders(sqliteClient, file, { readers: 1, timeoutMs: 1000 });
  t.after(() => reads.destroy());
  const results = await Promise.allSettled(Array.from({ length: 4 }, () => reads.raw(LONG)));
  for (const result of results) {
    assert.equal(result.status, 'rejected');
    assert.ok(result.reason instanceof QueryTooSlowError, String(result.reason));
  }
  // Most packages cannot stop a running statement, which takes many seconds on a busy machine.
  await eventually(async () => assert.deepEqual(await reads.raw('select 1 as one'), [{ one: 1 }]), 120_000);
  await assert.rejects(reads('accounts').delete(), { code: 'SQLITE_READONLY' });
});

// The pool let the second query wait for a connection that never came, until the time limit of the queries: 3 seconds at a stop.
for (const [when, begin] of [
  ['runs', (reads: Knex) => once(reads, 'query')],
  ['begins', async () => {}],
] as const)
  test(`closing does not wait for work whose query ${when}`, { timeout: 30_000 }, async (t) => {
    if (sqlitePackage(sqliteClient).name === '@photostructure/sqlite')
      return t.skip('ending its thread would end the process');
    const { file } = await openTestStore(t);
    const reads = connectReaders(sqliteClient, file, { readers: 1, timeoutMs: 60_000 });
    await reads.raw('select 1');
    const begun = begin(reads);
    const work = reads.raw(LONG).then(
      () => assert.fail('the query ended'),
      () => reads.raw('select 2'),
    );
    await begun;
    await Promise.all([reads.destroy(), assert.rejects(work, /the database is being closed/)]);
  });

test('a search that an index serves does not wait for one that reads every row', async (t) => {
  const { store, file } = await openTestStore(t);
  await store.logins.add([login('player')]);
  const [reads, scans] = [1, 2].map(() => connectReaders(sqliteClient, file, DEFAULT_READING));
  assert.ok(reads && scans);
  t.after(() => Promise.all([reads.destroy(), scans.destroy()]));
  const logins = createLoginStore({
    ...{ db: connectBeside(t, file), reads, scans },
    loginSearch: sqliteLoginSearch,
  });
  const busy: unknown = await scans.client.acquireConnection();
  let hasEnded = false;
  const short = logins.count({ search: 'ay' }).finally(() => {
    hasEnded = true;
  });
  for (const filter of [{ search: 'lay' }, {}, { failed: false }]) {
    assert.equal(await logins.count(filter), 1);
    assert.equal((await logins.list(filter, null, 10)).length, 1);
  }
  assert.equal(hasEnded, false);
  await scans.client.releaseConnection(busy);
  assert.equal(await short, 1);
});

for (const [reason, advice] of [
  ['slow', /three characters/],
  ['busy', /try again/],
] as const)
  test(`a query that was refused as ${reason} is answered with 503 and advice`, async () => {
    const ctx = { method: 'GET', path: '/api/v1/logins', status: 200, headers: {} as Record<string, string> };
    const set = (name: string, value: string) => {
      ctx.headers[name] = value;
    };
    const logged: string[] = [];
    const log = {
      error: () => assert.fail('a refused query is no error of the daemon'),
      warn: (_: unknown, msg: string) => logged.push(msg),
    };
    const answered = Object.assign(ctx, { set, body: '' });
    await answerFailures(log)(answered as unknown as Context, () =>
      Promise.reject(new QueryTooSlowError(reason, 'too slow')),
    );
    assert.equal(answered.status, 503);
    assert.ok(Number(ctx.headers['Retry-After']) > 0);
    const { code, detail } = JSON.parse(answered.body) as { code: string; detail: string };
    assert.equal(code, 'unavailable');
    assert.match(detail, advice);
    assert.equal(logged.length, 1);
  });

test('a search finds every part of a name or address, and treats special characters literally', async (t) => {
  const { store, file } = await openTestStore(t);
  const text = fc.oneof(
    fc.stringMatching(/^[abAB*"'()^:.-]{0,6}$/),
    fc.constantFrom(
      'a" OR "b',
      'NEAR(a b)',
      '{username}: abc',
      'aaa*',
      '玩家一号',
      'aäÄb',
      '"""',
      '   ',
      'x%_!y',
    ),
  );
  const names = [...new Set(fc.sample(text, { numRuns: 80, seed: 20 }))];
  const entries = names.map((name, i) => login(name, { client: `10.${i % 7}.${i}.1` }));
  await store.logins.add(entries);
  const searches = fc.sample(fc.oneof(text, fc.constantFrom('10.3', '.1', '.10', '10.6.6.1')), {
    numRuns: 60,
    seed: 21,
  });
  const fold = (each: string) => each.toLowerCase();
  for (const search of searches) {
    const expected = entries
      .filter(({ username, client }) => [username, client].some((each) => fold(each).includes(fold(search))))
      .map(({ username }) => username)
      .reverse();
    const found = await store.logins.list({ search }, null, 1_000);
    assert.deepEqual(
      found.map(({ username }) => username),
      expected,
      search,
    );
    assert.equal(await store.logins.count({ search }), expected.length);
    const some = await store.logins.list({ search, failed: false }, found[0]?.place ?? null, 2);
    assert.deepEqual(
      some.map(({ username }) => username),
      expected.slice(1, 3),
    );
  }
  assert.equal(await store.logins.count({ search: '10.', failed: true }), 0);

  // Entries that are deleted from the log are deleted from the index.
  await store.logins.trim(0, 10, 10_000);
  assert.equal(await store.logins.count({ search: '10.' }), 10);
  const db = connectBeside(t, file);
  await db.raw("insert into logins_text(logins_text, rank) values ('integrity-check', 1)");
});

test('a search of three characters is answered by the index', async (t) => {
  const { file } = await openTestStore(t);
  const db = connectBeside(t, file);
  const plan: { detail: string }[] = await db.raw(
    `explain query plan select rowid from logins_text where logins_text match '"abc"' order by rowid desc limit 9`,
  );
  assert.match(plan.map(({ detail }) => detail).join(), /VIRTUAL TABLE INDEX/);
});
