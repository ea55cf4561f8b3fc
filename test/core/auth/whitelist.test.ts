// The IP whitelist: valid and invalid entries, and the addresses that they allow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIp, parseIp } from '../../../src/core/addresses/ip.js';
import { parseWhitelist, type Whitelist } from '../../../src/core/auth/whitelist.js';
import { scaled } from '../../helpers/scale.js';

function read(text: string): Whitelist {
  const result = parseWhitelist(text);
  assert.ok(result.ok, `${JSON.stringify(text)} is a whitelist`);
  return result.whitelist;
}

// Entry, allowed addresses, refused addresses.
const ENTRIES: [string, string[], string[]][] = [
  ['', ['1.2.3.4', '::1', 'not an address', ''], []],
  [' , ,，\r\n\n', ['1.2.3.4', '::1', ''], []],
  ['*', ['1.2.3.4', '::1', '::ffff:1.2.3.4', '', 'not an address'], []],
  [
    '1.2.3.4',
    ['1.2.3.4', '::ffff:1.2.3.4', '::FFFF:102:304'],
    ['1.2.3.5', '1.2.3.40', '::1.2.3.4', '01.2.3.4', ' 1.2.3.4'],
  ],
  ['::ffff:1.2.3.4', ['1.2.3.4', '::ffff:1.2.3.4'], ['1.2.3.5', '::1.2.3.4']],
  ['2001:DB8::1', ['2001:db8::1', '2001:db8:0:0::1'], ['2001:db8::2', '2001:db8::10']],
  ['fe80::1%eth0', ['fe80::1', 'fe80::1%eth1'], ['fe80::2']],
  ['::1', ['::1', '0:0:0:0:0:0:0:1'], ['127.0.0.1', '::2']],
  [
    '192.168.1.*',
    ['192.168.1.0', '192.168.1.255', '::ffff:192.168.1.7'],
    ['192.168.10.1', '192.168.2.1', '19.2.168.1'],
  ],
  ['10.0.*', ['10.0.0.0', '10.0.255.255'], ['10.1.0.0', '10.00.1.1', '100.0.0.1']],
  ['10.*', ['10.0.0.0', '10.255.255.255'], ['100.0.0.1', '11.0.0.0', '1.10.0.0', '10::1']],
  ['10.*.*.*', ['10.0.0.0', '10.255.255.255'], ['11.0.0.0']],
  ['192.168.*.*', ['192.168.0.1'], ['192.169.0.1']],
  ['*.*.*.*', ['1.2.3.4', '::ffff:1.2.3.4'], ['::1']],
  [
    '10.1*',
    ['10.1.0.0', '10.10.0.0', '10.19.1.1', '10.100.0.0', '10.199.0.0'],
    ['10.2.0.0', '10.20.0.0', '10.0.1.0', '1.0.1.1'],
  ],
  [
    '192.168.1.1*',
    ['192.168.1.1', '192.168.1.10', '192.168.1.199'],
    ['192.168.1.2', '192.168.1.20', '192.168.11.1'],
  ],
  ['192.168.1.100*', ['192.168.1.100'], ['192.168.1.10', '192.168.1.101']],
  ['1*', ['1.0.0.0', '10.0.0.1', '199.1.1.1'], ['2.1.1.1', '21.0.0.1', '1::1']],
  ['::ffff:10.0.*', ['10.0.1.2', '::ffff:10.0.1.2'], ['10.1.0.0']],
  [
    '2001:db8:*',
    ['2001:db8::1', '2001:DB8:ffff::', '2001:0db8:1:2:3:4:5:6'],
    ['2001:db80::1', '2001:db9::', '2001::db8'],
  ],
  ['2001:0DB8:*', ['2001:db8::1'], ['2001:db80::1']],
  ['2001:db8*', ['2001:db8::1', '2001:db80::1', '2001:db8f::1'], ['2001:db9::1', '2001:db::1']],
  ['fe80:*', ['fe80::1', 'fe80:1::1', 'fe80::1%eth0'], ['fe81::1', 'fe8::1']],
  ['fe80::*', ['fe80::1', 'fe80::1:2:3:4'], ['fe80:1::1', 'fe80:0:1::1']],
  ['::*', ['::1', '::2:3:4'], ['1::', '0:1::1']],
  ['1:2:3:4:5:6:7:*', ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:0'], ['1:2:3:4:5:6:8:8']],
  ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255', '::ffff:10.1.1.1'], ['11.0.0.0', '9.255.255.255', '::a00:1']],
  ['10.1.2.3/8', ['10.0.0.0'], ['11.0.0.0']],
  ['::ffff:10.0.0.0/104', ['10.1.1.1'], ['11.0.0.0']],
  ['2001:db8::/32', ['2001:db8:ffff::1'], ['2001:db9::']],
  ['0.0.0.0/0', ['1.2.3.4', '::ffff:1.2.3.4'], ['::1']],
  ['::/0', ['::1'], ['1.2.3.4', '::ffff:1.2.3.4']],
  [
    '1.1.1.1,2.2.2.2，3.3.3.3\n4.4.4.4\r\n5.5.5.5\r6.6.6.6',
    ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4', '5.5.5.5', '6.6.6.6'],
    ['7.7.7.7'],
  ],
  [' 1.1.1.1 ,\t2.2.2.2\u3000,,', ['1.1.1.1', '2.2.2.2'], ['', '3.3.3.3']],
  ['1.1.1.1,*', ['9.9.9.9', '::1', ''], []],
];
for (const [text, allowed, refused] of ENTRIES) {
  test(`the whitelist ${JSON.stringify(text)} allows only the addresses of its entries`, () => {
    const whitelist = read(text);
    for (const address of allowed) assert.equal(whitelist.allows(address), true, `allows ${address}`);
    for (const address of refused) assert.equal(whitelist.allows(address), false, `refuses ${address}`);
    for (const [addresses, expected] of [
      [allowed, true],
      [refused, false],
    ] as const) {
      for (const ip of addresses.map(parseIp)) if (ip) assert.equal(whitelist.allows(ip), expected);
    }
  });
}

const BAD = [
  ...[
    'localhost',
    'example.com',
    '1.2.3',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4.5',
    '1.2.3.4:80',
    '0x7f.0.0.1',
    '2130706433',
    '[::1]',
  ],
  ...[
    '1.2.3.4 5.6.7.8',
    '1.2.3.4;5.6.7.8',
    '1.2.3.4-1.2.3.9',
    '10.0.0.0/33',
    '10.0.0.0/',
    '/8',
    '10.0.0/8',
    '::/129',
    '1.2.3.4/255.255.255.0',
  ],
  ...[
    '**',
    '*.1',
    '*.*.1.1',
    '1.*.3.4',
    '1*2',
    '.*',
    '1..*',
    '1.2.3.4.*',
    '256.*',
    '1.256*',
    '01.*',
    '1.02*',
    '10.00*',
    '999*',
    '10.*.*.*.*',
  ],
  ...[
    '*1',
    '!1.2.3.4',
    '?',
    '1.2.3.?',
    '10.0.0.0/*',
    '10.0.0.0/8*',
    ':*',
    ':::*',
    '2001::db8:*',
    '::1*',
    '::ffff:*',
    '::ffff:10*',
    '1:2:3:4:5:6:7:8:*',
  ],
  ...[
    '1:2:3:4:5:6:7::*',
    'fe80*',
    'g:*',
    '12345:*',
    '2001:0db*',
    '2001:db8::1::*',
    '1::2::*',
    '::ffff:1.2.3.4.*',
    '2001:db8:1.2.*',
    'fe80::1%*',
    '１.1.1.1',
  ],
];
for (const text of BAD) {
  test(`${JSON.stringify(text)} is not an entry`, () => {
    assert.deepEqual(parseWhitelist(text), { ok: false, badEntries: [text] });
  });
}

test('a list with an invalid entry is refused, and all its invalid entries are reported', () => {
  const result = parseWhitelist('1.1.1.1, invalid，10.*,\n bad one \n');
  assert.deepEqual(result, { ok: false, badEntries: ['invalid', 'bad one'] });
});

test("entries are described with the operator's text", () => {
  const kinds = read(' * ,10.*, 10.0.0.0/8,::FFFF:1.2.3.4').entries.map(({ text, kind }) => [text, kind]);
  assert.deepEqual(kinds, [
    ['*', 'any'],
    ['10.*', 'prefix'],
    ['10.0.0.0/8', 'cidr'],
    ['::FFFF:1.2.3.4', 'address'],
  ]);
});

test('any text gives a list or its invalid entries, and any address gets a result', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f.:*/, ，\n%]{0,60}$/));
  fc.assert(
    fc.property(texts, fc.string(), (text, address) => {
      const result = parseWhitelist(text);
      if (result.ok) assert.equal(typeof result.whitelist.allows(address), 'boolean');
      else assert.ok(result.badEntries.length > 0);
    }),
    { numRuns: scaled(1_000) },
  );
});

test('an IPv4 wildcard allows exactly the addresses with this prefix', () => {
  const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).map(formatIp);
  const cut = fc.tuple(ipv4, ipv4, fc.integer({ min: 1, max: 15 }));
  fc.assert(
    fc.property(cut, ([written, address, length]) => {
      const prefix = written.slice(0, length);
      const whitelist = read(`${prefix}*`);
      assert.equal(whitelist.allows(written), true);
      assert.equal(whitelist.allows(address), address.startsWith(prefix));
    }),
    { numRuns: scaled(600) },
  );
});
