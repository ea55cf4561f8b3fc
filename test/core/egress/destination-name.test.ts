// Domain names of destinations: which texts are names, which are addresses, and which are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIp } from '../../../src/core/addresses/ip.js';
import { checkDestinationName } from '../../../src/core/egress/egress.js';
import { scaled } from '../../helpers/scale.js';

const check = (raw: string | Uint8Array, allowUnderscore = false) =>
  checkDestinationName(typeof raw === 'string' ? Buffer.from(raw) : raw, { allowUnderscore });
const namesOf = (text: string) => text.trim().split(/\s+/);
const LABEL_63 = 'a'.repeat(63);
const NAME_253 = `${LABEL_63}.${LABEL_63}.${LABEL_63}.${'a'.repeat(61)}`;

const NAMES: [string, string][] = [
  ['example.com', 'example.com'],
  ['EXAMPLE.Com', 'example.com'],
  ['example.com.', 'example.com'],
  ['localhost', 'localhost'],
  ['LocalHost.', 'localhost'],
  ['a', 'a'],
  ['a-b.c--d.e', 'a-b.c--d.e'],
  ['xn--fsqu00a.xn--0zwm56d', 'xn--fsqu00a.xn--0zwm56d'],
  ['1.example', '1.example'],
  ['1.2.3.4.example', '1.2.3.4.example'],
  ['127.0.0.1.nip.io', '127.0.0.1.nip.io'],
  ['7f000001', '7f000001'], // hexadecimal without 0x is a name to every resolver
  ['0x7g', '0x7g'],
  ['1.2.3.4a', '1.2.3.4a'],
  ['0.0xzz', '0.0xzz'],
  ['3com.com', '3com.com'],
  [`${LABEL_63}.example`, `${LABEL_63}.example`],
  [NAME_253, NAME_253],
  [`${NAME_253}.`, NAME_253],
];
for (const [raw, name] of NAMES) {
  test(`${raw} is a name`, () => assert.deepEqual(check(raw), { ok: true, name }));
}

const ADDRESSES: [string, string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['::', '::'],
  ['[::ffff:127.0.0.1]', '127.0.0.1'],
  ['::ffff:7f00:1', '127.0.0.1'],
  ['0:0:0:0:0:FFFF:127.0.0.1', '127.0.0.1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['0000:0000:0000:0000:0000:0000:0000:0001', '::1'],
  ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1'],
];
for (const [raw, address] of ADDRESSES) {
  test(`${raw} is an address`, () => {
    const checked = check(raw);
    assert.ok(checked.ok && 'ip' in checked);
    assert.equal(formatIp(checked.ip), address);
  });
}

const NUMERIC = namesOf(`
  2130706433 0 1 127.1 127.0.1 127.0.0.1. 0x7f000001 0x7F000001 0X7F.0.0.1 0x7f.0x0.0x0.0x1 0x7f.1
  017700000001 0177.0.0.1 0177.0.0.01 127.0.0.01 127.0.0.0x1 00.0.0.0 000000000000 0x 0x. 256.256.256.256
  1.2.3.4.5 999999999999 4294967296 18446744073709551617 127.0.0.1.1 example.1 foo.0x1 1.2.3.4.0x
  a.b.c.007 10.0 10.1. 0300.0250.1 3232235777 0xc0a80101 0xA9FEA9FE 2852039166 0251.0376.0251.0376
`);
for (const raw of NUMERIC) {
  test(`${raw} is refused as numeric`, () => assert.deepEqual(check(raw), { ok: false, reason: 'numeric' }));
}

const BAD: (string | Uint8Array)[] = [
  ...[
    ' ',
    ' localhost',
    'localhost ',
    'local host',
    '\tlocalhost',
    'localhost\n',
    'localhost\r\n',
    'localhost\0',
    '\0',
    '\0localhost',
  ],
  ...[
    '127.0.0.1\0',
    '127.0.0.1 ',
    ' 127.0.0.1',
    '127.0.0.1\n',
    '127.0.0.1\0.example.com',
    'example.com\0.evil.example',
    '127.0.0.1/8',
  ],
  ...['..', 'a..b', '.a', 'a..', '127.0.0.1..', '127..0.1', '.127.0.0.1', '...'],
  ...['-a', 'a-', 'a.-b.c', 'a.b-.c', '-', 'a.-', '-1', '-127.0.0.1', '+1', '1e3.0.0.1-'],
  ...[
    '例え.jp',
    'bücher.example',
    'ｌｏｃａｌｈｏｓｔ',
    '１２７.0.0.1',
    '127。0。0。1',
    '①.example',
    '\u212a.example',
    'localhoſt',
    'é',
    '\u200blocalhost',
  ],
  ...[
    'user@host',
    'host:80',
    '127.0.0.1:80',
    'http://host',
    'host/path',
    'a%2eb',
    '%6cocalhost',
    'a*b',
    '*',
    '*.example.com',
    'a,b',
    'a;b',
    "a'b",
  ],
  ...[
    '[',
    ']',
    '[]',
    '[127.0.0.1]',
    '[::1',
    '::1]',
    '[::1].',
    '[::1]:80',
    '[[::1]]',
    '::1.',
    ':::',
    '::g',
    ':',
    '[example.com]',
    '[::1%lo]',
  ],
  ...[
    '::1%lo',
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    '1:2:3',
    '::1/128',
    '::127.1',
    '::ffff:0x7f.1',
    '_dmarc.example',
    'a_b',
    '"localhost"',
    '\\127.0.0.1',
  ],
  Uint8Array.of(0xff),
  Uint8Array.of(0xc0, 0xae), // an overlong dot
  Uint8Array.of(0x61, 0x80, 0x62),
  Uint8Array.of(0xa0, 0x61), // a no-break space in latin1
  Uint8Array.of(0x7f),
];
for (const raw of BAD) {
  test(`${JSON.stringify(raw)} is refused for its characters`, () =>
    assert.deepEqual(check(raw), { ok: false, reason: 'bad-character' }));
}

test('an empty name and the root are refused as empty', () => {
  assert.deepEqual(check(''), { ok: false, reason: 'empty' });
  assert.deepEqual(check('.'), { ok: false, reason: 'empty' });
});

for (const raw of [
  `a${LABEL_63}`,
  `a${LABEL_63}.example`,
  `a${NAME_253}`.slice(0, 64),
  `${NAME_253}a`,
  `b.${NAME_253}`,
  `${'a.'.repeat(127)}b`,
]) {
  test(`a name or label of ${raw.length} characters is refused as too long`, () =>
    assert.deepEqual(check(raw), { ok: false, reason: 'too-long' }));
}

test('underscores are refused, unless the operator allows them', () => {
  for (const name of ['_dmarc.example', 'a_b', 'a_', '_', 'x._tcp.example']) {
    assert.deepEqual(check(name, true), { ok: true, name });
    assert.equal(check(name).ok, false);
  }
  assert.deepEqual(check('_-', true), { ok: false, reason: 'bad-character' });
  assert.deepEqual(check('a_b.1', true), { ok: false, reason: 'numeric' });
});

test('any bytes give a result, and an accepted name is accepted again unchanged', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 255 }),
    fc.stringMatching(/^[-_0-9a-zA-Zx.:[\]%]{0,40}$/).map((text) => Uint8Array.from(Buffer.from(text))),
  );
  fc.assert(
    fc.property(bytes, fc.boolean(), (raw, allowUnderscore) => {
      const checked = check(raw, allowUnderscore);
      if (!checked.ok || 'ip' in checked) return;
      assert.match(checked.name, /^[a-z0-9_.-]+$/);
      assert.deepEqual(check(checked.name, allowUnderscore), checked);
    }),
    { numRuns: scaled(1_000) },
  );
});

test('an accepted name is also a name, and not an address, for the URL parser', () => {
  const hostLike = fc.stringMatching(/^[0-9a-fx]{1,6}(\.[0-9a-fx]{1,6}){0,4}\.?$/);
  fc.assert(
    fc.property(hostLike, (text) => {
      const checked = check(text);
      if (!checked.ok || 'ip' in checked) return;
      assert.equal(new URL(`http://${text}/`).hostname.replace(/\.$/, ''), checked.name);
    }),
    { numRuns: scaled(600) },
  );
});
