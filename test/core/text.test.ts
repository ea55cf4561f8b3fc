// Text of clients in a log line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { printable } from '../../src/core/text.js';
import { scaled } from '../helpers/scale.js';

const SHOWN: [string, string][] = [
  ['', ''],
  ['plain text', 'plain text'],
  ['玩家 ñ 🎮', '玩家 ñ 🎮'],
  ['a\nb\r\tc', 'a\\x0ab\\x0d\\x09c'],
  ['\0\x1b[31m\x7f', '\\x00\\x1b[31m\\x7f'],
  ['\x85\x9b\xad', '\\x85\\x9b\\xad'],
  ['\u2028\u2029', '\\u{2028}\\u{2029}'],
  ['a\u202eb\u2066c\u200ed\u061c', 'a\\u{202e}b\\u{2066}c\\u{200e}d\\u{61c}'],
  ['\u200b\ufeff', '\\u{200b}\\u{feff}'],
  ['\ud800a\udc00', '\\u{d800}a\\u{dc00}'],
  ['\u{e0041}', '\\u{e0041}'],
  ['back\\slash "quote"', 'back\\slash "quote"'],
];
for (const [text, shown] of SHOWN) {
  test(`${JSON.stringify(text)} is printed as ${shown}`, () => assert.equal(printable(text), shown));
}

test('long text is cut after a whole character or escape', () => {
  assert.equal(printable('abcdef', 6), 'abcdef');
  assert.equal(printable('abcdefg', 6), 'abcde…');
  assert.equal(printable('abc🎮🎮', 6), 'abc🎮…');
  assert.equal(printable('abcd🎮🎮', 6), 'abcd…');
  assert.equal(printable('ab\n\n', 7), 'ab\\x0a…');
  assert.equal(printable('ab\n\n', 6), 'ab…');
  assert.equal(printable('a'.repeat(1000)).length, 256);
});

test('the result has no control characters and at most the maximum length, and printing it again does not change it', () => {
  const texts = fc.string({
    unit: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 1 }),
      fc.integer({ min: 0xd700, max: 0xe000 }).map((code) => String.fromCharCode(code)),
    ),
  });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 80 }), (text, maxLength) => {
      const shown = printable(text, maxLength);
      assert.ok(shown.length <= maxLength);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      assert.equal(printable(shown, maxLength), shown);
    }),
    { numRuns: scaled(600) },
  );
});
