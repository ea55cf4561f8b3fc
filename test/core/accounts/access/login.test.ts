// A player's login: every reason for a refusal, and the same amount of work for each.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { createLogin } from '../../../../src/core/accounts/access/login.js';
import { hashPassword } from '../../../../src/core/accounts/access/password.js';
import { createSchedules } from '../../../../src/core/accounts/access/schedule.js';
import type { Account } from '../../../../src/core/accounts/account.js';
import { AccountDirectory } from '../../../../src/core/accounts/directory.js';
import { secretsOf } from '../../../../src/core/accounts/player/subscription.js';
import { NO_GEO } from '../../../../src/core/addresses/geo.js';
import { account as someAccount } from '../../../helpers/account.js';

const NOW = Date.UTC(2026, 0, 1);
const bareDigest = (password: string) => crypto.createHash('sha256').update(password).digest('hex');
const account = (username: string, fields: Partial<Account> = {}): Account =>
  someAccount({
    id: `id-${username}`,
    username,
    passwordHash: hashPassword('secret'),
    createdAt: 0,
    ...fields,
  });

const LINK = secretsOf('a token of a link');
const link = { hash: LINK.hash, createdAt: 0 };

const weekday = new Date(NOW + 2 * 86_400_000).toUTCString().slice(0, 3).toLowerCase();
const DAY_AFTER_TOMORROW = `${weekday} 00:00-24:00`;
const directory = new AccountDirectory();
directory.load([
  account('player'),
  account('玩家'),
  account('imported', { passwordHash: bareDigest('secret') }),
  account('disabled', { isEnabled: false }),
  account('expired', { expiresAt: NOW }),
  account('expiring', { expiresAt: NOW + 1 }),
  account('both', { isEnabled: false, expiresAt: NOW - 1 }),
  account('allowed', { allowedClients: ['203.0.113.0/24'] }),
  account('not-allowed', { allowedClients: ['198.51.100.0/24'] }),
  account('off-schedule', { schedule: DAY_AFTER_TOMORROW }),
  account('broken', { passwordHash: 'nonsense' }),
  account('\ufffd'),
  account('linked', { link }),
  account('linked-and-expired', { link, expiresAt: NOW }),
]);
const access = { schedules: createSchedules('UTC'), geo: NO_GEO };
const logIn = createLogin({ directory, access, now: () => NOW });
const CLIENT = '203.0.113.7';
const attempt = (username: string | Uint8Array, password: string | Uint8Array = 'secret', client = CLIENT) =>
  logIn(Buffer.from(username), Buffer.from(password), client);

const CASES: [string, string | Uint8Array, string | Uint8Array, string][] = [
  ['the right password', 'player', 'secret', 'ok'],
  ['a name in UTF-8', '玩家', 'secret', 'ok'],
  ['a wrong password', 'player', 'Secret', 'wrong-password'],
  ['an empty password', 'player', '', 'wrong-password'],
  ['a longer password', 'player', 'secret\0', 'wrong-password'],
  ['a password that is not UTF-8', 'player', Uint8Array.of(0xff), 'wrong-password'],
  ['an unknown user name', 'nobody', 'secret', 'unknown-user'],
  ['a name in another case', 'Player', 'secret', 'unknown-user'],
  ['a space at the end', 'player ', 'secret', 'unknown-user'],
  ['a NUL at the end', 'player\0', 'secret', 'unknown-user'],
  ['a byte order mark at the beginning', '\ufeffplayer', 'secret', 'unknown-user'],
  ['an empty name', '', 'secret', 'unknown-user'],
  ['a name that is not UTF-8', Uint8Array.of(0xff), 'secret', 'unknown-user'], // and not the account named U+FFFD
  ['an overlong encoding', Uint8Array.of(0xc1, 0xb0), 'secret', 'unknown-user'],
  ['a disabled account', 'disabled', 'secret', 'disabled'],
  ['a disabled account, wrong password', 'disabled', 'wrong', 'wrong-password'],
  ['an expired account', 'expired', 'secret', 'expired'],
  ['an expired account, wrong password', 'expired', 'wrong', 'wrong-password'],
  ['an account in its last millisecond', 'expiring', 'secret', 'ok'],
  ['a disabled and expired account', 'both', 'secret', 'disabled'],
  ['an allowed client', 'allowed', 'secret', 'ok'],
  ['a client that is not allowed', 'not-allowed', 'secret', 'client-not-allowed'],
  ['a client that is not allowed, wrong password', 'not-allowed', 'wrong', 'wrong-password'],
  ['an account outside its schedule', 'off-schedule', 'secret', 'outside-schedule'],
  ['an account outside its schedule, wrong password', 'off-schedule', 'wrong', 'wrong-password'],
  ['a malformed stored password', 'broken', 'nonsense', 'wrong-password'],
  ['an imported password', 'imported', 'secret', 'ok'],
];
for (const [name, username, password, expected] of CASES) {
  test(`a login with ${name} has the result ${expected}`, () => {
    const result = attempt(username, password);
    assert.equal(result.ok ? 'ok' : result.reason, expected);
  });
}

/** Counts calls of the functions of node:crypto that take time. */
function countCrypto(t: TestContext) {
  const names = [
    'hash',
    'createHash',
    'createHmac',
    'timingSafeEqual',
    'randomBytes',
    'pbkdf2Sync',
    'scryptSync',
  ];
  const mocks = names.map((name) => t.mock.method(crypto, name as 'hash'));
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return {
    /** Returns the calls during `work`: the name, and the number of bytes of each buffer. */
    callsOf(work: () => void): string[] {
      for (const mock of mocks) mock.mock.resetCalls();
      work();
      return mocks.flatMap((mock, i) =>
        mock.mock.calls.map(({ arguments: args }) =>
          [names[i], ...args.map((arg) => (Buffer.isBuffer(arg) ? arg.length : arg))].join(' '),
        ),
      );
    },
  };
}

test('every login computes exactly one digest, for every result', (t) => {
  const { callsOf } = countCrypto(t);
  for (const [name, username, password] of CASES) {
    const calls = callsOf(() => attempt(username, password));
    assert.deepEqual(
      calls.map((call) => call.split(' ')[0]),
      ['hash', 'timingSafeEqual'],
      name,
    );
  }
});

test('the password of a link logs in to its account only, beside the own one, until the link is another', () => {
  const linkOf = (username: string, password: string) => {
    const result = attempt(username, password);
    return result.ok ? result.linkHash : result.reason;
  };
  assert.equal(linkOf('linked', LINK.password), LINK.hash);
  assert.equal(linkOf('linked', 'secret'), null);
  assert.equal(linkOf('linked-and-expired', LINK.password), 'expired');
  assert.equal(linkOf('player', LINK.password), 'wrong-password');
  assert.equal(linkOf('linked', secretsOf('another token').password), 'wrong-password');
  assert.match(LINK.password, /^link-[\w-]{20}$/);
});

test('a guess in the form of the password of a link costs the same for every account, and a right own password may have the form', (t) => {
  const { callsOf } = countCrypto(t);
  const guess = secretsOf('a guess').password;
  const of = (username: string) => callsOf(() => attempt(username, guess));
  assert.equal(of('nobody').length, 4);
  for (const username of ['player', 'linked', 'disabled', 'linked-and-expired', 'broken'])
    assert.deepEqual(of(username), of('nobody'), username);
  const similar = new AccountDirectory();
  similar.load([account('similar', { link, passwordHash: hashPassword(guess) })]);
  const result = createLogin({ directory: similar, access, now: () => NOW })(
    Buffer.from('similar'),
    Buffer.from(guess),
    CLIENT,
  );
  assert.equal(result.ok && result.linkHash, null);
});

test('an unknown user, a wrong password, a disabled and an expired account cause the same calls of node:crypto', (t) => {
  const { callsOf } = countCrypto(t);
  const salted = ['hash sha256 22 hex', 'timingSafeEqual 32 32'];
  for (const [username, password] of [
    ['nobody', 'secret'],
    ['player', 'guess!'],
    ['disabled', 'secret'],
    ['expired', 'secret'],
    ['both', 'secret'],
    ['broken', 'secret'],
  ] as const)
    assert.deepEqual(
      callsOf(() => attempt(username, password)),
      salted,
      username,
    );
});

test('only a login with an imported hash requests a new hash', () => {
  for (const [username, expected] of [
    ['imported', true],
    ['player', false],
  ] as const) {
    const result = attempt(username);
    assert.ok(result.ok);
    assert.equal(result.needsRehash, expected);
    assert.equal(result.account, directory.byUsername(username));
  }
});

test('checking a login does not change the account', () => {
  attempt('player');
  assert.equal(directory.byUsername('player')?.lastLoginAt, null);
  assert.deepEqual(directory.takeLogins(), []);
});

test('the user name of a failed login is printable', () => {
  const shown = (username: string | Uint8Array) => {
    const result = attempt(username, 'wrong');
    return result.ok ? '' : result.username;
  };
  assert.equal(shown('no\nbody\u202e'), 'no\\x0abody\\u{202e}');
  assert.equal(shown(Uint8Array.of(0x61, 0xff, 0x1b)), 'a\ufffd\\x1b');
  assert.equal(shown('玩家甲'), '玩家甲');
});

test('a login uses the current state of the account', () => {
  const changing = new AccountDirectory();
  let now = NOW;
  const check = createLogin({ directory: changing, access, now: () => now });
  const reason = () => {
    const result = check(Buffer.from('player'), Buffer.from('secret'), CLIENT);
    return result.ok ? 'ok' : result.reason;
  };
  assert.equal(reason(), 'unknown-user');
  changing.put(account('player', { expiresAt: NOW + 1000 }));
  assert.equal(reason(), 'ok');
  now = NOW + 1000;
  assert.equal(reason(), 'expired');
  changing.remove('id-player');
  assert.equal(reason(), 'unknown-user');
});
