// Days and quota periods: in UTC over many dates, in zones with daylight saving, and when the zone changes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Calendar } from '../../../../src/core/accounts/usage/calendar.js';
import { QUOTA_PERIODS } from '../../../../src/core/accounts/usage/limits.js';

const utc = (text: string) => Date.parse(`${text}Z`);

const HOUR_MS = 3_600_000;

describe('quota periods', () => {
  const calendar = new Calendar();

  for (const [period, now, start, end] of [
    ['day', '2024-02-29T23:59:59.999', '2024-02-29T00:00', '2024-03-01T00:00'],
    ['day', '2024-03-01T00:00:00.000', '2024-03-01T00:00', '2024-03-02T00:00'],
    ['week', '2024-03-03T23:59:59.999', '2024-02-26T00:00', '2024-03-04T00:00'],
    ['week', '2024-03-04T00:00:00.000', '2024-03-04T00:00', '2024-03-11T00:00'],
    ['week', '1970-01-01T00:00:00.000', '1969-12-29T00:00', '1970-01-05T00:00'],
    ['month', '2023-12-31T23:59:59.999', '2023-12-01T00:00', '2024-01-01T00:00'],
    ['month', '2024-02-01T00:00:00.000', '2024-02-01T00:00', '2024-03-01T00:00'],
  ] as const) {
    it(`${now} is in the ${period} from ${start}`, () => {
      assert.equal(calendar.periodStart(period, utc(now)), utc(start));
      assert.equal(calendar.periodEnd(period, utc(now)), utc(end));
    });
  }

  it('follow one another without gaps, and contain the moment for which they are asked', () => {
    for (let now = utc('1999-12-25T00:00'); now < utc('2030-01-05T00:00'); now += 7 * 3_600_000 + 12_345) {
      for (const period of QUOTA_PERIODS) {
        const start = calendar.periodStart(period, now);
        const end = calendar.periodEnd(period, now);
        if (period === 'never') {
          assert.deepEqual([start, end], [null, null]);
          continue;
        }
        assert.ok(start !== null && end !== null && start <= now && now < end);
        assert.equal(calendar.periodStart(period, end), end);
        assert.equal(calendar.periodEnd(period, end - 1), end);
        if (period === 'week') assert.equal(new Date(start).getUTCDay(), 1);
        if (period === 'month') assert.equal(new Date(start).getUTCDate(), 1);
        assert.equal(start % 86_400_000, 0);
      }
      assert.equal(
        new Date(calendar.dayOf(now) * 86_400_000).toISOString().slice(0, 10),
        new Date(now).toISOString().slice(0, 10),
      );
    }
  });

  it('count from a reset that is later than their start', () => {
    const now = utc('2024-05-15T12:00');
    assert.equal(calendar.countedSince('day', utc('2024-05-14T12:00'), now), utc('2024-05-15T00:00'));
    assert.equal(calendar.countedSince('day', utc('2024-05-15T11:00'), now), utc('2024-05-15T11:00'));
    assert.equal(calendar.countedSince('never', utc('2020-05-15T11:00'), now), utc('2020-05-15T11:00'));
    assert.equal(calendar.countedSince('never', null, now), null);
  });
});

describe('days of a zone', () => {
  for (const [zone, now, hours, from] of [
    ['Asia/Shanghai', '2026-11-23T17:00', 24, '2026-11-23T16:00'],
    ['Asia/Kathmandu', '2026-11-23T18:14', 24, '2026-11-22T18:15'],
    ['Europe/Berlin', '2026-03-29T12:00', 23, '2026-03-28T23:00'],
    ['Europe/Berlin', '2026-10-25T12:00', 25, '2026-10-24T22:00'],
    // Clocks skip midnight: the day begins at 01:00.
    ['America/Santiago', '2026-09-06T12:00', 23, '2026-09-06T04:00'],
    // Clocks are set back at the end of the day, to 23:00, and over midnight.
    ['America/Santiago', '2026-04-04T12:00', 25, '2026-04-04T03:00'],
    ['America/Havana', '2026-11-01T12:00', 25, '2026-11-01T04:00'],
    ['America/St_Johns', '2006-10-29T12:00', 25, '2006-10-29T02:30'],
    // The next day of the calendar does not exist.
    ['Pacific/Apia', '2011-12-30T01:00', 24, '2011-12-29T10:00'],
  ] as const) {
    it(`${zone} has ${hours} hours from ${from}`, () => {
      const calendar = new Calendar([{ zone, since: 0 }]);
      const start = utc(from);
      const [day, end] = [calendar.dayOf(utc(now)), start + hours * HOUR_MS];
      assert.deepEqual(
        [calendar.periodStart('day', utc(now)), calendar.periodEnd('day', utc(now))],
        [start, end],
      );
      assert.deepEqual(
        [calendar.startOfDay(day), calendar.dayOf(start), calendar.dayOf(end - 1)],
        [start, day, day],
      );
      assert.ok(calendar.dayOf(start - 1) < day && calendar.dayOf(end) > day);
      assert.equal(calendar.periods('day', utc(now), end - 1), 1);
    });
  }
});

describe('a change of the zone', () => {
  const at = utc('2026-11-23T10:00');

  for (const [zone, ends] of [
    ['Asia/Shanghai', { day: '2026-11-23T16:00', week: '2026-11-29T16:00', month: '2026-11-30T16:00' }],
    ['America/Los_Angeles', { day: '2026-11-24T08:00', week: '2026-11-30T08:00', month: '2026-12-01T08:00' }],
  ] as const) {
    it(`to ${zone} lets running periods end at its first boundary`, () => {
      const calendar = new Calendar();
      const starts = { day: '2026-11-23T00:00', week: '2026-11-23T00:00', month: '2026-11-01T00:00' };
      const before = calendar.dayOf(at - 1);
      calendar.setZones([{ zone, since: at }]);
      for (const period of ['day', 'week', 'month'] as const) {
        assert.equal(calendar.periodStart(period, at - 1), utc(starts[period]));
        assert.equal(calendar.periodStart(period, at), utc(starts[period]));
        assert.equal(calendar.periodEnd(period, at), utc(ends[period]));
        assert.equal(calendar.periodStart(period, utc(ends[period])), utc(ends[period]));
      }
      assert.deepEqual(calendar.dateOf(before), { date: '2026-11-23', zone: 'UTC' });
      assert.deepEqual(calendar.dateOf(calendar.dayOf(at)), { date: '2026-11-23', zone });
      assert.equal(calendar.startOfDay(calendar.dayOf(at)), at);
    });
  }

  it('of any kind and any number leaves no gap, and no day belongs to two periods', () => {
    const zones = [
      'UTC',
      'Asia/Shanghai',
      'America/Santiago',
      'Europe/Berlin',
      'Pacific/Kiritimati',
      'Asia/Kathmandu',
    ];
    const changes = fc.array(fc.tuple(fc.constantFrom(...zones), fc.integer({ min: 0, max: 3_000 })), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(changes, fc.constantFrom('day', 'week', 'month'), (made, period) => {
        let since = utc('2026-01-10T00:00');
        const changed = made.map(([zone, hours]) => {
          since += hours * HOUR_MS + 1;
          return { zone, since };
        });
        const calendar = new Calendar(changed);
        let end = calendar.periodStart(period, utc('2026-01-01T00:00')) ?? 0;
        for (let day = -1; end < since; ) {
          const start = end;
          assert.equal(calendar.periodStart(period, start), start);
          // Through all days of the period, which may have several zones.
          let now = start;
          for (;;) {
            assert.equal(calendar.periodStart(period, now), start);
            assert.ok(calendar.dayOf(now) > day, 'days are in order');
            day = calendar.dayOf(now);
            assert.equal(calendar.startOfDay(day), now);
            assert.ok(day >= (calendar.firstDay(period, now) ?? 0));
            const change = changed.find((each) => each.since > now)?.since ?? Infinity;
            const next = Math.min(change, calendar.periodEnd('day', now) ?? 0);
            assert.equal(calendar.dayOf(next - 1), day);
            if (calendar.periodStart(period, next) !== start) {
              assert.equal(calendar.periodEnd(period, start), next);
              end = next;
              break;
            }
            now = next;
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});
