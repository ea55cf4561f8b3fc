// The log of logins: which logins share an entry, and the limits of the log.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoginLog, type LoginEntry } from '../../../../src/core/accounts/access/login-log.js';

/** A store in memory. The place of an entry is its index in `written`. */
function memoryStore() {
  const written: LoginEntry[] = [];
  const store = {
    async add(entries: readonly LoginEntry[]) {
      written.push(...entries);
      return entries.map((_, i) => written.length - entries.length + i);
    },
    async repeated(entries: readonly { place: number; times: number }[]) {
      for (const { place, times } of entries) {
        const entry = written[place];
        if (entry) written[place] = { ...entry, times };
      }
    },
  };
  return { store, written };
}

test('logins are grouped for a minute, limited in number, and kept after a failed write', async () => {
  let now = 1_000_000;
  let isBroken = true;
  const { store: working, written } = memoryStore();
  const store = {
    ...working,
    async add(entries: readonly LoginEntry[]) {
      if (isBroken) throw new Error('busy');
      return working.add(entries);
    },
  };
  const log = createLoginLog({
    store,
    now: () => now,
    monotonicNow: () => now,
    maxGroups: 2,
    maxBlockedNames: 1,
    onNote: () => {},
  });
  const fail = (client: string) => log.note('wrong-password', 'alice', 'id', client);
  fail('1');
  fail('1');
  fail('2');
  fail('3');
  await assert.rejects(log.flush());
  isBroken = false;
  await log.flush();
  assert.deepEqual(
    written.map(({ client, times }) => [client, times]),
    [
      ['1', 2],
      ['2', 1],
    ],
  );
  fail('1');
  await log.flush();
  assert.deepEqual(
    written.map(({ times }) => times),
    [3, 1],
    'the login belongs to the same entry',
  );
  now += 60_000;
  await log.flush();
  fail('1');
  await log.flush();
  assert.deepEqual(
    written.map(({ times }) => times),
    [3, 1, 1],
    'a login a minute later is a new entry',
  );
});

test('a blocked source with any number of user names fills neither the log nor the memory', async () => {
  let [now, monotonic] = [Date.UTC(2031, 0, 1), 0];
  const { store, written } = memoryStore();
  let noted = 0;
  const log = createLoginLog({
    store,
    now: () => now,
    monotonicNow: () => monotonic,
    maxGroups: 20,
    maxBlockedNames: 2,
    onNote: () => {
      noted += 1;
    },
  });
  const ATTEMPTS = 5_000;
  for (let i = 0; i < ATTEMPTS; i += 1) {
    // All addresses are in one /64, which is one source.
    log.note('blocked-address', `name${i}`, 'id', `2001:db8::${(i % 4_096).toString(16)}`);
    if (i % 1_000 === 0) await log.flush();
    monotonic += 3_599_000 / ATTEMPTS;
  }
  await log.flush();
  assert.deepEqual(
    written.map(({ username, accountId, times }) => [username, accountId, times]),
    [
      ['name0', 'id', 1],
      ['name1', 'id', 1],
      ['', null, ATTEMPTS - 2],
    ],
  );
  assert.equal(noted, ATTEMPTS, 'each attempt is counted in the statistics');
  // A change of the wall clock has no effect.
  now -= 86_400_000;
  monotonic += 10_000;
  await log.flush();
  log.note('blocked-address', 'name0', 'id', '2001:db8::1');
  await log.flush();
  assert.deepEqual(
    [written.length, written[3]?.username],
    [4, 'name0'],
    'an hour later there is a new entry',
  );
  for (let i = 0; i < 100; i += 1) log.note('blocked-address', 'x', null, `192.0.2.${i}`);
  log.note('success', 'alice', 'id', '192.0.2.200');
  await log.flush();
  assert.equal(written.length, 4 + 9 + 1, 'blocked sources fill at most half of the groups');
  assert.equal(written.at(-1)?.username, 'alice');
});
