// PROXY headers that the daemon writes name the client.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseProxyHeader, writeProxyHeader } from '../../../src/proxy/protocols/proxy-header.js';

it('a written PROXY header is read back as the address of the client', () => {
  for (const [client, local, expected] of [
    ['192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '::ffff:198.51.100.1', '192.0.2.1'],
    ['2001:db8::1', '::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::2%eth0', 'fe80::1'],
  ] as const) {
    const header = writeProxyHeader({ address: client, port: 40_000 }, { address: local, port: 1443 });
    assert.ok(header);
    assert.deepEqual(parseProxyHeader(header), {
      kind: 'header',
      length: header.length,
      client: { address: expected, port: 40_000 },
    });
  }
});

it('no PROXY header is written for an endpoint without an address, or for two families', () => {
  assert.equal(writeProxyHeader({ address: '', port: 0 }, { address: '192.0.2.1', port: 1 }), null);
  assert.equal(writeProxyHeader({ address: '::1', port: 1 }, { address: '192.0.2.1', port: 1 }), null);
});
