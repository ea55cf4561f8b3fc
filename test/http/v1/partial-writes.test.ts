// Requests about many accounts, of which the database stores only a part: the response lists as done what is stored, names the rest,
// and no batch is stored partly.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectSqlite } from '../../../src/store/sqlite/connect.js';
import { runCommand } from '../../helpers/command.js';
import { fetchFrom } from '../../helpers/console.js';
import { ADMIN, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { basic } from '../../helpers/http.js';
import { loggedInClient } from '../../helpers/socks-client.js';
import { sqliteClient } from '../../helpers/sqlite-client.js';

type Json = Record<string, unknown>;
interface Skipped {
  readonly username: string;
  readonly reason: string;
}

/** Starts a daemon, and opens a second connection to its database that can make it refuse a row. */
async function setUp(t: TestContext) {
  const daemon = await startTestDaemon(t);
  const db = connectSqlite(sqliteClient, join(daemon.dataDir, 'pulsegate.db'), 5_000);
  t.after(() => db.destroy());
  return {
    daemon,
    /** Makes writes of this account's row fail until `stopRefusing`. */
    async refuse(table: 'accounts' | 'account_limits' | 'traffic_days', username: string): Promise<void> {
      const condition =
        table === 'accounts'
          ? `new.username = '${username}'`
          : `new.account_id = (select id from accounts where username = '${username}')`;
      for (const change of ['insert', 'update']) {
        await db.raw(
          `create trigger refuse_${change} before ${change} on ${table} when ${condition}
           begin select raise(abort, 'the disk is full'); end`,
        );
      }
    },
    async stopRefusing(): Promise<void> {
      for (const change of ['insert', 'update']) await db.raw(`drop trigger refuse_${change}`);
    },
    /** Returns the stored names, each with its maxSessions. */
    async stored(): Promise<Map<string, number | null>> {
      const rows: { username: string; max_sessions: number | null }[] = await db('accounts')
        .leftJoin('account_limits', 'accounts.id', 'account_limits.account_id')
        .select('accounts.username', 'account_limits.max_sessions');
      return new Map(rows.map(({ username, max_sessions }) => [username, max_sessions]));
    },
  };
}

async function post(daemon: TestDaemon, path: string, body: Json, status = 200): Promise<Json> {
  const answer = await daemon.api('POST', `/api/v1/accounts/${path}`, body);
  assert.equal(answer.status, status, answer.text);
  return answer.json as Json;
}

const PATTERN = { pattern: 'p{001-600}', limits: { maxSessions: 3 } };
const NAMES = Array.from({ length: 600 }, (_, n) => `p${String(n + 1).padStart(3, '0')}`);

for (const table of ['accounts', 'account_limits'] as const) {
  test(`accounts created before a failure in ${table} are returned with passwords, the others by name`, async (t) => {
    const { daemon, refuse, stopRefusing, stored } = await setUp(t);
    await refuse(table, 'p300');
    const made = await post(daemon, 'batch', PATTERN);
    const created = made['created'] as { username: string; password: string }[];
    const skipped = made['skipped'] as Skipped[];
    assert.equal(made['count'], 250);
    assert.deepEqual(
      [...created, ...skipped].map(({ username }) => username),
      NAMES,
    );
    assert.ok(skipped.every(({ reason }) => reason === 'failed'));
    const rows = await stored();
    assert.deepEqual(
      [...rows.keys()].sort(),
      NAMES.slice(0, 250),
      'no account of the failed batch is stored',
    );
    assert.ok([...rows.values()].every((sessions) => sessions === 3));
    const last = created.at(-1);
    assert.ok(last);
    (await loggedInClient({ port: daemon.socks.port, ...last })).destroy();
    await daemon.waitForLine(({ msg }) => msg === 'account batch not written');
    await stopRefusing();
    assert.equal((await post(daemon, 'batch', PATTERN))['count'], 350);
  });
}

test('a failure of the first write fails the request, and nothing is stored', async (t) => {
  const { daemon, refuse, stored } = await setUp(t);
  await refuse('account_limits', 'p250');
  await post(daemon, 'batch', PATTERN, 500);
  assert.equal((await stored()).size, 0);
  const one = { username: 'p250', limits: { maxSessions: 3 } };
  assert.equal((await daemon.api('POST', '/api/v1/accounts', one)).status, 500);
  assert.equal((await stored()).size, 0);
});

test('limits of many accounts are written in batches; the accounts after a failure are named', async (t) => {
  const { daemon, refuse, stored } = await setUp(t);
  await post(daemon, 'batch', PATTERN);
  await refuse('account_limits', 'p499');
  const action = { type: 'set-limits', limits: { maxSessions: 5 } };
  const done = await post(daemon, 'bulk', { filter: {}, action, dryRun: false });
  assert.deepEqual([done['count'], done['skippedCount']], [250, 350]);
  const failed = new Set((done['skipped'] as Skipped[]).map(({ username }) => username));
  const rows = await stored();
  for (const name of NAMES) assert.equal(rows.get(name), failed.has(name) ? 3 : 5, name);
  const { items } = (await daemon.api('GET', '/api/v1/accounts?limit=1000')).json as {
    items: { username: string; limits: { maxSessions: number } }[];
  };
  for (const { username, limits } of items) assert.equal(limits.maxSessions, rows.get(username), username);
});

const HEADER = 'username,password,maxSessions,totalBytesUp,totalBytesDown,periodBytes\n';
const FILE = HEADER + NAMES.map((name) => `${name},pw,4,10,20,30\n`).join('');

async function importFile(daemon: TestDaemon, query = ''): Promise<Json> {
  const authorization = basic(ADMIN.username, ADMIN.password);
  const headers = { authorization, 'content-type': 'text/csv' };
  const answer = await fetchFrom(daemon, 'POST', `/api/v1/accounts/import${query}`, headers, FILE);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Json;
}
const failures = (report: Json): Map<string, string> =>
  new Map(
    (report['lines'] as { username: string; outcome: string; message: string }[]).flatMap(
      ({ username, outcome, message }) => (outcome === 'failed' ? [[username, message]] : []),
    ),
  );

test('an import reports the accounts that a failure prevented, and the next import adds them', async (t) => {
  const { daemon, refuse, stopRefusing, stored } = await setUp(t);
  await refuse('account_limits', 'p300');
  const report = await importFile(daemon);
  assert.deepEqual([report['read'], report['added'], report['failed']], [600, 200, 400]);
  assert.deepEqual([...failures(report).keys()], NAMES.slice(200));
  assert.equal(failures(report).get('p300'), 'not added: the database could not be written');
  const rows = await stored();
  assert.deepEqual([...rows.keys()].sort(), NAMES.slice(0, 200));
  assert.ok([...rows.values()].every((sessions) => sessions === 4));
  await daemon.waitForLine(({ msg }) => msg === 'writing imported accounts failed');
  await stopRefusing();
  const again = await importFile(daemon);
  assert.deepEqual([again['added'], again['skipped'], again['failed']], [400, 200, 0]);
});

test('an account is imported with its usage or not at all; the next import adds it', async (t) => {
  const { daemon, refuse, stopRefusing } = await setUp(t);
  await refuse('traffic_days', 'p250');
  const report = await importFile(daemon);
  assert.deepEqual([report['added'], report['failed']], [200, 400]);
  const reasons = failures(report);
  assert.equal(reasons.get('p250'), 'not added: the database could not be written');
  assert.equal(reasons.get('p450'), 'not added: the database could not be written');
  await stopRefusing();
  const again = await importFile(daemon, '?existing=keep');
  assert.deepEqual([again['added'], again['kept'], again['failed']], [400, 200, 0]);
  const { items } = (await daemon.api('GET', '/api/v1/accounts?limit=1000')).json as {
    items: { username: string; usage: { totalBytesUp: number; periodBytes: number } }[];
  };
  assert.equal(items.length, 600);
  for (const { username, usage } of items) {
    assert.deepEqual([usage.totalBytesUp, usage.periodBytes], [10, 30], username);
  }
});

test('an import on the command line exits with 1 and names the accounts that a failure prevented', async (t) => {
  const { daemon, refuse, stored } = await setUp(t);
  await refuse('accounts', 'p201');
  const file = join(daemon.dataDir, 'players.csv');
  await writeFile(file, FILE);
  const args = ['account', 'import', file, '--config', daemon.configFile];
  const { code, stdout } = await runCommand(daemon.dataDir, args);
  assert.equal(code, 1);
  assert.match(stdout, /line 202: p201 failed: not added: the database could not be written\n/);
  assert.match(stdout, /600 read, 200 added, 0 replaced, 0 kept, 0 skipped, 400 failed/);
  await daemon.waitForLine(({ msg }) => msg === 'writing imported accounts failed');
  assert.equal((await stored()).size, 200);
});
