// Schedules of accounts: their format, and when they are open.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSchedules, nextChange, parseSchedule } from '../../../../src/core/accounts/access/schedule.js';

const TEXTS: [text: string, stored: string | null][] = [
  ['mon-fri 08:00-23:00; sat,sun 00:00-24:00', 'mon-fri 08:00-23:00; sat,sun 00:00-24:00'],
  [' MON - Fri  8:00 - 12:00 , 14:00-23:00 ;', 'mon-fri 08:00-12:00,14:00-23:00'],
  ['fri-mon 22:00-02:00', 'fri-mon 22:00-02:00'],
  ['tue-tue 00:00-24:00', 'tue 00:00-24:00'],
  ['mon 08:00-09:00\nwed 10:00-11:00', 'mon 08:00-09:00; wed 10:00-11:00'],
  ['', null],
  ['mon', null],
  ['08:00-09:00', null],
  ['mon 08:00', null],
  ['mon 08:00-08:00', null],
  ['mon 24:00-08:00', null],
  ['mon 08:00-24:01', null],
  ['mon 08:60-09:00', null],
  ['mon-tue-wed 08:00-09:00', null],
  ['moon 08:00-09:00', null],
  ['mon 08:00-09:00; x', null],
  [`mon ${'08:00-09:00,'.repeat(30)}`, null],
];

for (const [text, stored] of TEXTS)
  test(`${JSON.stringify(text.slice(0, 60))} is ${stored ?? 'not a schedule'}`, () =>
    assert.equal(parseSchedule(text)?.text ?? null, stored));

// 2026-11-23 is a Monday.
const STATES: [text: string, zone: string, at: string, isOpen: boolean, next: string | null][] = [
  ['mon-fri 08:00-23:00', 'UTC', '2026-11-23T07:59:59.999Z', false, '2026-11-23T08:00:00.000Z'],
  ['mon-fri 08:00-23:00', 'UTC', '2026-11-23T08:00:00.000Z', true, '2026-11-23T23:00:00.000Z'],
  ['mon-fri 08:00-23:00', 'UTC', '2026-11-27T23:00:00.000Z', false, '2026-11-30T08:00:00.000Z'],
  ['mon-fri 08:00-23:00', 'Asia/Shanghai', '2026-11-23T00:00:00.000Z', true, '2026-11-23T15:00:00.000Z'],
  ['sun 22:00-02:00', 'UTC', '2026-11-22T23:00:00.000Z', true, '2026-11-23T02:00:00.000Z'],
  ['mon-sun 00:00-24:00', 'UTC', '2026-11-23T00:00:00.000Z', true, null],
  ['sat,sun 00:00-24:00', 'UTC', '2026-11-21T12:00:00.000Z', true, '2026-11-23T00:00:00.000Z'],
  ['mon 08:00-12:00; mon 12:00-13:00', 'UTC', '2026-11-23T09:00:00.000Z', true, '2026-11-23T13:00:00.000Z'],
  // Clocks in Berlin are set from 02:00 to 03:00 on 2026-03-29, and from 03:00 to 02:00 on 2026-10-25.
  ['sun 01:30-02:30', 'Europe/Berlin', '2026-03-29T00:45:00.000Z', true, '2026-03-29T01:00:00.000Z'],
  ['sun 02:30-03:30', 'Europe/Berlin', '2026-03-29T00:45:00.000Z', false, '2026-03-29T01:00:00.000Z'],
  ['sun 02:15-02:45', 'Europe/Berlin', '2026-10-25T00:20:00.000Z', true, '2026-10-25T00:45:00.000Z'],
  ['sun 02:15-02:45', 'Europe/Berlin', '2026-10-25T00:50:00.000Z', false, '2026-10-25T01:15:00.000Z'],
  ['sun 01:00-02:30', 'Europe/Berlin', '2026-10-25T00:40:00.000Z', false, '2026-10-25T01:00:00.000Z'],
];

for (const [text, zone, at, isOpen, next] of STATES)
  test(`${text} in ${zone} is ${isOpen ? 'open' : 'closed'} at ${at}`, () => {
    const schedules = createSchedules(zone);
    assert.equal(schedules.isOpen(text, Date.parse(at)), isOpen);
    const change = schedules.nextChange(text, Date.parse(at));
    assert.equal(change === null ? null : new Date(change).toISOString(), next);
  });

const day = fc.constantFrom('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun');
const time = fc.integer({ min: 0, max: 95 }).map((quarter) => {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(quarter / 4))}:${two((quarter % 4) * 15)}`;
});
const entry = fc
  .tuple(day, day, time, time)
  .filter(([, , start, end]) => start !== end)
  .map(([first, last, start, end]) => `${first}-${last} ${start}-${end}`);
const texts = fc.array(entry, { minLength: 1, maxLength: 4 }).map((entries) => entries.join('; '));
const zones = fc.constantFrom(
  'UTC',
  'Asia/Shanghai',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'America/St_Johns',
);

test('the stored text of a schedule is read as the same schedule', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const read = parseSchedule(text);
      assert.ok(read);
      assert.deepEqual(parseSchedule(read.text), read);
    }),
  );
});

test('the state changes at the next change, and not before it', () => {
  // Around the two changes of summer time in 2026.
  const at = fc.oneof(
    fc.date({
      min: new Date('2026-03-25T00:00:00Z'),
      max: new Date('2026-04-06T00:00:00Z'),
      noInvalidDate: true,
    }),
    fc.date({
      min: new Date('2026-10-22T00:00:00Z'),
      max: new Date('2026-11-03T00:00:00Z'),
      noInvalidDate: true,
    }),
  );
  fc.assert(
    fc.property(
      texts,
      zones,
      at,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (text, zone, date, fraction) => {
        const schedule = parseSchedule(text);
        assert.ok(schedule);
        const from = date.getTime();
        const isOpen = (time: number) => createSchedules(zone).isOpen(text, time);
        const next = nextChange(schedule, from, zone);
        const until = next ?? from + 7 * 86_400_000;
        const between = Math.min(until - 1, Math.floor(from + fraction * (until - from)));
        assert.equal(isOpen(between), isOpen(from));
        if (next !== null) assert.notEqual(isOpen(next), isOpen(from));
      },
    ),
    { numRuns: 300 },
  );
});

test('a schedule is evaluated correctly after the clock is set back', () => {
  const schedules = createSchedules('UTC');
  const text = 'mon 08:00-09:00';
  assert.equal(schedules.isOpen(text, Date.parse('2026-11-23T09:00:00Z')), false);
  assert.equal(schedules.isOpen(text, Date.parse('2026-11-23T08:59:59Z')), true);
  assert.equal(schedules.isOpen(text, Date.parse('2026-11-23T07:00:00Z')), false);
  assert.equal(schedules.isOpen(null, 0), true);
});
