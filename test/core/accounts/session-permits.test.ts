// Permits of sessions: the database decides. While it does not answer, the node decides, and writes its permits later.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { LimitRefusal } from '../../../src/core/accounts/limits.js';
import type { PermitStore } from '../../../src/core/accounts/permit-store.js';
import {
  createSessionPermits,
  type PermitAnswer,
  type SessionPermit,
} from '../../../src/core/accounts/session-permits.js';
import { AWAY } from '../../../src/core/storage.js';
import { eventually } from '../../helpers/eventually.js';
import { createTestTimers } from '../../helpers/timers.js';

const SILENT_LOG = { debug() {}, info() {}, warn() {}, error() {} };
const TIMEOUT_MS = 3_000;
const away = () => Object.assign(new Error('no connection'), { [AWAY]: true });

/** Permits on a fake database: it stores what it gets, and refuses the client addresses in `refused`. */
function world(t: TestContext, limits: { maxSessions?: number; maxClientAddresses?: number }) {
  const timers = createTestTimers();
  const rows = new Map<string, string>();
  const refused = new Set<string>();
  const world = {
    rows,
    /** Client addresses that the database refuses because of other nodes' sessions. */
    refused,
    exchanges: 0,
    answer: async (): Promise<void> => undefined,
  };
  const store: Pick<PermitStore, 'exchange' | 'findSurplus'> = {
    async findSurplus(_accountId, { maxSessions }) {
      await world.answer();
      return [...rows.keys()].slice(maxSessions ?? rows.size);
    },
    async exchange({ endedIds, held, wanted }) {
      world.exchanges += 1;
      await world.answer();
      const refusals = new Map<string, LimitRefusal>();
      for (const id of endedIds) rows.delete(id);
      for (const { id, client } of held) rows.set(id, client);
      for (const { id, client } of wanted) {
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
  return { ...world, world, timers, permits: { ...permits, acquire } };
}

function granted(answer: PermitAnswer): SessionPermit {
  assert.ok(answer.ok);
  return answer.permit;
}

test('the database decides, and every end is stored', async (t) => {
  const { permits, rows, refused } = world(t, { maxSessions: 1 });
  const permit = granted(await permits.acquire('ann', '192.0.2.1'));
  assert.deepEqual([...rows.values()], ['192.0.2.1']);
  refused.add('192.0.2.2');
  assert.deepEqual(await permits.acquire('ann', '192.0.2.2'), { ok: false, reason: 'too-many-sessions' });
  permit.release();
  permit.release();
  await eventually(() => rows.size === 0);
});

test('requests during a query are batched', async (t) => {
  const { permits, world: database } = world(t, {});
  await Promise.all(Array.from({ length: 500 }, (_, n) => permits.acquire('ann', `192.0.2.${n % 200}`)));
  assert.equal(database.rows.size, 500);
  assert.ok(database.exchanges <= 3, String(database.exchanges));
});

for (const how of ['fails', 'is silent']) {
  test(`a database that ${how}: the node decides by what it has itself`, async (t) => {
    const { permits, timers, world: database } = world(t, { maxSessions: 3, maxClientAddresses: 2 });
    granted(await permits.acquire('ann', '192.0.2.1'));
    let end = (): void => undefined;
    const silence = new Promise<void>((resolve) => {
      end = resolve;
    });
    database.answer = () => (how === 'fails' ? Promise.reject(away()) : silence);
    const asked = permits.acquire('ann', '192.0.2.2');
    await timers.pass(TIMEOUT_MS);
    const second = granted(await asked);
    const third = await permits.acquire('ann', '192.0.2.3');
    assert.deepEqual(third, { ok: false, reason: 'too-many-addresses' });
    granted(await permits.acquire('ann', '192.0.2.1'));
    const fourth = await permits.acquire('ann', '192.0.2.1');
    assert.deepEqual(fourth, { ok: false, reason: 'too-many-sessions' });
    second.release();
    granted(await permits.acquire('ann', '192.0.2.2'));
    granted(await permits.acquire('bob', '192.0.2.2'));
    end();
  });
}

test('after an outage, or with another database, all permits are stored again, and the database decides', async (t) => {
  const { permits, timers, world: database } = world(t, { maxSessions: 4 });
  granted(await permits.acquire('ann', '192.0.2.1'));
  database.answer = () => Promise.reject(away());
  granted(await permits.acquire('ann', '192.0.2.2'));
  granted(await permits.acquire('ann', '192.0.2.3')).release();
  database.rows.clear();
  database.answer = async () => undefined;
  await timers.pass(500);
  assert.deepEqual([...database.rows.values()].sort(), ['192.0.2.1', '192.0.2.2']);
  database.refused.add('192.0.2.4');
  assert.equal((await permits.acquire('ann', '192.0.2.4')).ok, false);
});

test('an answer that comes too late does not count a session that the node has refused', async (t) => {
  const { permits, timers, world: database } = world(t, { maxSessions: 1 });
  let answer = (): void => undefined;
  database.answer = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const asked = [permits.acquire('ann', '192.0.2.1'), permits.acquire('ann', '192.0.2.2')];
  await timers.pass(TIMEOUT_MS);
  const [first, second] = await Promise.all(asked);
  assert.deepEqual([first?.ok, second?.ok], [true, false]);
  database.answer = async () => undefined;
  answer();
  await eventually(() => [...database.rows.values()].join() === '192.0.2.1');
});

test('sessions that were open before their account was limited are written', async (t) => {
  const { permits, rows } = world(t, { maxSessions: 1 });
  const permit = permits.hold('ann', '192.0.2.1', () => undefined);
  await eventually(() => rows.size === 1);
  permit.release();
  await eventually(() => rows.size === 0);
});

for (const isAway of [false, true]) {
  test(`a lower limit revokes the newest permits, ${isAway ? 'without the database' : 'as the database decides'}`, async (t) => {
    const limits = { maxSessions: 4 };
    const { permits, world: database } = world(t, limits);
    const revoked: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const permit = granted(
        await permits.acquire('ann', '192.0.2.1', () => {
          revoked.push(n);
          permit.release();
        }),
      );
    }
    if (isAway) database.answer = () => Promise.reject(away());
    limits.maxSessions = 2;
    permits.enforce('ann');
    await eventually(() => revoked.length > 0);
    assert.deepEqual(revoked, [2, 3]);
  });
}
