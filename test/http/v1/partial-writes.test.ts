// Requests about many accounts, of which the database stores only a part: the response lists as done what is stored, names the rest,
// and no batch is stored partly.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connectSqlite } from '../../../src/store/sqlite/connect.js';
import { runCommand } from '../../helpers/command.js';
import { fetchFrom } from '../../helpers/console.js';
import { ADMIN, startTestDaemon } from '../../helpers/daemon.js';
import { basic } from '../../helpers/http.js';
import { loggedInClient } from '../../helpers/socks-client.js';
import { sqliteClient } from '../../helpers/sqlite-client.js';
import { suiteScope } from '../../helpers/suite.js';

type Json = Record<string, unknown>;
interface Skipped {
  readonly username: string;
  readonly reason: string;
}

const HEADER = 'username,password,maxSessions,totalBytesUp,totalBytesDown,periodBytes\n';

describe('a database that refuses a row', async () => {
  const scope = suiteScope();
  const daemon = await startTestDaemon(scope);
  /** A second connection to the database, which can make it refuse a row. */
  const db = connectSqlite(sqliteClient, join(daemon.dataDir, 'pulsegate.db'), 5_000);
  scope.after(() => db.destroy());

  /** Returns what a test needs for 600 accounts of its own: their names begin with `word`. */
  function setUp(t: TestContext, word: string) {
    const name = (n: number) => `${word}${String(n).padStart(3, '0')}`;
    const names = Array.from({ length: 600 }, (_, n) => name(n + 1));
    const linesBefore = daemon.lines.length;
    let isRefusing = false;
    async function stopRefusing(): Promise<void> {
      if (isRefusing)
        for (const change of ['insert', 'update']) await db.raw(`drop trigger refuse_${change}`);
      isRefusing = false;
    }
    t.after(stopRefusing);
    return {
      name,
      names,
      pattern: { pattern: `${word}{001-600}`, limits: { maxSessions: 3 } },
      file: HEADER + names.map((name) => `${name},pw,4,10,20,30\n`).join(''),
      stopRefusing,
      /** Resolves with a line that is logged during this test. */
      waitForLine: (msg: string) =>
        daemon.waitForLine((line) => line.msg === msg && daemon.lines.indexOf(line) >= linesBefore),
      /** Makes writes of this account's row fail until `stopRefusing`. */
      async refuse(table: 'accounts' | 'account_limits' | 'traffic_days', username: string): Promise<void> {
        isRefusing = true;
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
      /** Returns the stored names, each with its maxSessions. */
      async stored(): Promise<Map<string, number | null>> {
        const rows: { username: string; max_sessions: number | null }[] = await db('accounts')
          .leftJoin('account_limits', 'accounts.id', 'account_limits.account_id')
          .whereLike('username', `${word}%`)
          .select('accounts.username', 'account_limits.max_sessions');
        return new Map(rows.map(({ username, max_sessions }) => [username, max_sessions]));
      },
    };
  }

  async function post(path: string, body: Json, status = 200): Promise<Json> {
    const answer = await daemon.api('POST', `/api/v1/accounts/${path}`, body);
    assert.equal(answer.status, status, answer.text);
    return answer.json as Json;
  }

  for (const table of ['accounts', 'account_limits'] as const) {
    it(`accounts created before a failure in ${table} are returned with passwords, the others by name`, async (t) => {
      const { name, names, pattern, ...own } = setUp(t, `made-${table}-`);
      await own.refuse(table, name(300));
      const made = await post('batch', pattern);
      const created = made['created'] as { username: string; password: string }[];
      const skipped = made['skipped'] as Skipped[];
      assert.equal(made['count'], 250);
      assert.deepEqual(
        [...created, ...skipped].map(({ username }) => username),
        names,
      );
      assert.ok(skipped.every(({ reason }) => reason === 'failed'));
      const rows = await own.stored();
      assert.deepEqual(
        [...rows.keys()].sort(),
        names.slice(0, 250),
        'no account of the failed batch is stored',
      );
      assert.ok([...rows.values()].every((sessions) => sessions === 3));
      const last = created.at(-1);
      assert.ok(last);
      (await loggedInClient({ port: daemon.socks.port, ...last })).destroy();
      await own.waitForLine('account batch not written');
      await own.stopRefusing();
      assert.equal((await post('batch', pattern))['count'], 350);
    });
  }

  it('a failure of the first write fails the request, and nothing is stored', async (t) => {
    const { name, pattern, ...own } = setUp(t, 'first-write-');
    await own.refuse('account_limits', name(250));
    await post('batch', pattern, 500);
    assert.equal((await own.stored()).size, 0);
    const one = { username: name(250), limits: { maxSessions: 3 } };
    assert.equal((await daemon.api('POST', '/api/v1/accounts', one)).status, 500);
    assert.equal((await own.stored()).size, 0);
  });

  it('limits of many accounts are written in batches; the accounts after a failure are named', async (t) => {
    const word = 'limited-';
    const { name, names, pattern, ...own } = setUp(t, word);
    await post('batch', pattern);
    await own.refuse('account_limits', name(499));
    const action = { type: 'set-limits', limits: { maxSessions: 5 } };
    const done = await post('bulk', { filter: { search: word }, action, dryRun: false });
    assert.deepEqual([done['count'], done['skippedCount']], [250, 350]);
    const failed = new Set((done['skipped'] as Skipped[]).map(({ username }) => username));
    const rows = await own.stored();
    for (const name of names) assert.equal(rows.get(name), failed.has(name) ? 3 : 5, name);
    const { items } = (await daemon.api('GET', `/api/v1/accounts?limit=1000&search=${word}`)).json as {
      items: { username: string; limits: { maxSessions: number } }[];
    };
    for (const { username, limits } of items) assert.equal(limits.maxSessions, rows.get(username), username);
  });

  async function importFile(file: string, query = ''): Promise<Json> {
    const authorization = basic(ADMIN.username, ADMIN.password);
    const headers = { authorization, 'content-type': 'text/csv' };
    const answer = await fetchFrom(daemon, 'POST', `/api/v1/accounts/import${query}`, headers, file);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Json;
  }
  const failures = (report: Json): Map<string, string> =>
    new Map(
      (report['lines'] as { username: string; outcome: string; message: string }[]).flatMap(
        ({ username, outcome, message }) => (outcome === 'failed' ? [[username, message]] : []),
      ),
    );

  it('an import reports the accounts that a failure prevented, and the next import adds them', async (t) => {
    const { name, names, file, ...own } = setUp(t, 'imported-');
    await own.refuse('account_limits', name(300));
    const report = await importFile(file);
    assert.deepEqual([report['read'], report['added'], report['failed']], [600, 200, 400]);
    assert.deepEqual([...failures(report).keys()], names.slice(200));
    assert.equal(failures(report).get(name(300)), 'not added: the database could not be written');
    const rows = await own.stored();
    assert.deepEqual([...rows.keys()].sort(), names.slice(0, 200));
    assert.ok([...rows.values()].every((sessions) => sessions === 4));
    await own.waitForLine('writing imported accounts failed');
    await own.stopRefusing();
    const again = await importFile(file);
    assert.deepEqual([again['added'], again['skipped'], again['failed']], [400, 200, 0]);
  });

  it('an account is imported with its usage or not at all; the next import adds it', async (t) => {
    const word = 'used-';
    const { name, file, ...own } = setUp(t, word);
    await own.refuse('traffic_days', name(250));
    const report = await importFile(file);
    assert.deepEqual([report['added'], report['failed']], [200, 400]);
    const reasons = failures(report);
    assert.equal(reasons.get(name(250)), 'not added: the database could not be written');
    assert.equal(reasons.get(name(450)), 'not added: the database could not be written');
    await own.stopRefusing();
    const again = await importFile(file, '?existing=keep');
    assert.deepEqual([again['added'], again['kept'], again['failed']], [400, 200, 0]);
    const { items } = (await daemon.api('GET', `/api/v1/accounts?limit=1000&search=${word}`)).json as {
      items: { username: string; usage: { totalBytesUp: number; periodBytes: number } }[];
    };
    assert.equal(items.length, 600);
    for (const { username, usage } of items) {
      assert.deepEqual([usage.totalBytesUp, usage.periodBytes], [10, 30], username);
    }
  });

  it('an import on the command line exits with 1 and names the accounts that a failure prevented', async (t) => {
    const { name, file, ...own } = setUp(t, 'by-command-');
    await own.refuse('accounts', name(201));
    const path = join(daemon.dataDir, 'players.csv');
    await writeFile(path, file);
    const args = ['account', 'import', path, '--config', daemon.configFile];
    const { code, stdout } = await runCommand(daemon.dataDir, args);
    assert.equal(code, 1);
    assert.match(stdout, /line 202: by-command-201 failed: not added: the database could not be written\n/);
    assert.match(stdout, /600 read, 200 added, 0 replaced, 0 kept, 0 skipped, 400 failed/);
    await own.waitForLine('writing imported accounts failed');
    assert.equal((await own.stored()).size, 200);
  });
});
