// User names of many accounts from a pattern.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOfPattern } from '../../../src/http/v1/accounts/batch.js';

test('a pattern has one range of numbers, of at most the maximum number of names', () => {
  assert.deepEqual(namesOfPattern('a{08-11}b', 10), ['a08b', 'a09b', 'a10b', 'a11b']);
  assert.deepEqual(namesOfPattern('{9-11}', 10), ['9', '10', '11']);
  assert.equal(namesOfPattern('a{1-10}', 10)?.length, 10);
  for (const invalid of ['a', 'a{1-11}', 'a{2-1}', 'a{1-2}{1-2}', 'a{-1-2}', 'a{1-}', '{x-y}'])
    assert.equal(namesOfPattern(invalid, 10), null, invalid);
});
