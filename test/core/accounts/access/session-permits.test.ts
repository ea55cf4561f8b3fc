// Permits of sessions: the database decides. While it does not answer, the node decides, and stores its permits later.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { PermitStore } from '../../../../src/core/accounts/access/held-permits.js';
import {
  createSessionPermits,
  type PermitAnswer,
  type SessionPermit,
} from '../../../../src/core/accounts/access/session-permits.js';
import type { LimitRefusal } from '../../../../src/core/accounts/usage/limits.js';
import { withStorageProblem } from '../../../../src/core/errors.js';
import { eventually } from '../../../helpers/eventually.js';
import { createTestTimers } from '../../../helpers/timers.js';

const SILENT_LOG = { debug() {}, info() {}, warn() {}, error() {} };
const TIMEOUT_MS = 3_000;
const connectionError = () => withStorageProblem(new Error('no connection'), 'database-away');

/** Permits on a fake database: it stores what it gets, and refuses the client addresses in `refused`. */
function setUp(t: TestContext, limits: { maxSessions?: number; maxClientAddresses?: number }) {
  const timers = createTestTimers();
  const rows = new Map<string, string>();
  const refused = new Set<string>();
  const database = {
    rows,
    /** Client addresses that the database refuses because of other nodes' sessions. */
    refused,
    exchanges: 0,
    /** The number of permits that the database had at each request. */
    rowsAtRequest: [] as number[],
    answer: async (): Promise<void> => undefined,
  };
  const store: Pick<PermitStore, 'exchange' | 'findSurplus'> = {
    async findSurplus(_accountId, { maxSessions }) {
      await database.answer();
      return [...rows.keys()].slice(maxSessions ?? rows.size);
    },
    async exchange({ endedIds, held, wanted }) {
      database.exchanges += 1;
      await database.answer();
      const refusals = new Map<string, LimitRefusal>();
      for (const id of endedIds) rows.delete(id);
      for (const { id, client } of held) rows.set(id, client);
      for (const { id, client } of wanted) {
        database.rowsAtRequest.push(rows.size);
        if (refused.has(client)) refusals.set(id, 'too-many-sessions');
        else rows.set(id, client);
      }
      return refusals;
    },
  };
  const permits = createSessionPermits({
    store,
    limitsOf: () => ({ maxSessions: null, maxClientAddresses: null, ...limits }),
    timeoutMs: TIMEOUT_MS,
    leaseMs: 1_000,
    timers,
    log: SILENT_LOG,
  });
  permits.start();
  t.after(permits.stop);
  const acquire = (accountId: string, client: string, revoke: () => void = () => undefined) =>
    permits.acquire(accountId, client, revoke);
  return { ...database, database, timers, permits: { ...permits, acquire } };
}

function granted(answer: PermitAnswer): SessionPermit {
  assert.ok(answer.ok);
  return answer.permit;
}

test('the database decides, and the end of each session is stored', async (t) => {
  const { permits, rows, refused } = setUp(t, { maxSessions: 1 });
  const permit = granted(await permits.acquire('ann', '192.0.2.1'));
  assert.deepEqual([...rows.values()], ['192.0.2.1']);
  refused.add('192.0.2.2');
  assert.deepEqual(await permits.acquire('ann', '192.0.2.2'), { ok: false, reason: 'too-many-sessions' });
  permit.release();
  permit.release();
  await eventually(() => rows.size === 0);
});

test('requests during a query are batched', async (t) => {
  const { permits, database } = setUp(t, {});
  await Promise.all(Array.from({ length: 500 }, (_, n) => permits.acquire('ann', `192.0.2.${n % 200}`)));
  assert.equal(database.rows.size, 500);
  assert.ok(database.exchanges <= 3, String(database.exchanges));
});

for (const failure of ['fails', 'does not answer']) {
  test(`while the database ${failure}, the node decides by its own sessions`, async (t) => {
    const { permits, timers, database } = setUp(t, { maxSessions: 3, maxClientAddresses: 2 });
    granted(await permits.acquire('ann', '192.0.2.1'));
    let endSilence = (): void => undefined;
    const silence = new Promise<void>((resolve) => {
      endSilence = resolve;
    });
    database.answer = () => (failure === 'fails' ? Promise.reject(connectionError()) : silence);
    const acquiring = permits.acquire('ann', '192.0.2.2');
    await timers.pass(TIMEOUT_MS);
    const second = granted(await acquiring);
    const third = await permits.acquire('ann', '192.0.2.3');
    assert.deepEqual(third, { ok: false, reason: 'too-many-addresses' });
    granted(await permits.acquire('ann', '192.0.2.1'));
    const fourth = await permits.acquire('ann', '192.0.2.1');
    assert.deepEqual(fourth, { ok: false, reason: 'too-many-sessions' });
    second.release();
    granted(await permits.acquire('ann', '192.0.2.2'));
    granted(await permits.acquire('bob', '192.0.2.2'));
    endSilence();
  });
}

test('after an outage all permits are stored again, also in an empty database, and the database decides', async (t) => {
  const { permits, timers, database } = setUp(t, { maxSessions: 4 });
  granted(await permits.acquire('ann', '192.0.2.1'));
  database.answer = () => Promise.reject(connectionError());
  granted(await permits.acquire('ann', '192.0.2.2'));
  granted(await permits.acquire('ann', '192.0.2.3')).release();
  database.rows.clear();
  database.answer = async () => undefined;
  await timers.pass(500);
  assert.deepEqual([...database.rows.values()].sort(), ['192.0.2.1', '192.0.2.2']);
  database.refused.add('192.0.2.4');
  assert.equal((await permits.acquire('ann', '192.0.2.4')).ok, false);
});

test('a late answer of the database does not store a session that the node has refused', async (t) => {
  const { permits, timers, database } = setUp(t, { maxSessions: 1 });
  let answer = (): void => undefined;
  database.answer = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const acquiring = [permits.acquire('ann', '192.0.2.1'), permits.acquire('ann', '192.0.2.2')];
  await timers.pass(TIMEOUT_MS);
  const [first, second] = await Promise.all(acquiring);
  assert.deepEqual([first?.ok, second?.ok], [true, false]);
  database.answer = async () => undefined;
  answer();
  await eventually(() => [...database.rows.values()].join() === '192.0.2.1');
});

test('sessions that were open before their account got a limit are stored', async (t) => {
  const { permits, rows } = setUp(t, { maxSessions: 1 });
  const permit = permits.hold('ann', '192.0.2.1', () => undefined);
  await eventually(() => rows.size === 1);
  permit.release();
  await eventually(() => rows.size === 0);
});

test('the database is asked only when it has all permits of this node, however many they are', async (t) => {
  const { permits, database } = setUp(t, {});
  const held = Array.from({ length: 2_500 }, () => permits.hold('ann', '192.0.2.1', () => undefined));
  granted(await permits.acquire('ann', '192.0.2.1'));
  for (const permit of held) permit.release();
  granted(await permits.acquire('ann', '192.0.2.1'));
  assert.deepEqual(database.rowsAtRequest, [2_500, 1]);
});

test('a limit that was lowered during an outage is compared with the permits of all nodes after it', async (t) => {
  const limits = { maxSessions: 4 };
  const { permits, timers, database } = setUp(t, limits);
  database.rows.set('of another node', '192.0.2.9');
  const revoked: string[] = [];
  for (const client of ['192.0.2.1', '192.0.2.2']) {
    const permit = granted(
      await permits.acquire('ann', client, () => {
        revoked.push(client);
        permit.release();
      }),
    );
  }
  database.answer = () => Promise.reject(connectionError());
  limits.maxSessions = 2;
  permits.enforce('ann');
  await timers.pass(500);
  assert.deepEqual(revoked, [], 'this node has no more than two');
  database.answer = async () => undefined;
  await timers.pass(500);
  await eventually(() => revoked.length > 0);
  assert.deepEqual(revoked, ['192.0.2.2']);
});

test('permits that the database has lost are written again', async (t) => {
  const { permits, database } = setUp(t, {});
  granted(await permits.acquire('ann', '192.0.2.1'));
  database.rows.clear();
  permits.rewrite();
  await eventually(() => database.rows.size === 1);
});

for (const isUnreachable of [false, true]) {
  test(`a lower limit revokes the newest permits, ${isUnreachable ? 'without the database' : 'with the database'}`, async (t) => {
    const limits = { maxSessions: 4 };
    const { permits, database } = setUp(t, limits);
    const revoked: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const permit = granted(
        await permits.acquire('ann', '192.0.2.1', () => {
          revoked.push(n);
          permit.release();
        }),
      );
    }
    if (isUnreachable) database.answer = () => Promise.reject(connectionError());
    limits.maxSessions = 2;
    permits.enforce('ann');
    await eventually(() => revoked.length > 0);
    assert.deepEqual(revoked, [2, 3]);
  });
}
