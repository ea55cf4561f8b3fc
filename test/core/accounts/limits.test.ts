// Quota periods: days, weeks and months in UTC, over many dates.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  countedSince,
  dayOf,
  periodEnd,
  periodStart,
  QUOTA_PERIODS,
} from '../../../src/core/accounts/limits.js';

const utc = (text: string) => Date.parse(`${text}Z`);

describe('quota periods', () => {
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
      assert.equal(periodStart(period, utc(now)), utc(start));
      assert.equal(periodEnd(period, utc(now)), utc(end));
    });
  }

  it('follow one another without gaps, and contain the moment for which they are asked', () => {
    for (let now = utc('1999-12-25T00:00'); now < utc('2030-01-05T00:00'); now += 7 * 3_600_000 + 12_345) {
      for (const period of QUOTA_PERIODS) {
        const start = periodStart(period, now);
        const end = periodEnd(period, now);
        if (period === 'never') {
          assert.deepEqual([start, end], [null, null]);
          continue;
        }
        assert.ok(start !== null && end !== null && start <= now && now < end);
        assert.equal(periodStart(period, end), end);
        assert.equal(periodEnd(period, end - 1), end);
        if (period === 'week') assert.equal(new Date(start).getUTCDay(), 1);
        if (period === 'month') assert.equal(new Date(start).getUTCDate(), 1);
        assert.equal(start % 86_400_000, 0);
      }
      assert.equal(
        new Date(dayOf(now) * 86_400_000).toISOString().slice(0, 10),
        new Date(now).toISOString().slice(0, 10),
      );
    }
  });

  it('count from a reset that is later than their start', () => {
    const now = utc('2024-05-15T12:00');
    assert.equal(countedSince('day', utc('2024-05-14T12:00'), now), utc('2024-05-15T00:00'));
    assert.equal(countedSince('day', utc('2024-05-15T11:00'), now), utc('2024-05-15T11:00'));
    assert.equal(countedSince('never', utc('2020-05-15T11:00'), now), utc('2020-05-15T11:00'));
    assert.equal(countedSince('never', null, now), null);
  });
});
