// A change at one node holds at every other: accounts, settings, tokens, console sessions, players' sessions.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { connectPg } from '../../src/store/pg/connect.js';
import { type Console, fetchFrom, signIn } from '../helpers/console.js';
import { ADMIN, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { type Fleet, openSession, startFleet } from '../helpers/fleet.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

const getJson = async (daemon: TestDaemon, path: string) =>
  (await daemon.api('GET', path)).json as Record<string, unknown>;

const sameOriginHeaders = ({ adminUrl }: TestDaemon, { cookie }: Console) => ({ cookie, origin: adminUrl });

/** Returns the status of a request with the cookie of a console session. */
const statusAt = async (daemon: TestDaemon, session: Console, path = '/api/v1/me', method = 'GET') =>
  (await fetchFrom(daemon, method, path, sameOriginHeaders(daemon, session))).status;

/** A schedule that is closed now and tomorrow, in every time zone. */
function onAnotherDay(): string {
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  return `${days[(new Date().getUTCDay() + 3) % 7]} 00:00-24:00`;
}

describe('two nodes on one database', async () => {
  const t = suiteScope();
  let fleet: Fleet;
  let one: TestDaemon;
  let two: TestDaemon;
  before(async () => {
    fleet = await startFleet(t, ['gate-1', 'gate-2']);
    [one, two] = fleet.nodes as [TestDaemon, TestDaemon];
  });

  test('closing an account at one node ends its sessions at the other; opening it permits them again', async () => {
    const target = await startTarget(t, echo);
    const id = await one.addAccount('ann', 'word');
    const change = async (fields: object) => {
      const { status, text } = await one.api('PATCH', `/api/v1/accounts/${id}`, fields);
      assert.equal(status, 200, text);
    };
    const open: Record<string, unknown> = {
      isEnabled: true,
      expiresAt: null,
      allowedClients: [],
      schedule: null,
    };
    const isOpenAtNodeTwo = async () => {
      const account = await getJson(two, `/api/v1/accounts/${id}`);
      for (const [field, value] of Object.entries(open)) assert.deepEqual(account[field], value);
    };
    for (const fields of [
      { isEnabled: false },
      { expiresAt: new Date().toISOString() },
      { allowedClients: ['127.0.9.9'] },
      { schedule: onAnotherDay() },
    ]) {
      await eventually(isOpenAtNodeTwo);
      const client = await openSession(two, 'ann', target.port);
      await change(fields);
      await client.closed();
      await assert.rejects(openSession(two, 'ann', target.port), /login refused/);
      await change(open);
    }
  });

  test('a change reaches the other node while traffic, entries and sessions cannot be written', async () => {
    const target = await startTarget(t, echo);
    const id = await one.addAccount('bea', 'word');
    await eventually(() => two.account('bea'));
    const client = await openSession(two, 'bea', target.port);
    const db = connectPg(fleet.connection, 2);
    t.after(() => db.destroy());
    const lock = await db.transaction();
    await lock.raw('lock table traffic_days, heartbeats, live_sessions in exclusive mode');
    client.send('ping');
    // The node tries to write the traffic, and waits for the lock.
    const waitingWrites = () =>
      db('pg_locks')
        .whereRaw("not granted and relation = 'traffic_days'::regclass")
        // Databases that were copied from one template have the same numbers of tables.
        .whereRaw('database = (select oid from pg_database where datname = current_database())')
        .orderBy('pid')
        .select('pid', db.raw('waitstart::text as since'));
    const writes = await eventually(async () => {
      const found = await waitingWrites();
      return found.length > 0 && found;
    });
    assert.equal((await one.api('PATCH', `/api/v1/accounts/${id}`, { isEnabled: false })).status, 200);
    await client.closed();
    const stillWaiting = await waitingWrites();
    for (const write of writes || [])
      assert.ok(stillWaiting.some(({ pid, since }) => pid === write.pid && since === write.since));
    await lock.rollback();
  });

  test('removing an account at one node ends its sessions at the other', async () => {
    const target = await startTarget(t, echo);
    const id = await one.addAccount('gone', 'word');
    await eventually(() => two.account('gone'));
    const client = await openSession(two, 'gone', target.port);
    assert.equal((await one.api('DELETE', `/api/v1/accounts/${id}`)).status, 200);
    await client.closed();
    await assert.rejects(openSession(two, 'gone', target.port), /login refused/);
  });

  test('the upgrade of an imported password hash ends no session; a new password ends all', async () => {
    const target = await startTarget(t, echo);
    const passwordHash = createHash('sha256').update('word').digest('hex');
    const file = [{ username: 'moved', passwordHash }];
    const imported = await one.api('POST', '/api/v1/accounts/import?format=json', file);
    assert.equal(imported.status, 200, imported.text);
    await eventually(() => two.account('moved'));
    const id = String((await two.account('moved'))['AID']);
    const clients = await Promise.all([one, two].map((node) => openSession(node, 'moved', target.port)));
    // Each node reads the change of the other together with the new hash.
    for (const [changed, other, remarks] of [
      [one, two, 'first'],
      [two, one, 'second'],
    ] as const) {
      assert.equal((await changed.api('PATCH', `/api/v1/accounts/${id}`, { remarks })).status, 200);
      await eventually(async () => (await getJson(other, `/api/v1/accounts/${id}`))['remarks'] === remarks);
    }
    for (const client of clients) {
      client.send(Buffer.from('ping'));
      assert.equal((await client.read(4)).toString(), 'ping');
    }
    // A new password ends them everywhere.
    assert.equal(
      (await one.api('POST', `/api/v1/accounts/${id}/password`, { password: 'other' })).status,
      200,
    );
    for (const client of clients) await client.closed();
  });

  test('changed settings and tokens reach the other node', async () => {
    const logs = { sessionDays: 7, loginDays: 5, auditDays: 6 };
    const retention = { heartbeatDays: 3, heartbeatsPerAccount: 50, runDays: 4, ...logs };
    assert.equal((await one.api('PUT', '/api/v1/settings/retention', retention)).status, 200);
    await eventually(async () => {
      assert.deepEqual(await getJson(two, '/api/v1/settings/retention'), retention);
    });
    const made = (await one.api('POST', '/api/v1/tokens', { name: 'billing', scopes: ['accounts:read'] }))
      .json;
    const { secret, token } = made as { secret: string; token: { id: string } };
    const asToken = async () =>
      (await fetch(`${two.adminUrl}/api/v1/accounts`, { headers: { authorization: `Bearer ${secret}` } }))
        .status;
    await eventually(async () => (await asToken()) === 200);
    assert.equal((await one.api('DELETE', `/api/v1/tokens/${token.id}`)).status, 204);
    await eventually(async () => (await asToken()) === 401);
  });

  test('a console session opened at one node is valid at both, and ends at both', async () => {
    const session = await signIn(one);
    assert.equal(
      await statusAt(two, session),
      200,
      'valid at once, because a balancer may choose either node',
    );
    assert.equal(await statusAt(two, session, '/api/v1/session', 'DELETE'), 204);
    await eventually(async () => (await statusAt(one, session)) === 401);
  });

  test('a change of the administrator password ends the console sessions at both nodes except its own', async () => {
    const [changing, ended] = [await signIn(one), await signIn(two)];
    assert.equal(await statusAt(one, ended), 200);
    const passwords = { current: ADMIN.password, next: 'another-long-password' };
    assert.equal((await changing.api('PUT', '/api/v1/settings/admin-password', passwords)).status, 204);
    await eventually(async () => (await statusAt(two, ended)) === 401);
    await eventually(async () => (await statusAt(two, changing)) === 200);
    assert.equal(await statusAt(one, changing), 200);
    const back = { current: passwords.next, next: ADMIN.password };
    await eventually(async () => {
      assert.equal(
        (
          await fetchFrom(
            two,
            'PUT',
            '/api/v1/settings/admin-password',
            sameOriginHeaders(two, changing),
            back,
          )
        ).status,
        204,
      );
    });
    for (const node of [one, two]) {
      await eventually(async () => (await statusAt(node, changing)) === 200);
      await eventually(async () => (await node.api('GET', '/api/v1/accounts')).status === 200);
    }
  });

  test('a change reaches a node that was frozen when it was made', async () => {
    two.signal('SIGSTOP');
    for (let n = 0; n < 50; n += 1) await one.addAccount(`frozen-${n}`, 'word');
    two.signal('SIGCONT');
    await eventually(async () => (await two.account('frozen-49'))['Username'] === 'frozen-49');
  });
});
