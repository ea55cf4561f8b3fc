// The rules behind the admin API: codes, cursors, patterns, history, logins, timelines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AccountDirectory } from '../../../src/core/accounts/directory.js';
import { LiveActivity } from '../../../src/core/accounts/live-activity.js';
import { createLoginLog, type LoginEntry } from '../../../src/core/accounts/login-log.js';
import { namesOfPattern } from '../../../src/core/accounts/name-pattern.js';
import { createAttemptLimit } from '../../../src/core/auth/attempt-limit.js';
import { matchTotp, toBase32, totpCode, totpStep } from '../../../src/core/auth/totp.js';
import { parseWhitelist } from '../../../src/core/auth/whitelist.js';
import { explainWhitelist } from '../../../src/core/auth/whitelist-explain.js';
import { QueryTooSlowError } from '../../../src/core/errors.js';
import { stretchesOf } from '../../../src/core/heartbeats/timeline.js';
import { SessionRegistry } from '../../../src/core/sessions/session.js';
import { pageOfSorted } from '../../../src/core/sorted-page.js';
import {
  createHistory,
  type Sample,
  type SampleStep,
  type StoredSample,
  stepStarts,
} from '../../../src/core/stats/history.js';
import { createOverview } from '../../../src/core/stats/overview.js';

// RFC 6238 appendix B, cut to six digits.
for (const [seconds, code] of [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
] as const) {
  test(`the one-time code at ${seconds} s is that of RFC 6238`, () => {
    const secret = Buffer.from('12345678901234567890');
    assert.equal(totpCode(secret, totpStep(seconds * 1000)), code);
  });
}

test('a code is good for the step before and after, and once', () => {
  const secret = Buffer.from('12345678901234567890');
  const now = 1_900_000_000_000;
  const step = totpStep(now);
  const found = [-2, -1, 0, 1, 2].map((by) => matchTotp(secret, totpCode(secret, step + by), now, 0));
  assert.deepEqual(found, [null, step - 1, step, step + 1, null]);
  assert.equal(matchTotp(secret, totpCode(secret, step), now, step), null);
  assert.equal(matchTotp(secret, '', now, 0), null);
});

test('base32 is that of RFC 4648', () => {
  const words = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((word) => toBase32(Buffer.from(word)));
  assert.deepEqual(words, ['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI']);
});

test('pages of any size reach every item once, in order, nulls last either way', () => {
  const value = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(
      fc.array(value),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      (values, limit, descending) => {
        const items = values.map((each, i) => ({ id: String(i).padStart(4, '0'), value: each }));
        const seen: typeof items = [];
        let cursor: string | undefined;
        do {
          const page = pageOfSorted(items, {
            limit,
            cursor,
            descending,
            valueOf: (item) => item.value,
            idOf: (item) => item.id,
          });
          assert.ok(page && page.matched === items.length);
          seen.push(...page.items);
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
        const rank = (item: (typeof items)[number]) =>
          item.value === null ? Number.POSITIVE_INFINITY : descending ? -item.value : item.value;
        assert.deepEqual(
          seen,
          [...items].sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1)),
        );
      },
    ),
  );
  for (const cursor of ['x', '', 'bnVsbA', Buffer.from('[{},1]').toString('base64url')]) {
    const wish = { limit: 1, cursor, descending: false, valueOf: () => 1, idOf: () => 'a' };
    assert.equal(pageOfSorted([1], wish), null, cursor);
  }
});

test('names are counted by their pattern', () => {
  assert.deepEqual(namesOfPattern('a{08-11}b', 10), ['a08b', 'a09b', 'a10b', 'a11b']);
  assert.deepEqual(namesOfPattern('{9-11}', 10), ['9', '10', '11']);
  assert.equal(namesOfPattern('a{1-10}', 10)?.length, 10);
  for (const bad of ['a', 'a{1-11}', 'a{2-1}', 'a{1-2}{1-2}', 'a{-1-2}', 'a{1-}', '{x-y}'])
    assert.equal(namesOfPattern(bad, 10), null, bad);
});

test('what a whitelist entry is said to hold is what it holds', () => {
  for (const entry of [
    '10.0.0.0/8',
    '10.1.2.3/32',
    '0.0.0.0/0',
    '192.168.*',
    '10.2*',
    '2001:db8::/29',
    'fe80::*',
  ]) {
    const [{ first, last } = { first: null, last: null }] = explainWhitelist(entry);
    const parsed = parseWhitelist(entry);
    assert.ok(parsed.ok && first !== null && last !== null, entry);
    for (const edge of [first, last]) assert.ok(parsed.whitelist.allows(edge), `${entry}: ${edge}`);
  }
});

test('history: a minute goes into minute, hour, day and month; charts show means, rates and gaps', async () => {
  let now = Date.UTC(2026, 0, 31, 23, 58, 30);
  const rows = new Map<string, StoredSample>();
  const store = {
    async add(at: Readonly<Record<SampleStep, number>>, sample: Sample) {
      for (const [step, start] of Object.entries(at)) {
        const before = rows.get(`${step} ${start}`);
        const sum = Object.fromEntries(
          Object.entries(sample).map(([name, each]) => [
            name,
            each + Number(before?.[name as keyof Sample] ?? 0),
          ]),
        );
        rows.set(`${step} ${start}`, {
          ...sum,
          at: start,
          measured: (before?.measured ?? 0) + 1,
        } as StoredSample);
      }
    },
    list: async (step: SampleStep, from: number) =>
      [...rows].filter(([key, { at }]) => key.startsWith(step) && at >= from).map(([, row]) => row),
    trim: async () => {},
    runs: async () => ({ queued: 0, running: 0, succeeded: 1, failed: 1 }),
    trafficOf: async () => [],
  };
  const activity = new LiveActivity(now);
  const history = createHistory({ store, activity, now: () => now });
  activity.noteLogin('success');
  history.observe(10, 2);
  history.observe(20, 4);
  await history.sampleIfDue();
  assert.equal(rows.size, 0, 'the minute is not over');
  now += 60_000;
  await history.sampleIfDue();
  now += 3 * 60_000;
  await history.sampleIfDue();
  assert.deepEqual(
    [...rows.keys()].map((key) => key.split(' ')[0]),
    ['minute', 'hour', 'day', 'month', 'minute'],
  );
  const { at, values } = await history.columns('hour');
  assert.equal(at.length, 60);
  const last = (column: readonly (number | null)[]) => column.slice(-5);
  assert.deepEqual(last(values.sessions), [15, 0, null, null, null]);
  assert.deepEqual(last(values.logins), [1, 0, null, null, null]);
  assert.deepEqual(last(values.runs), [2, 2, null, null, null]);
  assert.deepEqual(stepStarts(now).month, Date.UTC(2026, 1, 1));
});

test('no minute of the charts is lost while the database fails or is slow, and none is written twice', async () => {
  const start = Date.UTC(2026, 1, 1, 12, 0);
  let now = start + 1_000;
  const written: [at: number, logins: number, runs: number][] = [];
  const asked: [number, number | undefined][] = [];
  let broken: 'add' | 'trim' | null = 'add';
  let held: Promise<void> = Promise.resolve();
  const store = {
    async add({ minute }: Record<SampleStep, number>, { logins, runs }: Sample) {
      await held;
      if (broken === 'add') throw new Error('busy');
      written.push([(minute - start) / 60_000, logins, runs]);
    },
    list: async () => [],
    async trim() {
      if (broken === 'trim') throw new Error('busy');
    },
    async runs(since: number, before?: number) {
      asked.push([since, before]);
      return { queued: 0, running: 0, succeeded: 1, failed: 0 };
    },
    trafficOf: async () => [],
  };
  const activity = new LiveActivity(now);
  const history = createHistory({ store, activity, now: () => now });
  const nextMinute = (logins: number): void => {
    for (let i = 0; i < logins; i += 1) activity.noteLogin('success');
    now += 60_000;
  };
  nextMinute(1);
  await assert.rejects(history.sampleIfDue());
  nextMinute(2);
  await assert.rejects(history.sampleIfDue());
  assert.deepEqual(written, []);
  broken = 'trim';
  await assert.rejects(history.sampleIfDue());
  broken = null;
  await history.sampleIfDue();
  assert.deepEqual(written, [
    [0, 1, 1],
    [1, 2, 1],
  ]);
  assert.deepEqual(asked.at(-1), [start + 60_000, start + 120_000], 'runs of that minute only');
  let release = (): void => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  nextMinute(3);
  const first = history.sampleIfDue();
  nextMinute(4);
  const second = history.sampleIfDue();
  release();
  await Promise.all([first, second]);
  assert.deepEqual(written.slice(2), [
    [2, 3, 1],
    [3, 4, 1],
  ]);
  broken = 'add';
  for (let minute = 0; minute < 1_441; minute += 1) {
    nextMinute(0);
    await assert.rejects(history.sampleIfDue());
  }
  broken = null;
  await history.sampleIfDue();
  assert.equal(written.length, 4 + 1_440, 'a day waits at most');
  assert.equal(written[4]?.[0], 5, 'the oldest went');
});

test('rates and the day: bytes of sessions are counted once, and midnight begins anew', () => {
  let now = Date.UTC(2026, 0, 1, 23, 59, 50);
  const activity = new LiveActivity(now);
  let [up, down] = [0, 0];
  const session = { id: 's', accountId: 'a', bytesUp: () => up, bytesDown: () => down };
  activity.opened(session);
  [up, down] = [1_000, 3_000];
  now += 2_000;
  activity.tick(now);
  assert.deepEqual(activity.rateOf('s'), { up: 500, down: 1_500 });
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 1_000, down: 3_000 });
  now += 100;
  activity.tick(now);
  assert.deepEqual(activity.rate, { up: 500, down: 1_500 }, 'too short a time to measure');
  now += 10_000;
  activity.tick(now);
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 0, down: 0 });
  up = 1_500;
  activity.closed(session);
  assert.deepEqual({ ...activity.todayOf('a') }, { up: 500, down: 0 });
  assert.equal(activity.takeSample().bytesUp, 1_500);
  assert.equal(activity.totals.bytesUp, 1_500);
});

test('logins are grouped for a minute, bounded, and kept when they cannot be written', async () => {
  let now = 1_000_000;
  let isBroken = true;
  const written: LoginEntry[] = [];
  const store = {
    async add(entries: readonly LoginEntry[]) {
      if (isBroken) throw new Error('busy');
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
  assert.equal(log.dropped(), 1);
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
    'the same entry',
  );
  now += 60_000;
  await log.flush();
  fail('1');
  await log.flush();
  assert.deepEqual(
    written.map(({ times }) => times),
    [3, 1, 1],
    'a minute later it is another',
  );
});

test('a blocked source fills neither the log nor the memory, whatever names it tries and for how long', async () => {
  let [now, monotonic] = [Date.UTC(2031, 0, 1), 0];
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
    // One source: a /64.
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
  assert.equal(noted, ATTEMPTS, 'each counts in the numbers of the day');
  // The wall clock may do what it likes.
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
  assert.equal(log.dropped(), 91, 'of blocked sources no more than half');
  log.note('success', 'alice', 'id', '192.0.2.200');
  await log.flush();
  assert.equal(written.at(-1)?.username, 'alice');
});

test('guesses are counted by source, an IPv6 /64 being one, and forgiven in time', () => {
  let now = 0;
  const limit = createAttemptLimit({ maxFailures: 2, windowMs: 1_000, maxSources: 2, now: () => now });
  assert.deepEqual([limit.attempt('a'), limit.attempt('a'), limit.attempt('a')], [null, null, 1_000]);
  assert.equal(limit.attempt('2001:db8::1'), null);
  assert.equal(limit.attempt('2001:db8::2'), null);
  assert.equal(limit.attempt('2001:db8::3'), 1_000);
  now = 1_000;
  assert.equal(limit.attempt('a'), null);
  limit.succeeded('a');
  assert.deepEqual([limit.attempt('a'), limit.attempt('a')], [null, null]);
  limit.succeeded('a');
  assert.deepEqual(
    [limit.attempt('a'), limit.attempt('a')],
    [null, 1_000],
    'only its own attempt is forgiven',
  );
});

test('a timeline joins what is close, and keeps games apart', () => {
  const at = (seconds: number, gameId: string | null) => ({ at: seconds * 1000, gameId });
  assert.deepEqual(stretchesOf([at(0, 'a'), at(30, 'a'), at(30, null), at(60, 'a'), at(200, 'a')], 90_000), [
    { from: 0, to: 60_000, gameId: 'a', heartbeats: 3 },
    { from: 30_000, to: 30_000, gameId: null, heartbeats: 1 },
    { from: 200_000, to: 200_000, gameId: 'a', heartbeats: 1 },
  ]);
});

test('the overview does not fail because searches keep the readers busy', async () => {
  const now = Date.UTC(2031, 0, 1);
  let busy: Error = new QueryTooSlowError('busy');
  const overview = createOverview({
    directory: new AccountDirectory(),
    sessions: new SessionRegistry(),
    activity: new LiveActivity(now),
    samples: { runs: async () => ({ queued: 1, running: 0, succeeded: 0, failed: 0 }) },
    heartbeatSums: { games: () => Promise.reject(busy) },
    now: () => now,
  });
  assert.equal((await overview()).runs.queued, 1);
  busy = new Error('the database is gone');
  const other = createOverview({
    directory: new AccountDirectory(),
    sessions: new SessionRegistry(),
    activity: new LiveActivity(now),
    samples: { runs: async () => ({ queued: 1, running: 0, succeeded: 0, failed: 0 }) },
    heartbeatSums: { games: () => Promise.reject(busy) },
    now: () => now,
  });
  await assert.rejects(other(), /gone/);
});
