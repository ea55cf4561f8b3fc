// The PostgreSQL server stopped, frozen and started again under daemons: players go on, nothing is answered as done that is not.
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

describe('without a database', async () => {
  const t = suiteScope();
  const player = { username: 'ann', password: 'word' };
  /** Has one session at most. */
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
          answerTimeout: '1s',
          readTimeout: '3s',
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

  const newSession = (who: typeof player & { readonly from?: string } = player) =>
    connectThrough({ port: daemon.socks.port, ...who }, '127.0.0.1', targetPort);
  const readyStatus = async () => (await fetch(`${daemon.adminUrl}/readyz`)).status;
  const dataCount = async () => Number((await daemon.account(player.username))['DataCount']);
  const trigger = () =>
    send(`${daemon.adminUrl}/hooks/agent`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'a', message: 'x' }),
    });

  async function echoes(client: RawClient): Promise<void> {
    client.send(Buffer.from('ping'));
    assert.equal((await client.read(4)).toString(), 'ping');
  }

  /** What holds while it is away, whatever the reason. */
  async function playersGoOn(): Promise<void> {
    await echoes(session);
    const login = await newSession();
    await echoes(login);
    login.destroy();
    assert.equal((await daemon.account(player.username))['Username'], player.username, 'lists from memory');
    // Its limit holds at this node.
    const only = await newSession(limited);
    await echoes(only);
    await assert.rejects(newSession(limited), /answered 2/);
    only.destroy();
  }

  async function recovers(name: string): Promise<void> {
    await eventually(async () => (await readyStatus()) === 200);
    const before = await dataCount();
    await daemon.addAccount(name, 'word');
    assert.equal((await daemon.account(name))['Username'], name);
    // A session that moves bytes makes entries.
    await eventually(async () => {
      await echoes(session);
      return (await dataCount()) > before;
    });
    assert.equal((await trigger()).status, 200);
    await echoes(session);
  }

  test('stopped: changes and webhooks are 503 with Retry-After, and it recovers by itself', async () => {
    await postgres.stop();
    await eventually(async () => (await readyStatus()) === 503);
    await playersGoOn();
    // What is moved meanwhile counts when it is back (Marzban #1832).
    const moved = Buffer.alloc(100_000);
    session.send(moved);
    await session.read(moved.length);
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
    await recovers('after-stop');
    await eventually(async () => {
      const stored = await postgres.query(
        `select sum(bytes_up) as up, sum(bytes_down) as down from traffic_days where account_id = '${accountId}'`,
        'fleet',
      );
      for (const bytes of [stored[0]?.['up'], stored[0]?.['down']]) assert.ok(Number(bytes) >= moved.length);
    });
    const names = (
      (await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).json as { Username: string }[]
    ).map(({ Username }) => Username);
    assert.ok(!names.includes('lost'), 'what was refused was not made');
  });

  test('frozen: players go on, the API answers 503 in time, and it recovers by itself', async () => {
    await postgres.signal('SIGSTOP');
    const names = Array.from({ length: 12 }, (_, n) => `waited-${n}`);
    // More than there are connections.
    const answers = names.map((name) =>
      daemon.api('POST', '/ProxyAccount/AddProxyAccount', { Username: name, Password: 'word' }),
    );
    await playersGoOn();
    for (const answer of await Promise.all(answers)) {
      assert.equal(answer.status, 503, answer.text);
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
    }
    assert.equal(await readyStatus(), 503);
    const session = await newSession(limited);
    await postgres.signal('SIGCONT');
    await recovers('after-freeze');
    // What the server still did with requests of before is known here, too.
    await eventually(async () => {
      const stored = await postgres.query('select username from accounts order by username', 'fleet');
      const { json } = await daemon.api('GET', '/ProxyAccount/GetProxyAccountList');
      const listed = (json as { Username: string }[]).map(({ Username }) => Username);
      assert.deepEqual(
        listed.sort(),
        stored.map(({ username }) => username),
      );
    });
    // The session of the outage counts for all nodes.
    await eventually(async () => {
      const permits = await postgres.query('select id from session_permits', 'fleet');
      assert.equal(permits.length, 1);
    });
    session.destroy();
  });

  test('restarted: pending requests get correct answers, and what the server has lost is there again', async () => {
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
    await recovers('after-restart');
    const stored = await postgres.query(
      "select username from accounts where username like 'burst-%'",
      'fleet',
    );
    const known = new Set(stored.map(({ username }) => username));
    for (const [i, name] of names.entries())
      if (statuses[i] === 200) assert.ok(known.has(name), `${name} was answered 200`);
    await eventually(isShared);
    await eventually(async () => {
      await assert.rejects(newSession({ ...player, from: '127.0.0.61' }), /login refused/);
    });
    idle.destroy();
  });
});
