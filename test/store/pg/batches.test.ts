// Traffic and heartbeat entries whose COMMIT succeeded without an answer are written again, and stored once.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AccountDirectory } from '../../../src/core/accounts/directory.js';
import { createAccountUsage } from '../../../src/core/accounts/usage/account-usage.js';
import { isCommitUnknown } from '../../../src/core/errors.js';
import { HeartbeatPool } from '../../../src/core/heartbeats/heartbeat-pool.js';
import { createHeartbeatWriter } from '../../../src/core/heartbeats/heartbeat-writer.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import { nodeTimers } from '../../../src/core/time/timers.js';
import { openStore } from '../../../src/store/store.js';
import { logInto } from '../../helpers/admin.js';
import { startDatabaseWire } from '../../helpers/database-wire.js';
import { eventually } from '../../helpers/eventually.js';
import { FakeSession } from '../../helpers/fake-session.js';
import { newDatabase } from '../../helpers/shared-postgres.js';
import { addAccount } from '../../helpers/stored-accounts.js';
import { newestOf } from '../../helpers/stored-heartbeats.js';
import { account, heartbeat, KEEP_ALL, tempDir } from '../helpers.js';

const DAY = Date.UTC(2031, 4, 14) / 86_400_000;
const NOON = DAY * 86_400_000 + 43_200_000;

async function setUp(t: TestContext) {
  const wire = await startDatabaseWire(t, await newDatabase(t));
  const { connection } = wire;
  const store = await openStore({ client: 'pg', dataDir: await tempDir(t), connection, poolSize: 2 });
  t.after(() => store.close());
  const ann = account();
  await addAccount(store.accounts, ann);
  const directory = new AccountDirectory();
  directory.put(ann);
  /** Loses the answer to the next COMMIT. */
  const loseCommit = () => {
    wire.onClientData = (bytes, client) => {
      if (!bytes.includes('COMMIT')) return;
      wire.onClientData = () => undefined;
      client.destroy();
    };
  };
  return { store, ann, directory, loseCommit };
}

test('traffic is counted once', async (t) => {
  const { store, ann, directory, loseCommit } = await setUp(t);
  const sessions = new SessionRegistry();
  const usage = createAccountUsage({
    maxGames: 32,
    store: store.traffic,
    directory,
    sessions,
    calendar: store.calendar,
    now: () => NOON,
  });
  const session = new FakeSession({ accountId: ann.id });
  sessions.opened(session);
  const stored = async () => (await store.traffic.days(ann.id, 0)).map(({ bytesUp }) => bytesUp);
  session.traffic.up = 1_000;
  sessions.tick();
  loseCommit();
  await assert.rejects(usage.flush(), isCommitUnknown);
  await eventually(async () => (await stored()).join() === '1000');
  // Later traffic of the session is counted, too.
  session.traffic.up = 1_500;
  sessions.tick();
  await usage.flush();
  assert.deepEqual(await stored(), [1_500]);
  assert.equal(usage.view(ann).totalBytesUp, 1_500);
});

test('heartbeat entries are stored once', async (t) => {
  const { store, ann, directory, loseCommit } = await setUp(t);
  const pool = new HeartbeatPool({ maxPending: 100, maxPerAccount: 100 });
  const writer = createHeartbeatWriter({
    pool,
    directory,
    heartbeats: store.heartbeats,
    accounts: store.accounts,
    traffic: { flush: async () => undefined },
    records: { flush: async () => undefined },
    retention: KEEP_ALL,
    flushIntervalMs: 60_000,
    trimIntervalMs: 60_000,
    now: Date.now,
    timers: nodeTimers,
    log: logInto([]),
  });
  const stored = async () => (await newestOf(store, ann.id, 10)).length;
  for (const gameId of ['G1', 'G2']) pool.record(heartbeat(ann, { gameId }));
  loseCommit();
  await assert.rejects(writer.flush(), isCommitUnknown);
  await eventually(async () => (await stored()) === 2);
  pool.record(heartbeat(ann));
  await writer.flush();
  assert.equal(await stored(), 3);
  assert.deepEqual([pool.count(ann.id), pool.latestGameId(ann.id), pool.pendingSize], [3, 'G2', 0]);
});
