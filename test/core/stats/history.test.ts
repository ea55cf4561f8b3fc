// The history of the charts: minutes, hours, days and months.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Calendar } from '../../../src/core/accounts/usage/calendar.js';
import { LiveActivity } from '../../../src/core/accounts/usage/live-activity.js';
import {
  createHistory,
  type Sample,
  type SampleStep,
  type StoredSample,
  stepStarts,
} from '../../../src/core/stats/history.js';

test('a minute is added to its minute, hour, day and month, and charts show means, rates and gaps', async () => {
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
    trafficSince: async () => [],
  };
  const activity = new LiveActivity(now, new Calendar());
  const history = createHistory({
    store,
    activity,
    isFirst: () => true,
    calendar: new Calendar(),
    now: () => now,
  });
  activity.countLogin('success');
  history.observe(10, 2);
  history.observe(20, 4);
  await history.sampleIfDue();
  assert.equal(rows.size, 0, 'the minute has not ended');
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
  assert.deepEqual(stepStarts(now, new Calendar()).month, Date.UTC(2026, 1, 1));
  const { day, month } = stepStarts(now, new Calendar([{ zone: 'Asia/Kathmandu', since: 0 }]));
  assert.deepEqual([new Date(day).getUTCHours(), new Date(day).getUTCMinutes()], [18, 15]);
  assert.equal(month, Date.UTC(2026, 0, 31, 18, 15));
});

test('no minute of the charts is lost or duplicated while the database fails or is slow', async () => {
  const start = Date.UTC(2026, 1, 1, 12, 0);
  let now = start + 1_000;
  const written: [at: number, logins: number, runs: number][] = [];
  const runQueries: [number, number | undefined][] = [];
  let failing: 'add' | 'trim' | null = 'add';
  let pendingWrite: Promise<void> = Promise.resolve();
  const store = {
    async add({ minute }: Record<SampleStep, number>, { logins, runs }: Sample) {
      await pendingWrite;
      if (failing === 'add') throw new Error('busy');
      written.push([(minute - start) / 60_000, logins, runs]);
    },
    list: async () => [],
    async trim() {
      if (failing === 'trim') throw new Error('busy');
    },
    async runs(since: number, before?: number) {
      runQueries.push([since, before]);
      return { queued: 0, running: 0, succeeded: 1, failed: 0 };
    },
    trafficSince: async () => [],
  };
  const activity = new LiveActivity(now, new Calendar());
  const history = createHistory({
    store,
    activity,
    isFirst: () => true,
    calendar: new Calendar(),
    now: () => now,
  });
  const nextMinute = (logins: number): void => {
    for (let i = 0; i < logins; i += 1) activity.countLogin('success');
    now += 60_000;
  };
  nextMinute(1);
  await assert.rejects(history.sampleIfDue());
  nextMinute(2);
  await assert.rejects(history.sampleIfDue());
  assert.deepEqual(written, []);
  failing = 'trim';
  await assert.rejects(history.sampleIfDue());
  failing = null;
  await history.sampleIfDue();
  assert.deepEqual(written, [
    [0, 1, 1],
    [1, 2, 1],
  ]);
  assert.deepEqual(runQueries.at(-1), [start + 60_000, start + 120_000], 'only the runs of that minute');
  let release = (): void => {};
  pendingWrite = new Promise((resolve) => {
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
  failing = 'add';
  for (let minute = 0; minute < 1_441; minute += 1) {
    nextMinute(0);
    await assert.rejects(history.sampleIfDue());
  }
  failing = null;
  await history.sampleIfDue();
  assert.equal(written.length, 4 + 1_440, 'at most the samples of a day wait');
  assert.equal(written[4]?.[0], 5, 'the oldest sample was dropped');
});
