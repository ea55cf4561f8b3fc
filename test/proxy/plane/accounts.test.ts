// The accounts in the memory that all threads share: as bytes, in an index, and after many changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSchedules } from '../../../src/core/accounts/access/schedule.js';
import { NO_LIMITS } from '../../../src/core/accounts/usage/limits.js';
import { NO_GEO } from '../../../src/core/addresses/geo.js';
import { AccountIndex, CHUNK_BYTES, NO_PLACE } from '../../../src/proxy/memory/account-memory.js';
import { packAccount, packedAccounts, unpackAccount } from '../../../src/proxy/memory/packed-account.js';
import type { WorkerMessage } from '../../../src/proxy/messages.js';
import { AccountWriter } from '../../../src/proxy/plane/account-writer.js';
import { PlaneAccounts } from '../../../src/proxy/plane/accounts.js';
import type { PlaneWorker } from '../../../src/proxy/plane/worker-handle.js';
import type { AccountRecord } from '../../../src/proxy/plane-settings.js';
import { WorkerAccounts } from '../../../src/proxy/worker/accounts.js';
import { createRandom } from '../../fuzz/random.js';
import { accountRecord } from './plane-world.js';

/** A control plane's accounts, and those of its workers, which get its messages at once. */
function setUp(workerCount: number, handed = '') {
  const chunks = new Map<number, number>();
  const accounts = Array.from(
    { length: workerCount },
    () =>
      new WorkerAccounts({
        io: { now: () => 0, timer: () => ({ clear() {} }) },
        egressOf: () => null,
        schedules: createSchedules('UTC'),
        geo: NO_GEO,
        onMost() {},
      }),
  );
  let messages = 0;
  const workers = accounts.map((own, index) => {
    function send(message: WorkerMessage): void {
      messages += 1;
      if (message.kind === 'account-chunk') {
        own.setChunk(message.chunk, message.memory);
        if (message.memory) chunks.set(message.chunk, message.memory.byteLength);
        else chunks.delete(message.chunk);
      } else if (message.kind === 'accounts') for (const place of message.places) own.put(place, 0);
      else if (message.kind === 'account-removed') own.remove(message.id);
    }
    return { index, isStarted: true, send } as unknown as PlaneWorker;
  });
  const plane = new PlaneAccounts(workers, workerCount, { exitSuffix: [] }, handed);
  const memory = (): number => [...chunks.values()].reduce((sum, bytes) => sum + bytes, 0);
  return { plane, workers, accounts, memory, messages: () => messages };
}

/** What an account has, whatever made it. */
const plain = (record: AccountRecord | undefined) => record && { ...record };

const full: AccountRecord = {
  ...accountRecord('所有 fields'),
  passwordVersion: 7,
  link: { hash: 'sha256$link', createdAt: 1_790_000_000_000 },
  limits: { ...NO_LIMITS, maxSessions: 3, quotaPeriod: 'day', quotaBytes: 5e12 },
  exit: 'jp',
  owner: 'seller',
  authorizedAddresses: ['192.0.2.1', '2001:db8::/32'],
  isEnabled: false,
  suspendedUntil: 1_800_000_000_000,
  expiresAt: 1_790_000_000_001,
  allowedClients: ['198.51.100.0/24', 'country:JP'],
  schedule: 'mon-fri 08:00-23:00',
  quotaLeft: -5,
  quotaCounted: 12,
  needsPermit: true,
  otherNodes: 2,
};

const addressAt = (n: number): string => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;

function assertPresent(worker: WorkerAccounts, record: AccountRecord): void {
  assert.deepEqual(plain(worker.byId(record.id)?.record), record);
  assert.deepEqual(plain(worker.byUsername(record.username)?.record), record);
  for (const address of record.authorizedAddresses)
    assert.equal(worker.byAddress(address)?.record.id, record.id);
}

function assertGone(worker: WorkerAccounts, { id, username, authorizedAddresses }: AccountRecord): void {
  assert.equal(worker.byId(id) ?? worker.byUsername(username), undefined);
  for (const address of authorizedAddresses) assert.equal(worker.byAddress(address), undefined);
}

test('an account is the same after it was bytes', () => {
  const bare = 'ab'.repeat(32);
  const upper = full.passwordHash.toUpperCase().replace('SHA', 'sha');
  const records = [
    full,
    accountRecord('plain'),
    accountRecord('n'.repeat(255)),
    accountRecord('ü'.repeat(127)),
    ...[bare, upper].map((passwordHash) => ({ ...accountRecord('hash'), passwordHash })),
    { ...accountRecord('free'), isEnabled: false, limits: { ...NO_LIMITS, maxConnections: 0 } },
  ];
  const packed = records.map(packAccount);
  const read = (bytes: Buffer) => plain(unpackAccount(bytes));
  assert.deepEqual(packed.map(read), records);
  assert.deepEqual([...packedAccounts(Buffer.concat(packed))].map(read), records);
  // A usual account has no JSON.
  assert.equal(packAccount(accountRecord('plain')).length, 4 + 1 + 36 + 1 + 5 + 1 + 48);
});

test('an index finds what was put and not removed, and nothing else', () => {
  const random = createRandom(7);
  const writer = new AccountWriter(() => undefined);
  const index = new AccountIndex(writer.memory, 'username');
  const places = new Map<string, number>();
  for (let step = 0; step < 20_000; step += 1) {
    const name = `player${random.below(2_000)}`;
    const known = places.get(name);
    if (known !== undefined && random.below(2) === 0) {
      index.remove(known);
      places.delete(name);
    } else {
      const place = writer.add(packAccount({ ...full, username: name }));
      index.set(place);
      places.set(name, place);
    }
  }
  for (let i = 0; i < 2_000; i += 1) {
    const name = `player${i}`;
    assert.equal(index.get(Buffer.from(name)), places.get(name) ?? NO_PLACE, name);
  }
  assert.deepEqual([...index.places()].sort(), [...places.values()].sort());
});

test('workers have each account as it is, after many changes, and former states use no more memory than present ones', async () => {
  const random = createRandom(11);
  const { plane, accounts, memory } = setUp(2);
  const records = new Map<string, AccountRecord>();
  const gone: AccountRecord[] = [];
  for (let step = 0; step < 30_000; step += 1) {
    const known = [...records.keys()][random.below(1_000)];
    const record = (known !== undefined && records.get(known)) || accountRecord(`player${step}`);
    const change = random.below(10);
    if (known !== undefined && change === 0) {
      plane.remove(record.id);
      records.delete(record.id);
      gone.push(record);
    } else {
      const username = change === 1 ? `renamed${step}` : record.username;
      const after = {
        ...record,
        username,
        passwordVersion: record.passwordVersion + 1,
        exit: `exit${change}`,
        authorizedAddresses: change < 5 ? [addressAt(step)] : [],
      };
      plane.put(after);
      records.set(after.id, after);
    }
    if (step % 100 === 0) await null;
  }
  await null;
  for (const worker of accounts) {
    for (const record of records.values()) assertPresent(worker, record);
    for (const record of gone) assertGone(worker, record);
  }
  const present = [...records.values()].reduce((sum, record) => sum + packAccount(record).length, 0);
  // Of each of the two workers: the chunks less than half of which is in use are gone, except the one that is written.
  assert.ok(memory() <= 2 * present + 2 * CHUNK_BYTES, `${memory()} bytes for ${present}`);
});

test('an account larger than a chunk has one of its own', async () => {
  const { plane, accounts, memory } = setUp(1);
  const large = {
    ...full,
    quotaCounted: 0,
    authorizedAddresses: Array.from({ length: 90_000 }, (_, i) => addressAt(i)),
  };
  plane.put(large);
  plane.put(accountRecord('next'));
  await null;
  assert.deepEqual(plain(accounts[0]?.byId(large.id)?.record), large);
  assert.ok(accounts[0]?.byUsername('next'));
  const before = memory();
  plane.put({ ...large, authorizedAddresses: [] });
  plane.put(accountRecord('other'));
  await null;
  assert.deepEqual(accounts[0]?.byId(large.id)?.record.authorizedAddresses, []);
  assert.ok(memory() < before);
});

test('what was handed over is not sent again when the database says the same', async () => {
  const first = setUp(1);
  const records = [full, accountRecord('ann'), accountRecord('bob')].map((record) => ({
    ...record,
    quotaCounted: 0,
  }));
  for (const record of records) first.plane.put(record);
  const next = setUp(1, first.plane.handOver());
  const [worker] = next.workers;
  assert.ok(worker);
  next.plane.sendAll(worker);
  await null;
  const before = next.messages();
  next.plane.replace(records);
  await null;
  assert.equal(next.messages(), before);
  assert.deepEqual(plain(next.accounts[0]?.byUsername(full.username)?.record), records[0]);
  next.plane.replace(records.slice(1));
  await null;
  assert.equal(next.accounts[0]?.byUsername(full.username), undefined);
});
