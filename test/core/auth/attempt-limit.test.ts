// The limit of failed attempts per source.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAttemptLimit } from '../../../src/core/auth/attempt-limit.js';

test('failures are counted per source (IPv6: per /64), and reset after the window', () => {
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
    'a success removes only its own attempt',
  );
});
