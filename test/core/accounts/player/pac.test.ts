// Runs PAC files as browsers do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { isPacMatch, type PacRules, pacFile, pacProxies } from '../../../../src/core/accounts/player/pac.js';

const PROXIES = 'PROXY gate.example:1080';

/** Returns the function of a PAC file. The file can use one standard PAC function, and no other global of the test. */
function loadPac(rules: PacRules, proxies = PROXIES, proxyHost = 'gate.example') {
  const file = pacFile(rules, proxies, proxyHost);
  assert.match(file, /^[\x20-\x7e\n]*$/, 'the file is ASCII, the same in every encoding');
  const context = createContext({ isPlainHostName: (host: string) => !host.includes('.') });
  runInContext(file, context);
  return (host: string): unknown => {
    context['host'] = host;
    return runInContext('FindProxyForURL("http://" + host + "/", host)', context);
  };
}

test('the first matching rule applies, then the default', () => {
  const proxyFor = loadPac({
    rules: [
      { match: 'Not.Game.example', via: 'direct' },
      { match: '*.game.example', via: 'proxy' },
      { match: 'one.example', via: 'proxy' },
      { match: '203.0.113.0/24', via: 'proxy' },
      { match: '198.51.100.7', via: 'proxy' },
      { match: '2001:db8::/33', via: 'proxy' },
    ],
    otherwise: 'direct',
  });
  for (const host of [
    ...['a.game.example', 'b.a.GAME.example', 'one.example', 'one.example.'],
    ...['203.0.113.0', '203.0.113.255', '198.51.100.7'],
    ...['2001:db8::1', '[2001:db8:7fff::]', '2001:0db8:0:0:0:0:0:1'],
  ])
    assert.equal(proxyFor(host), PROXIES, host);
  for (const host of [
    ...[
      'not.game.example',
      'game.example',
      'badgame.example',
      'xone.example',
      'a.one.example',
      'other.example',
    ],
    ...[
      '203.0.112.255',
      '203.0.114.0',
      '198.51.100.70',
      '2001:db8:8000::',
      '2001:db9::',
      '203.0.113.7.example',
    ],
  ])
    assert.equal(proxyFor(host), 'DIRECT', host);
});

test('destinations that the proxy cannot reach are direct, unless a rule matches', () => {
  const proxyFor = loadPac({ rules: [{ match: '10.1.0.0/16', via: 'proxy' }], otherwise: 'proxy' });
  for (const host of [
    ...['gate.example', 'localhost', 'printer', '127.0.0.1', '10.2.0.1', '172.31.0.1', '192.168.1.1', '::1'],
    ...['[::1]', 'fe80::1', 'fd00::2'],
  ])
    assert.equal(proxyFor(host), 'DIRECT', host);
  for (const host of ['game.example', '10.1.2.3', '172.32.0.1', '2001:db8::1'])
    assert.equal(proxyFor(host), PROXIES, host);
  assert.equal(loadPac({ rules: [], otherwise: 'proxy' }, PROXIES, '203.0.113.9')('203.0.113.9'), 'DIRECT');
});

test('the file lists the protocols of the listeners, encrypted ones first', () => {
  const plain = { host: 'gate.example', port: 1080, isTls: false, isHttp: true, isSocks: true };
  assert.equal(
    pacProxies([{ ...plain, port: 443, isTls: true }, plain]),
    'HTTPS gate.example:443; PROXY gate.example:1080; SOCKS5 gate.example:1080',
  );
  assert.equal(pacProxies([{ ...plain, isHttp: false }]), 'SOCKS5 gate.example:1080');
  assert.equal(pacProxies([{ ...plain, isHttp: false, isTls: true }]), '');
  const six = pacProxies([{ ...plain, host: '2001:db8::1', isSocks: false }]);
  assert.equal(six, 'PROXY [2001:db8::1]:1080');
});

test('text in rules cannot become code, and cannot end a script or a line', () => {
  const proxies = 'PROXY "a\\\n\u2028</script>é';
  const file = pacFile({ rules: [], otherwise: 'proxy' }, proxies, 'not a host');
  assert.ok(!file.includes('</script>'));
  assert.equal(loadPac({ rules: [], otherwise: 'proxy' }, proxies, 'not a host')('x.example'), proxies);
});

test('a match is a name, a wildcard for the names below a name, an address or a network', () => {
  for (const match of [
    'example.com',
    '*.example.com',
    'a_b.example',
    'localhost',
    '10.0.0.0/8',
    '::1',
    'fc00::/7',
  ])
    assert.ok(isPacMatch(match), match);
  for (const match of [
    '',
    '*',
    '*.',
    'a..b',
    '-a.example',
    'a.example.',
    '例.example',
    'a b',
    '10.0.0',
    '10.0.0.0/33',
    'a"b',
  ])
    assert.ok(!isPacMatch(match), match);
  assert.ok(isPacMatch(`${'a'.repeat(63)}.example`));
  assert.ok(!isPacMatch('a'.repeat(254)));
});

test('a file works with a thousand rules', () => {
  const rules = Array.from(
    { length: 1_000 },
    (_, i) => ({ match: `*.g${i}.example`, via: 'proxy' }) as const,
  );
  const proxyFor = loadPac({ rules, otherwise: 'direct' });
  assert.equal(proxyFor('x.g999.example'), PROXIES);
  assert.equal(proxyFor('g999.example'), 'DIRECT');
});
