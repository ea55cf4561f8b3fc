// Alone: measures the processor time of its process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PatternError } from '../src/core/heartbeats/game-rules.js';
import { compilePattern } from '../src/games-pattern.js';

test('a match has the text of the group and its end', () => {
  assert.deepEqual(compilePattern('GAMEID=([A-Z0-9]{4,16});').exec('..GAMEID=ABCD;..'), {
    text: 'ABCD',
    end: 13,
  });
  assert.deepEqual(compilePattern('ab+').exec('xabbbx'), { text: 'abbb', end: 5 });
  assert.deepEqual(compilePattern('x(a)?').exec('x'), { text: null, end: 1 });
  assert.equal(compilePattern('^ab').exec('xab'), null);
});

test('a pattern matches each byte as one character', () => {
  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('latin1');
  for (let byte = 0; byte < 256; byte += 1) {
    const pattern = `\\x${byte.toString(16).padStart(2, '0')}`;
    assert.equal(compilePattern(pattern).exec(everyByte)?.end, byte + 1, pattern);
  }
});

test('unsupported patterns are refused with the reason', async (t) => {
  const cases: [string, RegExp][] = [
    ['', /is empty/],
    ['(\\w)\\1', /backreferences/],
    ['(?P<a>x)\\k<a>', /backreferences/],
    ['(?=a)b', /lookahead and lookbehind/],
    ['a(?!b)', /lookahead and lookbehind/],
    ['(?<=a)b', /lookahead and lookbehind/],
    ['(?<!a)b', /lookahead and lookbehind/],
    ['(?>a)', /atomic groups/],
    ['[a', /a closing \] is missing/],
    ['(a', /a closing \) is missing/],
    ['a**', /repetition/],
    ['a{1001}', /repeat count/],
    ['(?:[a-z]{1,200}x){1,5}', /too large/],
  ];
  for (const [pattern, reason] of cases) {
    await t.test(pattern, () => {
      assert.throws(
        () => compilePattern(pattern),
        (error) =>
          error instanceof PatternError &&
          reason.test(error.message) &&
          error.message.includes(JSON.stringify(pattern)),
      );
    });
  }
});

test('patterns that need exponential time by backtracking need linear time', async (t) => {
  const cpuMs = (work: () => void) => {
    const start = process.cpuUsage();
    work();
    return process.cpuUsage(start).user / 1000;
  };
  for (const pattern of ['(a+)+$', '(a|aa)+$', '(.*a){10}$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(x+x+)+y']) {
    await t.test(pattern, () => {
      const compiled = compilePattern(pattern);
      const text = pattern.includes('x') ? 'x'.repeat(4096) : `${'a'.repeat(4095)}!`;
      assert.equal(compiled.exec(text), null);
      // Backtracking would practically never end. The linear search takes some milliseconds.
      assert.ok(cpuMs(() => compiled.exec(text)) < 500);
    });
  }
});
