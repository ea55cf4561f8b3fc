// The rules behind the operator's desk: codes, cursors, patterns, history, logins, timelines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LiveActivity } from '../../src/core/accounts/live-activity.js';
import { createLoginLog, type LoginEntry } from '../../src/core/accounts/login-log.js';
import { namesOfPattern } from '../../src/core/accounts/name-pattern.js';
import { createFailureLimit } from '../../src/core/operator/failure-limit.js';
import {
  createHistory,
  type Sample,
  type SampleStep,
  type StoredSample,
  stepStarts,
} from '../../src/core/operator/history.js';
import { stretchesOf } from '../../src/core/operator/timeline.js';
import { matchTotp, toBase32, totpCode, totpStep } from '../../src/core/operator/totp.js';
import { parseWhitelist } from '../../src/core/operator/whitelist.js';
import { explainWhitelist } from '../../src/core/operator/whitelist-explain.js';
import { pageOfSorted } from '../../src/core/sorted-page.js';

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
  const log = createLoginLog({ store, now: () => now, maxGroups: 2, onNote: () => {} });
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

test('guesses are counted by source, an IPv6 /64 being one, and forgiven in time', () => {
  let now = 0;
  const limit = createFailureLimit({ maxFailures: 2, windowMs: 1_000, maxSources: 2, now: () => now });
  assert.deepEqual([limit.attempt('a'), limit.attempt('a'), limit.attempt('a')], [null, null, 1_000]);
  assert.equal(limit.attempt('2001:db8::1'), null);
  assert.equal(limit.attempt('2001:db8::2'), null);
  assert.equal(limit.attempt('2001:db8::3'), 1_000);
  now = 1_000;
  assert.equal(limit.attempt('a'), null);
  limit.undo('a');
  assert.deepEqual([limit.attempt('a'), limit.attempt('a')], [null, null]);
});

test('a timeline joins what is close, and keeps games apart', () => {
  const at = (seconds: number, gameId: string | null) => ({ at: seconds * 1000, gameId });
  assert.deepEqual(stretchesOf([at(0, 'a'), at(30, 'a'), at(30, null), at(60, 'a'), at(200, 'a')], 90_000), [
    { from: 0, to: 60_000, gameId: 'a', heartbeats: 3 },
    { from: 30_000, to: 30_000, gameId: null, heartbeats: 1 },
    { from: 200_000, to: 200_000, gameId: 'a', heartbeats: 1 },
  ]);
});
