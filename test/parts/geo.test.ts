// The operator's files of countries and networks: what they answer, and files that cannot be used.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseIp } from '../../src/core/addresses/ip.js';
import { createEgressPolicy } from '../../src/core/egress/egress.js';
import { openGeo } from '../../src/geo.js';
import { readGeoFiles } from '../../src/parts/geo.js';
import { loadText, messageOf } from '../helpers/config-file.js';
import { PROJECT } from '../helpers/daemon.js';

const country = join(PROJECT, 'test/helpers/geo/country.mmdb');
const asn = join(PROJECT, 'test/helpers/geo/asn.mmdb');

test('addresses of both families have a country and a network', () => {
  const geo = openGeo(readGeoFiles({ country, asn }));
  for (const [address, itsCountry, itsAsn] of [
    ['203.0.113.127', 'de', 64_501],
    ['203.0.113.128', 'de', null],
    ['203.0.114.0', null, null],
    ['2001:db8:1::1', 'jp', 4_294_967_295],
    ['2001:db8:2::1', 'jp', null],
    ['2001:db9::1', null, null],
  ] as const) {
    const ip = parseIp(address);
    assert.ok(ip);
    assert.deepEqual([geo.country(ip), geo.asn(ip)], [itsCountry, itsAsn], address);
  }
});

test('a file that cannot be used is refused with its key and the reason', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pulsegate-geo-'));
  const [text, half] = ['text.mmdb', 'half.mmdb'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(text, 'not a database');
  writeFileSync(half, readFileSync(country).subarray(0, 700));
  const unusable = /is not in the MaxMind DB format, or incomplete/;
  for (const [path, reason] of [
    [join(folder, 'none.mmdb'), /none\.mmdb cannot be read \(ENOENT\)/],
    [folder, /cannot be read \(EISDIR\)/],
    [text, unusable],
    [half, unusable],
    [asn, /has no countries/],
  ] as const) {
    assert.throws(() => readGeoFiles({ country: path, asn: null }), reason);
    assert.throws(() => readGeoFiles({ country: path, asn: null }), /geo\.country/);
  }
  assert.throws(() => readGeoFiles({ country, asn: country }), /geo\.asn: .* has no numbers of networks/);
});

test('an entry without its file is refused, in classes too', async () => {
  const deny = '["10.0.0.0/8", "country:DE"]';
  assert.match(
    await messageOf(loadText(`egress: { deny: ${deny} }`)),
    /egress\.deny\[1\]: found "country:DE"; allowed: .*geo\.country/,
  );
  assert.match(
    await messageOf(loadText(`geo: { country: x }\negress: { classes: { a: { allow: ["asn:1:80"] } } }`)),
    /egress\.classes\.a\.allow\[0\]: found "asn:1:80"; allowed: .*geo\.asn/,
  );
  await loadText(`geo: { country: x }\negress: { deny: ${deny} }`);
  for (const entry of [
    'country:deu',
    'country:1',
    'asn:0',
    'asn:4294967296',
    'asn:1-2',
    'asn:1:0',
    'country:',
  ])
    assert.match(await messageOf(loadText(`egress: { deny: ["${entry}"] }`)), /egress\.deny\[0\]/, entry);
});

test('entries match the port, embedded IPv4 addresses, and never this machine', () => {
  const here = '198.51.100.9';
  const policy = createEgressPolicy({
    private: 'deny',
    allow: ['country:yy', 'country:jp'],
    deny: ['country:DE:25', 'asn:4294967295'],
    isOwnListener: () => false,
    isThisMachine: (ip) => ip.join('.') === here,
    geo: openGeo(readGeoFiles({ country, asn })),
  });
  const verdict = (address: string, port = 443) => {
    const judged = policy.judge({ host: null, ip: parseIp(address) ?? new Uint8Array(), port });
    return judged.ok ? 'ok' : judged.reason;
  };
  assert.equal(verdict('203.0.113.1', 25), 'denied-by-rule');
  assert.equal(verdict('::ffff:203.0.113.1', 25), 'denied-by-rule');
  assert.equal(verdict('64:ff9b::203.0.113.1', 25), 'denied-by-rule');
  assert.equal(verdict('203.0.113.1', 26), 'ok');
  assert.equal(verdict('2001:db8:1::7'), 'denied-by-rule');
  assert.equal(verdict('127.0.0.1'), 'ok', 'a private address whose country is allowed');
  assert.equal(verdict('127.0.0.4'), 'private');
  assert.equal(verdict(here), 'private', 'this machine, although it stands in an allowed country');
  assert.deepEqual(policy.judgeName({ host: 'db.example', port: 25 }), { ok: true });
});
