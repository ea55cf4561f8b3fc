// Permits on PostgreSQL: concurrent requests of several processes never get more permits than the limit.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { Knex } from 'knex';
import type { WantedPermit } from '../../../src/core/accounts/access/held-permits.js';
import { createPgChangeRecorder } from '../../../src/store/pg/changes.js';
import { connectPg } from '../../../src/store/pg/connect.js';
import { createPgPermitStore } from '../../../src/store/pg/live-sessions.js';
import { newDatabase } from '../../helpers/shared-postgres.js';

const LEASE_MS = 600_000;

async function open(t: TestContext): Promise<Knex> {
  const db = connectPg(await newDatabase(t), 6);
  t.after(() => db.destroy());
  return db;
}

/** Adds a node with this lease time. */
async function addNode(db: Knex, leaseMs = LEASE_MS) {
  const process = randomUUID();
  const now = Date.now();
  const names = { name: process, owner: process, process, version: '1' };
  const times = { started_at: now, renewed_at: now, lease_until: now + leaseMs };
  await db('nodes').insert({ ...names, ...times, addresses: '{}', load: '{}' });
  const store = createPgPermitStore(db, process, createPgChangeRecorder(db, process));
  const exchange = (now: Partial<Parameters<typeof store.exchange>[0]>) =>
    store.exchange({ endedIds: [], held: [], wanted: [], leaseMs: LEASE_MS, ...now });
  return { process, exchange, trim: store.trim, findSurplus: store.findSurplus };
}

const wanted = (limits: Partial<WantedPermit>): WantedPermit => ({
  id: randomUUID(),
  accountId: 'ann',
  client: '192.0.2.1',
  maxSessions: null,
  maxClientAddresses: null,
  ...limits,
});

test('with three nodes and two accounts at once, each account gets exactly its limit', async (t) => {
  const db = await open(t);
  const nodes = await Promise.all([addNode(db), addNode(db), addNode(db)]);
  const requests = Array.from({ length: 300 }, (_, n) =>
    wanted(n % 2 === 0 ? { accountId: 'ann', maxSessions: 3 } : { accountId: 'bob', maxSessions: 5 }),
  );
  const parts = Array.from({ length: 30 }, (_, n) => requests.slice(10 * n, 10 * n + 10));
  // The database orders the accounts itself, so that exchanges do not wait for each other in a circle.
  const refusals = await Promise.all(
    parts.map((part, n) => nodes[n % 3]?.exchange({ wanted: n % 2 === 0 ? part : part.toReversed() })),
  );
  assert.equal(
    refusals.reduce((sum, each) => sum + (each?.size ?? 0), 0),
    300 - 8,
  );
  const held = await db('session_permits')
    .groupBy('account_id')
    .orderBy('account_id')
    .count()
    .select('account_id');
  assert.deepEqual(held, [
    { account_id: 'ann', count: 3 },
    { account_id: 'bob', count: 5 },
  ]);
});

test('addresses count over all nodes, each once; a known address may have more sessions', async (t) => {
  const db = await open(t);
  const nodes = await Promise.all([addNode(db), addNode(db)]);
  const requestFrom = async (node: number, client: string) => {
    const request = wanted({ client, maxClientAddresses: 2 });
    return (await nodes[node]?.exchange({ wanted: [request] }))?.get(request.id) ?? 'granted';
  };
  assert.equal(await requestFrom(0, '192.0.2.1'), 'granted');
  assert.equal(await requestFrom(1, '192.0.2.1'), 'granted');
  assert.equal(await requestFrom(1, '192.0.2.2'), 'granted');
  assert.equal(await requestFrom(0, '192.0.2.3'), 'too-many-addresses');
  assert.equal(await requestFrom(0, '192.0.2.2'), 'granted');
});

test('ended sessions do not count, and those that a node reports as held do', async (t) => {
  const { exchange } = await addNode(await open(t));
  const [first, second] = [wanted({ maxSessions: 1 }), wanted({ maxSessions: 1 })];
  const { id, accountId, client } = first;
  const held = [{ id, accountId, client }];
  assert.equal((await exchange({ held, wanted: [second] })).get(second.id), 'too-many-sessions');
  assert.equal((await exchange({ endedIds: [first.id], wanted: [second] })).size, 0);
});

test('the permit of a dead node does not count, and is deleted with the node', async (t) => {
  const db = await open(t);
  const [living, dead] = [await addNode(db), await addNode(db)];
  const request = () => wanted({ maxSessions: 1 });
  assert.equal((await dead.exchange({ wanted: [request()] })).size, 0);
  assert.equal((await living.exchange({ wanted: [request()] })).size, 1);
  await db('nodes')
    .where({ process: dead.process })
    .update({ lease_until: Date.now() - 1_000 });
  assert.equal((await living.exchange({ wanted: [request()] })).size, 0);
  await living.trim();
  assert.equal((await db('session_permits').where({ process: dead.process })).length, 1);
  // The node was only frozen. Its exchange counts again, although it has not renewed its lease yet.
  assert.equal((await dead.exchange({ wanted: [request()] })).size, 1);
  const [row] = await db('nodes').where({ process: dead.process }).select('lease_until');
  assert.ok(Number(row.lease_until) > Date.now());
  await db('nodes').where({ process: dead.process }).update({ lease_until: null });
  await living.trim();
  assert.deepEqual(await db('session_permits').distinct('process').pluck('process'), [living.process]);
});

test('permits beyond a lowered limit are found over all live nodes, and each node revokes its own', async (t) => {
  const db = await open(t);
  const nodes = [await addNode(db), await addNode(db), await addNode(db)] as const;
  const ids: string[] = [];
  // Five permits: of the first node, the second, the third, the first, the second.
  for (let n = 0; n < 5; n += 1) {
    const permit = wanted({ client: `192.0.2.${n % 3}` });
    ids.push(permit.id);
    await nodes[n % 3]?.exchange({ wanted: [permit] });
  }
  const [one, two, three] = nodes;
  const revokedIds = () => db('changes').where({ topic: 'revoke-permit' }).orderBy('seq').pluck('key');
  assert.deepEqual(await one.findSurplus('ann', { maxSessions: 3, maxClientAddresses: null }), [ids[3]]);
  assert.deepEqual(await revokedIds(), [ids[4]]);
  assert.deepEqual(await two.findSurplus('ann', { maxSessions: null, maxClientAddresses: 2 }), []);
  assert.deepEqual(await revokedIds(), [ids[4], ids[2]]);
  assert.deepEqual(await three.findSurplus('ann', { maxSessions: 5, maxClientAddresses: 3 }), []);
  await db('nodes')
    .where({ process: one.process })
    .update({ lease_until: Date.now() - 1_000 });
  assert.deepEqual(await two.findSurplus('ann', { maxSessions: 2, maxClientAddresses: null }), [ids[4]]);
  assert.deepEqual(await revokedIds(), [ids[4], ids[2]], 'permits of a lost node do not count');
});
