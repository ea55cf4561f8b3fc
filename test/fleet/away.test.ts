// A daemon whose PostgreSQL server is stopped, frozen or restarted: players go on, and no failed change is answered as done.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { startAgentServer } from '../helpers/agent-server.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { SECRET } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';
import { type Postgres, startPostgres } from '../helpers/postgres.js';
import { connectThrough, type RawClient } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

describe('a daemon that loses its database', async () => {
  const t = suiteScope();
  const player = { username: 'ann', password: 'word' };
  /** An account with `maxSessions` 1. */
  const limited = { username: 'bob', password: 'word' };
  let postgres: Postgres;
  let daemon: TestDaemon;
  let session: RawClient;
  let targetPort: number;
  let accountId: string;
  before(async () => {
    postgres = await startPostgres();
    t.after(() => postgres.remove());
    await postgres.query('create database fleet');
    const server = await startAgentServer(t, () => 'done');
    daemon = await startTestDaemon(t, {
      config: {
        database: {
          client: 'pg',
          connection: postgres.url('fleet'),
          poolSize: 4,
          checkInterval: '200ms',
          answerTimeout: '3s',
          readTimeout: '9s',
        },
        heartbeats: { interval: '1s', maxPending: 1000 },
        webhooks: { enabled: true, secret: SECRET, agents: { a: {} } },
        agents: { a: { type: 'http', url: server.url } },
      },
    });
    accountId = await daemon.addAccount(player.username, player.password);
    const limitedId = await daemon.addAccount(limited.username, limited.password);
    await daemon.api('PATCH', `/api/v1/accounts/${limitedId}/limits`, { maxSessions: 1 });
    targetPort = (await startTarget(t, echo)).port;
    session = await newSession();
  });

  const newSession = (credentials: typeof player & { readonly from?: string } = player) =>
    connectThrough({ port: daemon.socks.port, ...credentials }, '127.0.0.1', targetPort);
  const readyStatus = async () => (await fetch(`${daemon.adminUrl}/readyz`)).status;
  const dataCount = async () => Number((await daemon.account(player.username))['DataCount']);
  const trigger = () =>
    send(`${daemon.adminUrl}/hooks/agent`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'a', message: 'x' }),
    });

  async function assertEcho(client: RawClient): Promise<void> {
    client.send(Buffer.from('ping'));
    assert.equal((await client.read(4)).toString(), 'ping');
  }

  /** While the database does not answer: open sessions relay, new logins succeed, accounts are listed, limits hold. */
  async function assertPlayersGoOn(): Promise<void> {
    await assertEcho(session);
    const login = await newSession();
    await assertEcho(login);
    login.destroy();
    assert.equal(
      (await daemon.account(player.username))['Username'],
      player.username,
      'the list comes from memory',
    );
    // The node enforces maxSessions by itself.
    const allowed = await newSession(limited);
    await assertEcho(allowed);
    await assert.rejects(newSession(limited), /answered 2/);
    allowed.destroy();
  }

  async function assertRecovery(name: string): Promise<void> {
    await eventually(async () => (await readyStatus()) === 200);
    const before = await dataCount();
    await daemon.addAccount(name, 'word');
    assert.equal((await daemon.account(name))['Username'], name);
    // The traffic of a session makes heartbeat entries.
    await eventually(async () => {
      await assertEcho(session);
      return (await dataCount()) > before;
    });
    assert.equal((await trigger()).status, 200);
    await assertEcho(session);
  }

  test('answers changes and webhooks with 503 and Retry-After while PostgreSQL is stopped, and recovers by itself', async () => {
    await postgres.stop();
    await eventually(async () => (await readyStatus()) === 503);
    await assertPlayersGoOn();
    // Bytes relayed during the outage are counted after it (Marzban #1832).
    const payload = Buffer.alloc(100_000);
    session.send(payload);
    await session.read(payload.length);
    const refused = [
      await daemon.api('POST', '/ProxyAccount/AddProxyAccount', { Username: 'lost', Password: 'word' }),
      await daemon.api('PATCH', `/api/v1/accounts/${accountId}`, { remarks: 'lost' }),
      await daemon.api('GET', '/api/v1/runs'),
    ];
    for (const { status, headers, text } of refused) {
      assert.equal(status, 503, text);
      assert.ok(Number(headers.get('retry-after')) > 0);
    }
    const hook = await trigger();
    assert.equal(hook.status, 503, hook.text);
    assert.ok(Number(hook.headers['retry-after']) > 0);
    await postgres.start();
    await assertRecovery('after-stop');
    await eventually(async () => {
      const stored = await postgres.query(
        `select sum(bytes_up) as up, sum(bytes_down) as down from traffic_days where account_id = '${accountId}'`,
        'fleet',
      );
      for (const bytes of [stored[0]?.['up'], stored[0]?.['down']])
        assert.ok(Number(bytes) >= payload.length);
    });
    const names = (
      (await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).json as { Username: string }[]
    ).map(({ Username }) => Username);
    assert.ok(!names.includes('lost'), 'the refused account was not added');
  });

  test('answers 503 within its time limit while PostgreSQL is frozen, and recovers by itself', async () => {
    await postgres.signal('SIGSTOP');
    const names = Array.from({ length: 12 }, (_, n) => `waited-${n}`);
    // More requests than the pool has connections.
    const answers = names.map((name) =>
      daemon.api('POST', '/ProxyAccount/AddProxyAccount', { Username: name, Password: 'word' }),
    );
    await assertPlayersGoOn();
    for (const answer of await Promise.all(answers)) {
      assert.equal(answer.status, 503, answer.text);
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
    }
    assert.equal(await readyStatus(), 503);
    const limitedSession = await newSession(limited);
    await postgres.signal('SIGCONT');
    await assertRecovery('after-freeze');
    // The daemon also reads accounts that the server added after their requests had timed out.
    await eventually(async () => {
      const stored = await postgres.query('select username from accounts order by username', 'fleet');
      const { json } = await daemon.api('GET', '/ProxyAccount/GetProxyAccountList');
      const listed = (json as { Username: string }[]).map(({ Username }) => Username);
      assert.deepEqual(
        listed.sort(),
        stored.map(({ username }) => username),
      );
    });
    // The session opened during the outage gets its permit.
    await eventually(async () => {
      const permits = await postgres.query('select id from session_permits', 'fleet');
      assert.equal(permits.length, 1);
    });
    limitedSession.destroy();
  });

  test('answers pending requests correctly during a restart of PostgreSQL, and writes rows again that the server has lost', async () => {
    // The session of the previous test may still count.
    const idle = await eventually(() => newSession(limited).catch(() => null));
    assert.ok(idle);
    const tables = [
      'session_permits',
      `live_sessions where facts->>'clientPort' = '${idle.socket.localPort}'`,
    ];
    const isShared = async () => {
      const rows = await Promise.all(
        tables.map((table) => postgres.query(`select id from ${table}`, 'fleet')),
      );
      return rows.every(({ length }) => length === 1);
    };
    await eventually(isShared);
    // A crash of the server may lose these rows. Nobody asks for a permit meanwhile.
    for (const table of tables) await postgres.query(`delete from ${table}`, 'fleet');
    // A penalty of another node, whose change this one does not read.
    await postgres.query(
      `insert into penalties (key, ends_at) values ('player 127.0.0.61', ${Date.now() + 3_600_000})`,
      'fleet',
    );
    const names = Array.from({ length: 40 }, (_, i) => `burst-${i}`);
    const answers = names.map((name) =>
      daemon.api('POST', '/ProxyAccount/AddProxyAccount', { Username: name, Password: 'word' }),
    );
    await postgres.stop();
    await postgres.start();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    for (const status of statuses) assert.ok(status === 200 || status === 503, String(status));
    await assertRecovery('after-restart');
    const stored = await postgres.query(
      "select username from accounts where username like 'burst-%'",
      'fleet',
    );
    const storedNames = new Set(stored.map(({ username }) => username));
    for (const [i, name] of names.entries())
      if (statuses[i] === 200) assert.ok(storedNames.has(name), `${name} was answered 200`);
    await eventually(isShared);
    await eventually(async () => {
      await assert.rejects(newSession({ ...player, from: '127.0.0.61' }), /login refused/);
    });
    idle.destroy();
  });
});
