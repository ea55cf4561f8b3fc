// Stored passwords: the two formats, and malformed ones.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  hashPassword,
  isPasswordHash,
  isSalted,
  verifyAgainstDummy,
  verifyPassword,
} from '../../../../src/core/accounts/access/password.js';

const SALT = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
const sha256 = (...parts: (string | Buffer)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

test('the stored form is SHA-256 over salt and password', () => {
  assert.equal(hashPassword('secret', SALT), `sha256$${SALT.toString('hex')}$${sha256(SALT, 'secret')}`);
  assert.equal(
    hashPassword('密码', SALT),
    `sha256$${SALT.toString('hex')}$${sha256(SALT, Buffer.from('密码'))}`,
  );
  assert.equal(hashPassword(Buffer.from('密码'), SALT), hashPassword('密码', SALT));
});

test('a salt is random unless given', () => {
  const [one, other] = [hashPassword('secret'), hashPassword('secret')];
  assert.match(one, /^sha256\$[0-9a-f]{32}\$[0-9a-f]{64}$/);
  assert.notEqual(one, other);
  assert.ok(verifyPassword('secret', one) && verifyPassword('secret', other));
});

test('a digest without salt from an import is accepted, in lower and upper case', () => {
  const digest = sha256('secret');
  for (const stored of [digest, digest.toUpperCase()]) {
    assert.equal(verifyPassword('secret', stored), true);
    assert.equal(verifyPassword('Secret', stored), false);
    assert.equal(isSalted(stored), false);
    assert.equal(isPasswordHash(stored), true);
  }
  assert.equal(isSalted(hashPassword('secret')), true);
  assert.equal(isPasswordHash(hashPassword('secret')), true);
});

const salted = hashPassword('secret', SALT);
const MALFORMED = [
  ...[
    '',
    ' ',
    'secret',
    '$',
    '$$',
    'sha256$$',
    'sha256$',
    sha256('secret').slice(1),
    `${sha256('secret')}0`,
    ` ${sha256('secret')}`,
    `${sha256('secret')}\n`,
  ],
  ...[
    salted.slice(0, -1),
    `${salted}0`,
    `${salted}\n`,
    `${salted}$`,
    salted.replace('sha256', 'sha512'),
    salted.replace('$', ':'),
    salted.replace('$00', '$0'),
  ],
  ...[
    `sha256$$${sha256('secret')}`,
    `$${SALT.toString('hex')}$${sha256(SALT, 'secret')}`,
    'g'.repeat(64),
    '$2b$10$abcdefghijklmnopqrstuv',
    '0'.repeat(63),
  ],
];
for (const stored of MALFORMED) {
  test(`the malformed hash ${JSON.stringify(stored)} matches no password`, () => {
    for (const password of ['secret', '', stored]) assert.equal(verifyPassword(password, stored), false);
    assert.equal(isSalted(stored), false);
    assert.equal(isPasswordHash(stored), false);
  });
}

test('only the exact password matches', () => {
  const passwords = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.string({ minLength: 200, maxLength: 255 }),
  );
  fc.assert(
    fc.property(passwords, passwords, (password, other) => {
      const stored = hashPassword(password);
      assert.equal(verifyPassword(password, stored), true);
      assert.equal(verifyPassword(other, stored), other === password);
      assert.equal(verifyPassword(`${password}\0`, stored), false);
      assert.equal(verifyPassword(password, sha256(password)), true);
      assert.equal(verifyAgainstDummy(password), false);
    }),
  );
});
