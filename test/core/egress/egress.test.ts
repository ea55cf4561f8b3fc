// The egress rules: every form of a denied address, the order of the rules, and the meaning of entries.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIp, type IpBytes, parseIp } from '../../../src/core/addresses/ip.js';
import { createEgressPolicy, type EgressOptions } from '../../../src/core/egress/egress.js';
import { scaled } from '../../helpers/scale.js';

const bytesOf = (text: string): IpBytes => {
  const ip = parseIp(text);
  assert.ok(ip, `${text} is an address`);
  return ip;
};
const policy = (options: Partial<EgressOptions> = {}) =>
  createEgressPolicy({ private: 'deny', allow: [], deny: [], isOwnListener: () => false, ...options });
const entriesOf = (text: string) => text.trim().split(/\s+/);
const verdict = (
  options: Partial<EgressOptions>,
  address: string,
  port = 443,
  host: string | null = null,
) => {
  const judged = policy(options).judge({ host, ip: bytesOf(address), port });
  return judged.ok ? 'ok' : judged.reason;
};

/** The ways an IPv6 destination can carry an IPv4 one. */
const EMBEDDINGS: Record<string, (ip: IpBytes) => IpBytes> = {
  'IPv4-mapped': (ip) => at('::ffff:0:0', 12, ip),
  'IPv4-compatible': (ip) => at('::', 12, ip),
  'IPv4-translated': (ip) => at('::ffff:0:0:0', 12, ip),
  NAT64: (ip) => at('64:ff9b::', 12, ip),
  'local NAT64 /96': (ip) => at('64:ff9b:1::', 12, ip),
  'local NAT64 /48': (ip) => at(formatIp(at('64:ff9b:1::', 6, ip.subarray(0, 2))), 9, ip.subarray(2)),
  'local NAT64 /56': (ip) => at(formatIp(at('64:ff9b:1::', 7, ip.subarray(0, 1))), 9, ip.subarray(1)),
  'local NAT64 /64': (ip) => at('64:ff9b:1::', 9, ip),
  '6to4': (ip) => at('2002::1', 2, ip),
  'Teredo server': (ip) => at('2001:0:0:0:0:0:f7f7:f7f7', 4, ip),
  'Teredo client': (ip) =>
    at(
      '2001:0:808:808::',
      12,
      ip.map((byte) => byte ^ 0xff),
    ),
  ISATAP: (ip) => at('2001:db8::5efe:0:0', 12, ip),
};
function at(base: string, offset: number, ip: IpBytes): IpBytes {
  const bytes = Uint8Array.from(bytesOf(base));
  bytes.set(ip, offset);
  return bytes;
}

const NEVER_V4 = entriesOf(`
  0.0.0.0 0.0.0.1 0.255.255.255 169.254.0.1 169.254.169.254 169.254.170.2 169.254.255.255 100.100.100.200
  168.63.129.16 192.0.0.192 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.254 255.255.255.255
`);
const NEVER_V6 = entriesOf(`
  :: fe80::1 fe80::a9fe:a9fe febf:ffff::1 fec0::1 feff::1 ff02::1 ff0e::1 fd00:ec2::254 fd00:ec2::23
  fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42
`);
const PRIVATE_V4 = entriesOf(`
  127.0.0.1 127.1.2.3 127.255.255.255 10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1
  192.168.255.255 100.64.0.1 100.127.255.255 192.0.0.1 192.0.0.170 198.18.0.1 198.19.255.255
`);
const PRIVATE_V6 = [
  '::1',
  'fc00::1',
  'fd12:3456::1',
  'fdff:ffff::1',
  '64:ff9b:1::808:808',
  '64:ff9b:1:100::1',
];
const PUBLIC = entriesOf(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.1 172.15.255.255 172.32.0.0
  192.167.255.255 192.169.0.0 100.63.255.255 100.128.0.0 169.253.255.255 169.255.0.0 192.0.1.0
  198.17.255.255 198.20.0.0 223.255.255.255 192.0.2.1 198.51.100.1 203.0.113.7 168.63.129.17 1.0.0.0
  2606:4700::1111 2001:4860:4860::8888 2001:db8::1 64:ff9b::808:808 2002:808:808::1 ::8.8.8.8
  ::ffff:8.8.8.8 2001:0:808:808:0:0:f7f7:f7f7 64:ff9b:2::a00:1 2003::a00:1 fbff::1
`);

for (const address of [...NEVER_V4, ...NEVER_V6]) {
  test(`${address} is always denied, with any lists`, () => {
    assert.equal(verdict({}, address), 'always-denied');
    const permissive = {
      private: 'allow' as const,
      allow: [address, '0.0.0.0/0', '::/0', ':443', 'meta.example'],
      deny: [':443'],
    };
    assert.equal(verdict(permissive, address, 443, 'meta.example'), 'always-denied');
  });
}
for (const address of [...PRIVATE_V4, ...PRIVATE_V6]) {
  test(`${address} is private`, () => {
    assert.equal(verdict({}, address), 'private');
    assert.equal(verdict({}, address, 443, 'rebind.example'), 'private');
    assert.equal(verdict({ private: 'allow' }, address), 'ok');
  });
}
for (const address of PUBLIC) {
  test(`${address} is public`, () => assert.equal(verdict({}, address), 'ok'));
}

for (const [name, embed] of Object.entries(EMBEDDINGS)) {
  test(`${name}: the embedded IPv4 address is checked too`, () => {
    for (const address of NEVER_V4) {
      // ::0.0.0.0 and ::0.0.0.1 are the unspecified and the loopback address; in the local prefix zeros may be padding.
      if (address.startsWith('0.0.0.') && /compatible|local/.test(name)) continue;
      if (address.startsWith('0.') && name.startsWith('local')) continue;
      assert.equal(
        verdict({ private: 'allow' }, formatIp(embed(bytesOf(address)))),
        'always-denied',
        address,
      );
    }
    // The four local forms cannot be distinguished, so an address that is read in another form may be always denied.
    const refusals = name.startsWith('local') ? ['private', 'always-denied'] : ['private'];
    for (const address of PRIVATE_V4)
      assert.ok(refusals.includes(verdict({}, formatIp(embed(bytesOf(address))))), address);
    const carrier = formatIp(embed(bytesOf('8.8.4.4')));
    assert.equal(verdict({ private: 'allow' }, carrier), 'ok');
    assert.equal(verdict({ private: 'allow', deny: ['8.8.4.0/24'] }, carrier), 'denied-by-rule');
    assert.equal(verdict({ private: 'allow', deny: ['8.8.4.0/24:80'] }, carrier), 'ok');
    const own = (ip: IpBytes, port: number) => formatIp(ip) === '8.8.4.4' && port === 8080;
    assert.equal(verdict({ private: 'allow', isOwnListener: own }, carrier, 8080), 'own-listener');
    assert.equal(verdict({ private: 'allow', isOwnListener: own }, carrier, 8081), 'ok');
  });
}

test('own listeners are always denied, with any lists', () => {
  const checkedAddresses: string[] = [];
  const isOwnListener = (ip: IpBytes, port: number) => {
    checkedAddresses.push(formatIp(ip));
    return port === 8080;
  };
  const permissive = {
    private: 'allow' as const,
    allow: ['0.0.0.0/0', '::/0', ':8080'],
    deny: [':8080'],
    isOwnListener,
  };
  for (const address of [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '0.0.0.0',
    '::',
    '192.0.2.1',
    '169.254.1.1',
  ]) {
    assert.equal(verdict(permissive, address, 8080), 'own-listener');
  }
  assert.ok(
    !checkedAddresses.some((address) => address.startsWith('::ffff:')),
    'isOwnListener gets unmapped addresses',
  );
});

test('an entry of deny takes precedence over one of allow, in any form', () => {
  for (const entry of [
    '10.1.2.3',
    '10.1.2.3:5432',
    '10.0.0.0/8',
    ':5432',
    '*:5432',
    'db.example',
    '*.example',
    ':5000-6000',
  ]) {
    assert.equal(
      verdict({ allow: ['10.0.0.0/8', 'db.example'], deny: [entry] }, '10.1.2.3', 5432, 'db.example'),
      'denied-by-rule',
    );
    assert.equal(verdict({ allow: [entry], deny: [] }, '10.1.2.3', 5432, 'db.example'), 'ok', entry);
    assert.equal(
      verdict({ allow: [entry], deny: [':1-65535'] }, '10.1.2.3', 5432, 'db.example'),
      'denied-by-rule',
    );
  }
});

test('an allowed name permits its private addresses, another name does not', () => {
  assert.equal(verdict({ allow: ['db.example:5432'] }, '10.1.2.3', 5432, 'db.example'), 'ok');
  assert.equal(verdict({ allow: ['DB.Example.'] }, '::1', 5432, 'db.example'), 'ok');
  assert.equal(verdict({ allow: ['db.example'] }, '10.1.2.3', 5432, 'DB.EXAMPLE.'), 'ok');
  assert.equal(verdict({ allow: ['db.example:5432'] }, '10.1.2.3', 5433, 'db.example'), 'private');
  assert.equal(verdict({ allow: ['db.example'] }, '10.1.2.3', 5432, 'evil.example'), 'private');
  assert.equal(verdict({ allow: ['db.example'] }, '10.1.2.3', 5432, null), 'private');
  assert.equal(verdict({ allow: ['db.example'] }, '10.1.2.3', 5432, 'xdb.example'), 'private');
  assert.equal(verdict({ allow: ['db.example'] }, '10.1.2.3', 5432, 'db.example.evil'), 'private');
  assert.equal(verdict({ allow: ['db.example'] }, '169.254.169.254', 80, 'db.example'), 'always-denied');
});

test('*.name matches every name below the name, and not the name itself', () => {
  const allow = ['*.example.com:443'];
  assert.equal(verdict({ allow }, '10.0.0.1', 443, 'a.example.com'), 'ok');
  assert.equal(verdict({ allow }, '10.0.0.1', 443, 'a.b.example.com'), 'ok');
  assert.equal(verdict({ allow }, '10.0.0.1', 443, 'example.com'), 'private');
  assert.equal(verdict({ allow }, '10.0.0.1', 443, 'badexample.com'), 'private');
  assert.equal(verdict({ allow }, '10.0.0.1', 80, 'a.example.com'), 'private');
});

test('an entry with an address or network covers exactly its addresses and ports', () => {
  assert.equal(verdict({ allow: ['10.1.2.0/24'] }, '10.1.2.255'), 'ok');
  assert.equal(verdict({ allow: ['10.1.2.0/24'] }, '10.1.3.0'), 'private');
  assert.equal(verdict({ allow: ['::ffff:10.1.2.0/120'] }, '10.1.2.9'), 'ok');
  assert.equal(verdict({ allow: ['10.1.2.3'] }, '::ffff:10.1.2.3'), 'ok');
  assert.equal(verdict({ allow: ['[fd00::/16]:443'] }, 'fd00::1', 443), 'ok');
  assert.equal(verdict({ allow: ['[fd00::/16]:443'] }, 'fd00::1', 80), 'private');
  assert.equal(verdict({ allow: ['fd00::/16'] }, 'fd00::1', 80), 'ok');
  assert.equal(verdict({ allow: ['[fd00::1]'] }, 'fd00::1', 80), 'ok');
  assert.equal(
    verdict({ allow: ['10.0.0.0/8'] }, '64:ff9b::a01:203'),
    'ok',
    'through the public NAT64 prefix',
  );
  assert.equal(
    verdict({ allow: ['2002::/16'] }, '2002:a01:203::1'),
    'private',
    'the network of the IPv6 address alone is not enough',
  );
});

test('port ranges include both ends', () => {
  for (const [port, expected] of [
    [6999, 'ok'],
    [7000, 'denied-by-rule'],
    [7100, 'denied-by-rule'],
    [7101, 'ok'],
  ] as const) {
    assert.equal(verdict({ deny: [':7000-7100'] }, '1.1.1.1', port), expected);
    assert.equal(verdict({ deny: ['[::/0]:7000-7100'] }, '2606:4700::1111', port), expected);
  }
});

test('denied ports are denied at every host, whatever is allowed', () => {
  const options: Partial<EgressOptions> = {
    private: 'allow',
    denyPorts: ['smtp', 'scans', 7000, '7100-7200'],
  };
  const denied = (port: number) => verdict({ ...options, allow: [`*:${port}`] }, '1.1.1.1', port) !== 'ok';
  const ports = Array.from({ length: 65_535 }, (_, i) => i + 1).filter(denied);
  const range = Array.from({ length: 101 }, (_, i) => 7_100 + i);
  assert.deepEqual(ports, [23, 25, 135, 137, 138, 139, 445, 2323, 3389, 7000, ...range]);
  const judged = policy({ ...options, path: 'egress.classes.a' }).judgeName({ host: 'a.example', port: 445 });
  assert.deepEqual(judged, {
    ok: false,
    reason: 'denied-by-rule',
    rule: 'egress.classes.a.denyPorts: scans',
  });
  const byEntry = policy({ deny: ['b.example', '*:465'] }).judgeName({ host: 'a.example', port: 465 });
  assert.deepEqual(byEntry, { ok: false, reason: 'denied-by-rule', rule: 'egress.deny: *:465' });
});

test('a denied IPv4 address is denied in every embedded form', () => {
  const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(
      ipv4,
      fc.constantFrom(...Object.values(EMBEDDINGS)),
      fc.integer({ min: 1, max: 65535 }),
      (ip, embed, port) => {
        // In some forms a first byte of zero may be padding; addresses in 0.0.0.0/8 are not hosts.
        fc.pre(ip[0] !== 0);
        const carrier = embed(ip);
        assert.equal(
          policy({ private: 'allow', deny: [formatIp(ip)] }).judge({ host: null, ip: carrier, port }).ok,
          false,
        );
      },
    ),
    { numRuns: scaled(500) },
  );
});

test('public addresses of this machine count as private, unless an entry names them', () => {
  const isThisMachine = (ip: IpBytes): boolean => ['93.184.216.34', '2606:2800::1'].includes(formatIp(ip));
  for (const address of ['93.184.216.34', '::ffff:93.184.216.34', '64:ff9b::5db8:d822', '2606:2800::1']) {
    assert.equal(verdict({}, address), 'ok', 'on another machine');
    assert.equal(verdict({ isThisMachine }, address), 'private');
    assert.equal(verdict({ isThisMachine, private: 'allow' }, address), 'ok');
  }
  const allow = ['93.184.216.34', '[2606:2800::1]:443'];
  assert.equal(verdict({ isThisMachine, allow }, '93.184.216.34'), 'ok');
  assert.equal(verdict({ isThisMachine, allow }, '2606:2800::1'), 'ok');
  assert.equal(verdict({ isThisMachine, allow }, '2606:2800::1', 80), 'private');
  assert.equal(verdict({ isThisMachine }, '93.184.216.35'), 'ok');
  for (const protocol of ['tcp', 'udp'] as const) {
    const judged = policy({ isThisMachine }).judge({
      host: null,
      ip: bytesOf('93.184.216.34'),
      port: 443,
      protocol,
    });
    assert.equal(judged.ok, false, protocol);
  }
});
