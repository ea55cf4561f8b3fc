// One-time codes (RFC 6238) and their secrets in base32 (RFC 4648).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchTotp, toBase32, totpCode, totpStep } from '../../../src/core/auth/totp.js';

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

test('a code is valid for the previous and next step, and only once', () => {
  const secret = Buffer.from('12345678901234567890');
  const now = 1_900_000_000_000;
  const step = totpStep(now);
  const found = [-2, -1, 0, 1, 2].map((difference) =>
    matchTotp(secret, totpCode(secret, step + difference), now, 0),
  );
  assert.deepEqual(found, [null, step - 1, step, step + 1, null]);
  assert.equal(matchTotp(secret, totpCode(secret, step), now, step), null);
  assert.equal(matchTotp(secret, '', now, 0), null);
});

test('base32 is that of RFC 4648', () => {
  const texts = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => toBase32(Buffer.from(text)));
  assert.deepEqual(texts, ['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI']);
});
