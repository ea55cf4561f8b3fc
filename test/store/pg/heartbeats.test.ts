// Heartbeat entries on PostgreSQL, while another daemon changes the same accounts.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../helpers/eventually.js';
import { addAccount } from '../../helpers/stored-accounts.js';
import { opener } from '../databases.js';
import { account, heartbeat, KEEP_ALL } from '../helpers.js';

const WAITING =
  "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

async function setUp(t: TestContext) {
  const { store, connect } = await opener(t, 'pg')();
  const ann = account();
  await addAccount(store.accounts, ann);
  const [db, beside] = [connect(), connect()];
  const isWaiting = async () => (await beside.raw(WAITING)).rows.length > 0;
  return { heartbeats: store.heartbeats, ann, db, isWaiting };
}

test('entries of an account that another daemon is removing are dropped', async (t) => {
  const { heartbeats, ann, db, isWaiting } = await setUp(t);
  let isWritten = false;
  const writes: Promise<unknown>[] = [];
  await db.transaction(async (removing) => {
    await removing('accounts').where({ id: ann.id }).delete();
    writes.push(
      heartbeats.append([heartbeat(ann)], KEEP_ALL).finally(() => {
        isWritten = true;
      }),
    );
    await eventually(async () => isWritten || (await isWaiting()));
  });
  await Promise.all(writes);
  assert.deepEqual(await db('heartbeats'), []);
});

test('a trim leaves the newest GameID, also one that another daemon is writing', async (t) => {
  const { heartbeats, ann, db, isWaiting } = await setUp(t);
  await heartbeats.append([heartbeat(ann, { at: 1, gameId: 'old' })], KEEP_ALL);
  const writes: Promise<unknown>[] = [];
  await db.transaction(async (writing) => {
    const [old] = await writing('heartbeats');
    await writing('heartbeats').insert({ ...old, id: Number(old.id) + 1_000, at: 10, game_id: 'new' });
    await writing('heartbeat_totals').update({ count: 2, latest_game_id: 'new' });
    writes.push(heartbeats.trim(5, 10));
    await eventually(isWaiting);
  });
  await Promise.all(writes);
  assert.deepEqual(await db('heartbeat_totals').select('count', 'latest_game_id'), [
    { count: 1, latest_game_id: 'new' },
  ]);
});
