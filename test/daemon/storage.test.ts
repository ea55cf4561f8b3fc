// The database is lost while the daemon runs: /readyz names the problem, the log has one line for the loss and one for the recovery,
// and no change that would be lost is answered with 200.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { NO_PLAN_LIMITS } from '../../src/core/accounts/plans/plans.js';
import { STORAGE_PROBLEMS } from '../../src/core/errors.js';
import { NOTICE_DEFAULTS } from '../../src/core/notices/notice-settings.js';
import { DAY_MS, SECOND_MS } from '../../src/core/time/clock.js';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import { ADMIN, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic } from '../helpers/http.js';
import { loggedInClient } from '../helpers/socks-client.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { suiteScope } from '../helpers/suite.js';

const config = { stopTimeout: '500ms', database: { busyTimeout: '100ms', checkInterval: '100ms' } };

/** Waits until /readyz has the expected answer. */
function ready(daemon: TestDaemon, expected: string): Promise<void> {
  return eventually(async () => {
    const answer = await fetch(`${daemon.adminUrl}/readyz`);
    assert.equal(`${answer.status} ${(await answer.text()).trim()}`, expected);
  });
}

/** Begins an outage, waits until /readyz names `problem`, ends the outage, and returns the messages of the log meanwhile. */
async function outage(
  daemon: TestDaemon,
  problem: string,
  begin: () => Promise<unknown>,
  end: () => Promise<unknown>,
) {
  const before = daemon.lines.length;
  await begin();
  await ready(daemon, `503 not ready: ${problem}`);
  const added = await daemon.api('POST', '/ProxyAccount/AddProxyAccount', {
    Username: problem,
    Password: 'x',
  });
  // Background work must not log its failures; there is no event to wait for.
  await new Promise((resolve) => setTimeout(resolve, 600));
  await end();
  await ready(daemon, '200 ok');
  await eventually(() => daemon.lines.slice(before).some(({ msg }) => msg === 'database recovered'));
  const logged = daemon.lines
    .slice(before)
    .filter(
      ({ level, msg }) => level === 'error' || msg.startsWith('database') || msg.includes(' refused: '),
    );
  return {
    answer: `${added.status} ${added.headers.get('x-error-detail')}`,
    messages: logged.map(({ msg, problem: cause }) => (cause ? `${msg}: ${cause}` : msg)),
  };
}

test('a missing, replaced or locked database is logged once with the cause, and so is its recovery; a damaged one is reported', async (t) => {
  const daemon = await startTestDaemon(t, { config });
  const file = join(daemon.dataDir, 'pulsegate.db');
  await ready(daemon, '200 ok');
  const moveBack = () => rename(`${file}.away`, file);
  const moveAway = () => rename(file, `${file}.away`);

  const requestErrors = (messages: readonly string[]) =>
    messages.filter((line) => !line.startsWith('database'));
  const missing = await outage(daemon, 'database-gone', moveAway, moveBack);
  assert.equal(missing.answer, `500 ${STORAGE_PROBLEMS['database-gone']}`);
  assert.deepEqual(
    missing.messages.filter((line) => line.startsWith('database')),
    ['database lost: database-gone', 'database recovered'],
  );
  // The refused request causes a line, and background work none.
  assert.deepEqual(requestErrors(missing.messages), ['request refused: database unavailable: database-gone']);

  const replace = async () => {
    await moveAway();
    await copyFile(`${file}.away`, file);
  };
  const replaced = await outage(daemon, 'database-replaced', replace, moveBack);
  assert.equal(replaced.answer, `500 ${STORAGE_PROBLEMS['database-replaced']}`);
  assert.ok(replaced.messages.includes('database lost: database-replaced'));

  const otherConnection = connectSqlite(sqliteClient, file, 30_000);
  t.after(() => otherConnection.destroy());
  const locked = await outage(
    daemon,
    'database-locked',
    () => otherConnection.raw('begin immediate').then(),
    () => otherConnection.raw('rollback').then(),
  );
  assert.equal(locked.answer, `500 ${STORAGE_PROBLEMS['database-locked']}`);
  assert.deepEqual(
    locked.messages.filter((line) => line.startsWith('database')),
    ['database lost: database-locked', 'database recovered'],
  );
  assert.equal(requestErrors(locked.messages).length, 1, JSON.stringify(locked.messages));

  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(4096, 0xa5), 0, 4096, 0);
  await handle.close();
  await ready(daemon, '503 not ready: database-corrupt');
  const late = await daemon.api('POST', '/api/v1/accounts', { username: 'late', password: 'secret' });
  assert.deepEqual([late.status, late.text.includes(STORAGE_PROBLEMS['database-corrupt'])], [503, true]);
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), 3);
});

describe('while the database is locked', async () => {
  const scope = suiteScope();
  const secret = randomBytes(32).toString('hex');
  const webhooks = { enabled: true, secret, agents: { echo: {} } };
  const agents = { echo: { type: 'command', command: ['true'] } };
  const daemon = await startTestDaemon(scope, { config: { ...config, webhooks, agents } });
  const database = connectSqlite(sqliteClient, join(daemon.dataDir, 'pulsegate.db'), 30_000);
  scope.after(() => database.destroy());

  it('every change is answered 503 with the reason, and reads succeed', async () => {
    const id = await daemon.addAccount('player', 'secret');
    const account = `/api/v1/accounts/${id}`;
    await database.raw('begin immediate');
    const operator = { name: 'kim', password: 'a good password', role: 'viewer' };
    const action = { type: 'disable' };
    const changes: readonly [string, string, unknown?][] = [
      ['POST', '/api/v1/session', ADMIN],
      ['POST', '/api/v1/accounts', { username: 'other' }],
      ['POST', '/api/v1/accounts/batch', { pattern: 'p{1-3}' }],
      ['POST', '/api/v1/accounts/bulk', { ids: [id], action, dryRun: false }],
      ['PATCH', account, { remarks: 'r' }],
      ['PATCH', `${account}/limits`, { quotaPeriod: 'day' }],
      ['POST', `${account}/usage/reset`],
      ['POST', `${account}/password`, {}],
      ['DELETE', account],
      ['POST', '/api/v1/operators', operator],
      ['POST', '/api/v1/tokens', { name: 't', scopes: ['accounts:read'], expiresAt: null }],
      ['PUT', '/api/v1/settings/plans', { plans: [] }],
      ['PUT', '/api/v1/settings/notices', { ...NOTICE_DEFAULTS, historyDays: 9 }],
      ['PUT', '/api/v1/settings/games', { rules: [] }],
    ];
    for (const [method, path, body] of changes) {
      const answer = await daemon.api(method, path, body);
      const { code, reason } = answer.json as { code?: string; reason?: { code: string } };
      assert.deepEqual(
        [answer.status, code, reason?.code],
        [503, 'unavailable', 'database-locked'],
        `${path} ${answer.text}`,
      );
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
    }
    const hook = await fetch(`${daemon.adminUrl}/hooks/agent`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'echo', message: 'hello' }),
    });
    assert.deepEqual([hook.status, hook.headers.has('retry-after')], [503, true], await hook.text());
    // The overview reads by the connection of the writes, and waits behind them.
    const writes = Array.from({ length: 8 }, (_, n) =>
      daemon.api('POST', '/api/v1/accounts', { username: `behind-${n}` }),
    );
    for (const path of ['/api/v1/overview', account, '/api/v1/audit', '/api/v1/heartbeats'])
      assert.equal((await daemon.api('GET', path)).status, 200, path);
    for (const { status } of await Promise.all(writes)) assert.equal(status, 503);
    await database.raw('rollback');
  });

  it('days from the first login begin with a login, also without another login', async (t) => {
    const plan = { name: 'days', days: 3, startsAtFirstLogin: true, limits: NO_PLAN_LIMITS };
    assert.equal((await daemon.api('PUT', '/api/v1/settings/plans', { plans: [plan] })).status, 200);
    const player = { username: 'beginner', password: 'secret', plan: 'days' };
    assert.equal((await daemon.api('POST', '/api/v1/accounts', player)).status, 201);
    await database.raw('begin immediate');
    const before = Date.now();
    const client = await loggedInClient({ ...player, port: daemon.socks.port });
    t.after(() => client.destroy());
    const after = Date.now();
    await ready(daemon, '503 not ready: database-locked');
    // Writes wait for one another: after this one the first write of the expiry has failed too.
    assert.equal(
      (await daemon.api('POST', '/api/v1/accounts', { ...player, username: 'other' })).status,
      503,
    );
    await database.raw('rollback');
    const expiresAt = await eventually(async () => {
      const { items } = (await daemon.api('GET', '/api/v1/accounts?search=beginner')).json as {
        items: { expiresAt: string | null }[];
      };
      const [{ expiresAt = null } = {}] = items;
      return expiresAt ?? false;
    });
    const at = Date.parse(String(expiresAt)) - 3 * DAY_MS;
    assert.ok(at >= before - SECOND_MS && at <= after, `${expiresAt}`);
  });
});

test('a write whose client has gone is not made when the lock of another program ends', async (t) => {
  const daemon = await startTestDaemon(t, {
    config: { ...config, database: { busyTimeout: '30s', checkInterval: '1h' } },
  });
  // Its answer takes longer than another request takes to begin its write, now that the password is known.
  const list = () => daemon.api('GET', '/api/v1/accounts');
  assert.equal((await list()).status, 200);
  const database = connectSqlite(sqliteClient, join(daemon.dataDir, 'pulsegate.db'), 30_000);
  t.after(() => database.destroy());
  await database.raw('begin immediate');
  const send = (username: string, signal?: AbortSignal) =>
    fetch(`${daemon.adminUrl}/api/v1/accounts`, {
      method: 'POST',
      headers: { authorization: basic(ADMIN.username, ADMIN.password), 'content-type': 'application/json' },
      body: JSON.stringify({ username }),
      ...(signal ? { signal } : {}),
    });
  const leaving = new AbortController();
  const gone = ['first', 'second'].map((name) => send(name, leaving.signal));
  // The daemon has this request after those two, and it waits behind them.
  await list();
  const stays = send('third');
  await list();
  leaving.abort();
  await Promise.allSettled(gone);
  await daemon.waitForLine(({ msg }) => msg.startsWith('request refused: database unavailable'));
  await database.raw('rollback');
  assert.equal((await stays).status, 201);
  const { json } = await daemon.api('GET', '/ProxyAccount/GetProxyAccountList');
  assert.deepEqual(
    (json as { Username: string }[]).map(({ Username }) => Username),
    ['third'],
  );
});

test('a full disk is logged, and so is the recovery with free space; a start on a full disk fails with the reason', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', folder], { stdio: 'ignore' });
  } catch {
    await rm(folder, { recursive: true });
    return t.skip('this user may not mount a tmpfs');
  }
  t.after(async () => {
    execFileSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true });
  });
  // It stops cleanly, in whatever time a busy machine needs for it.
  const patient = { database: config.database };
  const daemon = await startTestDaemon(t, { config: patient, dataDir: join(folder, 'data') });
  const ballast = join(folder, 'ballast');
  const full = await outage(
    daemon,
    'disk-full',
    () => writeFile(ballast, Buffer.alloc(8 << 20)).catch(() => undefined),
    () => rm(ballast),
  );
  assert.equal(full.answer, `500 ${STORAGE_PROBLEMS['disk-full']}`);
  assert.deepEqual(
    full.messages.filter((line) => line.startsWith('database')),
    ['database lost: disk-full', 'database recovered'],
  );
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), 0);

  await writeFile(ballast, Buffer.alloc(8 << 20)).catch(() => undefined);
  for (const dataDir of [join(folder, 'data'), join(folder, 'new')]) {
    await assert.rejects(
      startTestDaemon(t, { config, dataDir }),
      /There is no space left for the database/,
      dataDir,
    );
  }
});
