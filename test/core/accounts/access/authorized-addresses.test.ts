// Lists of authorized addresses: how they are read, and to which account an address belongs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ADDRESS_TEXTS,
  AddressIndex,
  includesAddress,
} from '../../../../src/core/accounts/access/address-list.js';
import { readAddressLists } from '../../../../src/core/accounts/fields/account-fields.js';
import { fillText } from '../../../../src/core/text.js';

const read = (...entries: string[]): unknown => {
  const max = { maxAuthorizedAddresses: 3, maxAllowedClients: 0, geoFiles: { country: 'x', asn: 'x' } };
  const result = readAddressLists({ authorizedAddresses: entries }, max);
  if (result.ok) return result.change.authorizedAddresses;
  return fillText(ADDRESS_TEXTS[result.address.code], result.address.values);
};

test('entries are stored in canonical form, without entries that another one contains', () => {
  assert.deepEqual(read(' 203.0.113.7 ', '2001:DB8:0::1'), ['203.0.113.7', '2001:db8::1']);
  assert.deepEqual(read('203.0.113.9/24', '203.0.113.7', '203.0.113.0/24'), ['203.0.113.0/24']);
  assert.deepEqual(read('::ffff:203.0.113.7', '203.0.113.7/32'), ['203.0.113.7']);
  assert.deepEqual(read(), []);
});

test('an invalid list is refused with the reason; the maximum length is exact', () => {
  assert.match(String(read('player.example')), /"player\.example" is neither an address/);
  assert.match(String(read('0.0.0.0/0')), /0\.0\.0\.0\/0 is too wide: at least \/8/);
  assert.match(String(read('2001::/15')), /too wide/);
  assert.deepEqual(read('10.0.0.0/8', '2001::/16'), ['10.0.0.0/8', '2001::/16']);
  assert.deepEqual(read('192.0.2.1', '192.0.2.2', '192.0.2.3'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
  assert.match(String(read('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4')), /at most 3/);
});

test('the index finds the same owner as a comparison with every network', () => {
  const block = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 24, max: 32 }));
  const networks = fc.array(
    block.map(([last, bits]) => `198.51.100.${last}/${bits}`),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(networks, fc.integer({ min: 0, max: 255 }), fc.nat(11), (entries, last, removed) => {
      const index = new AddressIndex<number>();
      let owned: { owner: number; text: string }[] = [];
      for (const [owner, text] of entries.entries()) {
        if (index.overlap(text) !== undefined) continue;
        index.add(owner, [text]);
        owned.push({ owner, text });
      }
      const removedEntry = owned[removed];
      if (removedEntry) index.remove(removedEntry.owner, [removedEntry.text]);
      owned = owned.filter((each) => each !== removedEntry);
      const address = `198.51.100.${last}`;
      const expected = owned.find(({ text }) => includesAddress([text], address))?.owner;
      assert.equal(index.find(address), expected);
      assert.equal(index.find(`::ffff:${address}`), expected);
      assert.equal(index.overlap(address), expected);
      assert.equal(index.find('2001:db8::1'), undefined);
    }),
  );
});
