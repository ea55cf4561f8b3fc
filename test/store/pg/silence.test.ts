// The daemon gives up a PostgreSQL server that does not answer, but not a slow one. It detects the outcome of a COMMIT whose answer
// was lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDatabaseAway } from '../../../src/core/errors.js';
import { connectPg } from '../../../src/store/pg/connect.js';
import { createSilenceWatch } from '../../../src/store/pg/knex-client.js';
import { openStore } from '../../../src/store/store.js';
import { startDatabaseWire } from '../../helpers/database-wire.js';
import { eventually } from '../../helpers/eventually.js';
import { newDatabase } from '../../helpers/shared-postgres.js';
import { addAccount } from '../../helpers/stored-accounts.js';
import { account, tempDir } from '../helpers.js';

test('a query without a response fails as "database away", and works again after reconnecting', async (t) => {
  const wire = await startDatabaseWire(t, await newDatabase(t));
  const db = connectPg(wire.connection, 2, { answerMs: 200 });
  t.after(() => db.destroy());
  await eventually(() => db.raw('select 1').then(() => true));
  wire.isCut = true;
  const failures = await Promise.allSettled(Array.from({ length: 5 }, () => db.raw('select 1')));
  for (const failure of failures) {
    assert.equal(failure.status, 'rejected');
    assert.ok(isDatabaseAway(failure.reason), String(failure.reason));
  }
  wire.isCut = false;
  await eventually(() => db.raw('select 1').then(() => true));
});

test('a query to a frozen server is given up by the time limit for answers, long before that for statements', async (t) => {
  const wire = await startDatabaseWire(t, await newDatabase(t));
  wire.isCut = true;
  let isDisconnected = false;
  const end = createSilenceWatch(wire.connection, 100).begin(() => {
    isDisconnected = true;
  });
  await eventually(() => isDisconnected);
  end(false);
});

test('a slow query of a server that answers others is waited for', async (t) => {
  const db = connectPg(await newDatabase(t), 1, { answerMs: 5_000 });
  t.after(() => db.destroy());
  await db.raw('select pg_sleep(5.5)');
});

test('an account whose COMMIT succeeded without a response is read back', async (t) => {
  const wire = await startDatabaseWire(t, await newDatabase(t));
  const store = await openStore({
    client: 'pg',
    dataDir: await tempDir(t),
    connection: wire.connection,
    poolSize: 2,
  });
  t.after(() => store.close());
  const [before, lost, after] = [account(), account(), account()];
  await addAccount(store.accounts, before);
  assert.deepEqual(await store.changes.next(), [], 'its own changes are not read back');
  wire.onClientData = (bytes, client) => {
    if (bytes.includes('COMMIT')) client.destroy();
  };
  await assert.rejects(addAccount(store.accounts, lost), isDatabaseAway);
  wire.onClientData = () => undefined;
  assert.deepEqual(await eventually(() => store.changes.next()), [{ topic: 'everything' }]);
  // The server may execute the commit later, so the store reads back its own changes for a while.
  await addAccount(store.accounts, after);
  assert.deepEqual((await store.changes.next()).at(-1), { topic: 'account', key: after.id });
  assert.ok(await eventually(async () => (await store.accounts.all()).find(({ id }) => id === lost.id)));
});
