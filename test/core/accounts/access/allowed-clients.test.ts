// The client addresses from which an account may log in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ADDRESS_TEXTS,
  isAllowedClient,
  networksOfRange,
} from '../../../../src/core/accounts/access/address-list.js';
import { readAddressLists } from '../../../../src/core/accounts/fields/account-fields.js';
import { type Geo, NO_GEO } from '../../../../src/core/addresses/geo.js';
import { formatIp } from '../../../../src/core/addresses/ip.js';
import { fillText } from '../../../../src/core/text.js';

const readAllowedClients = (allowedClients: string[], maxAllowedClients: number) =>
  readAddressLists(
    { allowedClients },
    { maxAllowedClients, maxAuthorizedAddresses: 0, geoFiles: { country: '/known.mmdb', asn: null } },
  );

/** Only 203.0.113.7 is in a country. */
const GEO: Geo = { ...NO_GEO, country: (ip) => (formatIp(ip) === '203.0.113.7' ? 'de' : null) };

const read = (...entries: string[]): unknown => {
  const result = readAllowedClients(entries, 2);
  if (result.ok) return result.change.allowedClients;
  return fillText(ADDRESS_TEXTS[result.address.code], result.address.values);
};

const CASES: [allowed: string[], client: string, isAllowed: boolean][] = [
  [[], '203.0.113.7', true],
  [[], 'unix', true],
  [['203.0.113.7'], '203.0.113.7', true],
  [['203.0.113.7'], '203.0.113.8', false],
  [['203.0.113.7'], '::ffff:203.0.113.7', true],
  [['203.0.113.0/24'], '203.0.113.255', true],
  [['203.0.113.0/24'], '203.0.114.0', false],
  [['2001:db8::/48'], '2001:db8:0:ffff::1', true],
  [['2001:db8::/48'], '2001:db8:1::1', false],
  [['0.0.0.0/0'], '2001:db8::1', false],
  [['::/0'], '203.0.113.7', false],
  [['198.51.100.1', '2001:db8::1'], '2001:db8::1', true],
  [['fe80::/10'], 'fe80::1%eth0', true],
  [['0.0.0.0/0'], 'unix', false],
  [['country:DE'], '::ffff:203.0.113.7', true],
  [['country:de', '198.51.100.1'], '198.51.100.1', true],
  [['country:jp'], '203.0.113.7', false],
  [['country:de'], '198.51.100.7', false],
  [['country:de'], 'unix', false],
];

for (const [allowed, client, isAllowed] of CASES) {
  test(`${client} ${isAllowed ? 'may' : 'may not'} use an account of [${allowed.join(', ')}]`, () => {
    const list = readAllowedClients(allowed, 16);
    assert.ok(list.ok);
    assert.equal(isAllowedClient(list.change.allowedClients, client, GEO), isAllowed);
  });
}

test('an invalid list is refused with the reason; the maximum length is exact', () => {
  assert.deepEqual(read('203.0.113.9/24', '::ffff:198.51.100.1'), ['203.0.113.0/24', '198.51.100.1']);
  assert.deepEqual(read('0.0.0.0/0', '10.0.0.0/8', '::/0'), ['0.0.0.0/0', '::/0']);
  for (const entry of ['player.example', 'country:deu', 'asn:0', 'asn:4294967296'])
    assert.match(String(read(entry)), /^"[^"]+" is neither an address .* nor a country \(country:de\)$/);
  assert.deepEqual(read('country:DE', '203.0.113.7', 'country:de'), ['country:de', '203.0.113.7']);
  assert.match(String(read('asn:64500')), /asn:64500 needs a file in the MaxMind DB format.*geo\.asn/);
  assert.match(String(read('192.0.2.1', '192.0.2.2', '192.0.2.3')), /at most 2 .*socks\.maxAllowedClients/);
  assert.deepEqual(read(...Array<string>(256).fill('192.0.2.1')), ['192.0.2.1']);
  // A list has at most 256 entries before duplicates are removed, because each entry is compared with all others.
  assert.match(String(read(...Array<string>(257).fill('192.0.2.1'))), /at most 2 /);
});

const RANGES: [first: string, last: string, networks: string[] | null][] = [
  ['192.0.2.7', '192.0.2.7', ['192.0.2.7']],
  ['192.0.2.0', '192.0.2.255', ['192.0.2.0/24']],
  ['192.0.2.1', '192.0.2.4', ['192.0.2.1', '192.0.2.2/31', '192.0.2.4']],
  ['0.0.0.0', '255.255.255.255', ['0.0.0.0/0']],
  ['::ffff:192.0.2.6', '192.0.2.7', ['192.0.2.6/31']],
  ['2001:db8::', '2001:db8::ffff', ['2001:db8::/112']],
  ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['::/0']],
  ['192.0.2.2', '192.0.2.1', null],
  ['192.0.2.1', '2001:db8::1', null],
  ['home', '192.0.2.1', null],
];

for (const [first, last, networks] of RANGES) {
  test(`${first} to ${last} is ${networks?.join(', ') ?? 'not a range'}`, () =>
    assert.deepEqual(networksOfRange(first, last), networks));
}

test('the networks of a range contain its addresses and no others', () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const addressOf = (byte: number) => formatIp(Uint8Array.of(192, 0, 2, byte));
  fc.assert(
    fc.property(byte, byte, byte, (a, b, last) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      const networks = networksOfRange(addressOf(low), addressOf(high)) ?? [];
      assert.equal(isAllowedClient(networks, addressOf(last), GEO), low <= last && last <= high);
    }),
  );
});
