// Addresses as text and bytes, compared with Node's own parsers.
import assert from 'node:assert/strict';
import { BlockList, isIP, SocketAddress } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatIp,
  inCidr,
  normalizeAddress,
  parseCidr,
  parseIp,
  unmap,
} from '../../../src/core/addresses/ip.js';
import { scaled } from '../../helpers/scale.js';

const family = (bytes: Uint8Array) => (bytes.length === 4 ? 'ipv4' : 'ipv6');
const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 });
// Zeros are frequent, so runs of zeros are too.
const ipv6 = fc
  .array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
  .map((groups) => Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff])));
const anyIp = fc.oneof(ipv4, ipv6);
const bytesOf = (text: string): Uint8Array => {
  const ip = parseIp(text);
  assert.ok(ip, `${text} is an address`);
  return ip;
};
const blockOf = (text: string) => {
  const cidr = parseCidr(text);
  assert.ok(cidr, `${text} is a block`);
  return cidr;
};

const CANONICAL: [string, string][] = [
  ['0.0.0.0', '0.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  ['::', '::'],
  ['::1', '::1'],
  ['1::', '1::'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8::A', '2001:db8::a'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'], // the first of equal runs
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'], // the longer run
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'], // one zero group is not shortened
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
  ['fe80::1%eth0', 'fe80::1'],
  ['fe80::1%2', 'fe80::1'],
  ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
  ['::ffff:102:304', '::ffff:1.2.3.4'],
  ['::1.2.3.4', '::102:304'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
];
for (const [text, canonical] of CANONICAL) {
  test(`${text} is written ${canonical}`, () => assert.equal(formatIp(bytesOf(text)), canonical));
}

// Some other parsers accept each of these texts as an address.
const NOT_ADDRESSES = [
  ...[
    '',
    ' ',
    '1',
    '1.2',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.',
    '.1.2.3.4',
    '1..2.3',
    '1.2.3.4.',
    '256.1.1.1',
    '1.2.3.999',
  ],
  ...[
    '01.2.3.4',
    '1.2.3.04',
    '00.0.0.0',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '0x7f000001',
    '+1.2.3.4',
    '-1.2.3.4',
  ],
  ...[
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1.2.3.4\n',
    '1.2.3.4\0',
    '1.2.3.4/8',
    '1.2.3.4:80',
    '1.2.3.4%eth0',
    '1e1.0.0.1',
    '１.2.3.4',
  ],
  ...[
    ':',
    ':::',
    '1:',
    ':1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
  ],
  ...[
    'g::',
    '12345::',
    '::00001',
    '[::1]',
    '::1/128',
    '::1 ',
    ' ::1',
    '::1\n',
    '::1%',
    '::%',
    '::1%eth 0',
    '::-1',
    '0x1::',
  ],
  ...[
    '::1.2.3',
    '::1.2.3.4.5',
    '::1.2.3.04',
    '::256.1.1.1',
    '1.2.3.4::',
    '::1.2.3.4:5',
    '1:2:3:4:5:6:7:1.2.3.4',
    '1.2.3.4:1::',
  ],
  `::${'0'.repeat(200)}1`,
];
for (const text of NOT_ADDRESSES) {
  test(`${JSON.stringify(text)} is not an address`, () => assert.equal(parseIp(text), null));
}

test('an address is unchanged after it is written and read, also by Node', () => {
  fc.assert(
    fc.property(anyIp, (bytes) => {
      const text = formatIp(bytes);
      assert.deepEqual(bytesOf(text), bytes);
      assert.equal(isIP(text), bytes.length === 4 ? 4 : 6);
      const nodeText = new SocketAddress({ address: text, family: family(bytes) }).address;
      assert.deepEqual(bytesOf(nodeText), bytes);
    }),
    { numRuns: scaled(500) },
  );
});

test('an IPv6 address is written as in the URL standard, except a mapped address', () => {
  fc.assert(
    fc.property(ipv6, (bytes) => {
      fc.pre(unmap(bytes).length === 16);
      assert.equal(`[${formatIp(bytes)}]`, new URL(`http://[${formatIp(bytes)}]/`).hostname);
    }),
    { numRuns: scaled(500) },
  );
});

test('a text is an address exactly when Node says so', () => {
  const addressLike = fc.stringMatching(/^[0-9a-f:.]{0,24}$/);
  const damagedAddress = fc
    .tuple(anyIp, fc.nat(40), fc.constantFrom('', '.', ':', '0', '1', 'f', '::', 'g'), fc.nat(2))
    .map(([bytes, at, piece, cut]) => {
      const text = formatIp(bytes);
      return text.slice(0, at) + piece + text.slice(at + cut);
    });
  fc.assert(
    fc.property(fc.oneof(addressLike, damagedAddress, fc.string()), (text) => {
      fc.pre(!text.includes('%'));
      assert.equal(parseIp(text)?.length ?? 0, { 0: 0, 4: 4, 6: 16 }[isIP(text)], text);
    }),
    { numRuns: scaled(1_250) },
  );
});

test('unmap returns the IPv4 address of a mapped address, and every other address unchanged', () => {
  assert.deepEqual([...unmap(bytesOf('::ffff:10.1.2.3'))], [10, 1, 2, 3]);
  for (const text of ['10.1.2.3', '::10.1.2.3', '::1:ffff:a01:203', '::fffe:a01:203', '64:ff9b::a01:203']) {
    assert.deepEqual(unmap(bytesOf(text)), bytesOf(text));
  }
});

test('normalizeAddress returns one text for all spellings of an address', () => {
  assert.equal(normalizeAddress('::FFFF:10.1.2.3'), '10.1.2.3');
  assert.equal(normalizeAddress('FE80:0::1%eth0'), 'fe80::1');
  assert.equal(normalizeAddress('not an address'), 'not an address');
});

const BLOCKS: [string, string, number][] = [
  ['10.0.0.0/8', '10.0.0.0', 8],
  ['10.1.2.3/8', '10.0.0.0', 8],
  ['10.1.2.3', '10.1.2.3', 32],
  ['255.255.255.255/1', '128.0.0.0', 1],
  ['1.2.3.4/0', '0.0.0.0', 0],
  ['2001:db8:ffff::/33', '2001:db8:8000::', 33],
  ['2001:db8::1', '2001:db8::1', 128],
  ['::ffff:10.1.2.3/104', '10.0.0.0', 8],
  ['::ffff:10.1.2.3/96', '0.0.0.0', 0],
  ['::ffff:10.1.2.3', '10.1.2.3', 32],
  ['::ffff:10.1.2.3/95', '::fffe:0:0', 95],
];
for (const [text, first, length] of BLOCKS) {
  test(`${text} is the block ${first}/${length}`, () => {
    const { bytes, length: found } = blockOf(text);
    assert.deepEqual([formatIp(bytes), found], [first, length]);
  });
}

for (const text of [
  '',
  '/',
  '/8',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/08',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '10.0.0.0/ 8',
]) {
  test(`${JSON.stringify(text)} is not a block`, () => assert.equal(parseCidr(text), null));
}
for (const text of [
  '10.0.0/8',
  '::/129',
  '::/1e1',
  '10.0.0.0/255.0.0.0',
  '10.0.0.0/8 ',
  '[::]/8',
  '10.0.0.0/+8',
  'a/8',
]) {
  test(`${JSON.stringify(text)} is not a block`, () => assert.equal(parseCidr(text), null));
}

test("membership agrees with Node's BlockList", () => {
  const similarAddresses = fc.tuple(anyIp, fc.nat(128), fc.nat(127)).map(([bytes, length, flipped]) => {
    const bits = bytes.length * 8;
    const other = Uint8Array.from(bytes);
    const bit = flipped % bits;
    other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
    return { bytes, length: length % (bits + 1), other };
  });
  fc.assert(
    fc.property(similarAddresses, ({ bytes, length, other }) => {
      fc.pre(unmap(bytes).length === bytes.length && unmap(other).length === other.length);
      const list = new BlockList();
      list.addSubnet(formatIp(bytes), length, family(bytes));
      const cidr = blockOf(`${formatIp(bytes)}/${length}`);
      assert.equal(inCidr(bytes, cidr), true);
      assert.equal(inCidr(other, cidr), list.check(formatIp(other), family(other)));
    }),
    { numRuns: scaled(750) },
  );
});

test('a mapped address is in IPv4 blocks and in no IPv6 block', () => {
  assert.equal(inCidr(bytesOf('::ffff:10.1.2.3'), blockOf('10.0.0.0/8')), true);
  assert.equal(inCidr(bytesOf('10.1.2.3'), blockOf('::ffff:10.0.0.0/104')), true);
  assert.equal(inCidr(bytesOf('::ffff:10.1.2.3'), blockOf('::/0')), false);
  assert.equal(inCidr(bytesOf('10.1.2.3'), blockOf('::/0')), false);
  assert.equal(inCidr(bytesOf('::1'), blockOf('0.0.0.0/0')), false);
});
