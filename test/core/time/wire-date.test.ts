// Dates of the API: one format is written, a few formats are read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatWireDate, parseWireDate } from '../../../src/core/time/wire-date.js';
import { scaled } from '../../helpers/scale.js';

const READ: [string, string][] = [
  ['2026-01-02T03:04:05', '2026-01-02T03:04:05'],
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05'],
  ['2026-01-02T03:04:05+08:00', '2026-01-01T19:04:05'],
  ['2026-01-02T03:04:05+0800', '2026-01-01T19:04:05'],
  ['2026-01-02T03:04:05+08', '2026-01-01T19:04:05'],
  ['2026-01-02T03:04:05-05:30', '2026-01-02T08:34:05'],
  ['2026-01-02T03:04:05-00:00', '2026-01-02T03:04:05'],
  ['2026-01-02T03:04:05+23:59', '2026-01-01T03:05:05'],
  ['2026-01-02T03:04:05.1', '2026-01-02T03:04:05'],
  ['2026-01-02T03:04:05.9999999', '2026-01-02T03:04:05'],
  ['2026-01-02T03:04:05.999999999999999999999', '2026-01-02T03:04:05'],
  ['2026-01-02T03:04:05.5+08:00', '2026-01-01T19:04:05'],
  ['2026-01-02T23:59:59.999Z', '2026-01-02T23:59:59'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59'],
  ['2026-01-02', '2026-01-02T00:00:00'],
  ['2024-02-29', '2024-02-29T00:00:00'],
  ['2000-02-29', '2000-02-29T00:00:00'],
  ['0004-02-29', '0004-02-29T00:00:00'],
  ['0001-01-01T00:00:00', '0001-01-01T00:00:00'],
  ['0099-12-31T23:59:59', '0099-12-31T23:59:59'],
  ['9999-12-31T23:59:59', '9999-12-31T23:59:59'],
  ['9999-12-31T23:59:59.9999999', '9999-12-31T23:59:59'], // the maximum date of .NET clients
  ['9999-12-31T23:59:59+00:01', '9999-12-31T23:58:59'],
  ['2016-12-31T23:59:59', '2016-12-31T23:59:59'],
];
for (const [text, written] of READ) {
  test(`${text} is read as ${written}`, () => {
    const ms = parseWireDate(text);
    assert.ok(ms !== null);
    assert.equal(ms % 1000 === 0, true);
    assert.equal(formatWireDate(ms), written);
  });
}

const REFUSED = [
  ...[
    '',
    ' ',
    'now',
    'tomorrow',
    '2026',
    '2026-01',
    '2026-1-2',
    '26-01-02',
    '12026-01-02',
    '+002026-01-02',
    '-002026-01-02',
    '02026-01-02',
  ],
  ...[
    '2026-00-01',
    '2026-13-01',
    '2026-01-00',
    '2026-01-32',
    '2026-04-31',
    '2026-02-29',
    '2026-02-30',
    '1900-02-29',
    '2100-02-29',
    '2023-02-29',
  ],
  ...[
    '0000-01-01',
    '0000-12-31T23:59:59',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '9999-12-31T23:59:59.9-01',
  ],
  ...[
    '2026-01-02T24:00:00',
    '2026-01-02T23:60:00',
    '2026-01-02T23:59:60',
    '2016-12-31T23:59:60Z',
    '2026-01-02T25:00:00',
    '2026-01-02T99:99:99',
  ],
  ...[
    '2026-01-02T03:04',
    '2026-01-02T03',
    '2026-01-02T',
    '2026-01-02T3:4:5',
    '2026-01-02T030405',
    '20260102T030405',
    '2026-W01-5',
    '2026-002',
  ],
  ...[
    '2026-01-02 03:04:05',
    '2026-01-02t03:04:05',
    '2026-01-02T03:04:05z',
    '2026-01-02T03:04:05 Z',
    '2026-01-02T03:04:05 +08:00',
  ],
  ...[
    '2026-01-02T03:04:05.',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04:05,5',
    '2026-01-02T03:04:05.5.5',
    '2026-01-02T03:04:05.1e3',
  ],
  ...[
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05+08:60',
    '2026-01-02T03:04:05+8',
    '2026-01-02T03:04:05+080',
    '2026-01-02T03:04:05+08:0',
  ],
  ...[
    '2026-01-02T03:04:05+08:00:00',
    '2026-01-02T03:04:05ZZ',
    '2026-01-02T03:04:05UTC',
    '2026-01-02T03:04:05+',
    '2026-01-02Z',
    '2026-01-02+08:00',
  ],
  ...[
    ' 2026-01-02',
    '2026-01-02 ',
    '2026-01-02\n',
    '\n2026-01-02',
    '2026-01-02\0',
    '2026/01/02',
    '01/02/2026',
    '02.01.2026',
    '2026-01-02T03:04:05\n',
  ],
  ...[
    '٢٠٢٦-٠١-٠٢',
    '２０２６-01-02',
    'Fri, 02 Jan 2026 03:04:05 GMT',
    'Jan 2, 2026',
    '1767323045',
    '1767323045000',
    '/Date(1767323045000)/',
    'null',
    'NaN',
  ],
  ...[
    '2026-01-02T03:04:05[UTC]',
    '2026-01-02T03:04:05+08:00[Asia/Shanghai]',
    '2026\u201301\u201302',
    '2026-01-02T-3:04:05',
    '2026-01--2',
  ],
];
for (const text of REFUSED) {
  test(`${JSON.stringify(text)} is not a date`, () => assert.equal(parseWireDate(text), null));
}

test('the time zone of this machine has no effect', () => {
  const zone = process.env['TZ'];
  for (const other of ['Asia/Shanghai', 'America/St_Johns', 'Europe/Berlin']) {
    process.env['TZ'] = other;
    // 02:30 on that day does not exist in Berlin.
    assert.equal(parseWireDate('2026-03-29T02:30:00'), Date.UTC(2026, 2, 29, 2, 30));
    assert.equal(formatWireDate(Date.UTC(2026, 2, 29, 2, 30)), '2026-03-29T02:30:00');
  }
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

test('every date that can be written is read back, to the second', () => {
  fc.assert(
    fc.property(fc.integer({ min: EARLIEST, max: LATEST }), (ms) => {
      const text = formatWireDate(ms);
      assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
      assert.equal(parseWireDate(text), Math.floor(ms / 1000) * 1000);
      assert.equal(parseWireDate(`${text}Z`), parseWireDate(text));
    }),
    { numRuns: scaled(600) },
  );
});

test('a date is read as by Date.UTC, and a part that Date.UTC would carry over is refused', () => {
  const two = (max: number) => fc.nat(max);
  const parts = fc.tuple(fc.integer({ min: 100, max: 9999 }), two(14), two(33), two(25), two(61), two(61));
  const pad = (value: number, width = 2) => String(value).padStart(width, '0');
  fc.assert(
    fc.property(parts, ([year, month, day, hour, minute, second]) => {
      const text = `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}:${pad(second)}`;
      const ms = Date.UTC(year, month - 1, day, hour, minute, second);
      const exists = new Date(ms).toISOString() === `${text}.000Z`;
      assert.equal(parseWireDate(text), exists ? ms : null, text);
    }),
    { numRuns: scaled(1_000) },
  );
});

test('any text is a date or null', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[-0-9T:.Z+ ]{0,40}$/));
  fc.assert(
    fc.property(texts, (text) => ['number', 'object'].includes(typeof parseWireDate(text))),
    { numRuns: scaled(600) },
  );
});

for (const ms of [
  EARLIEST - 1,
  LATEST + 1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  8.64e15,
]) {
  test(`${ms} ms cannot be written`, () => assert.throws(() => formatWireDate(ms), RangeError));
}
