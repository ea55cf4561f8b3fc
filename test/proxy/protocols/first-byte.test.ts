// The first byte of a connection selects the protocol of its client.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { protocolOf } from '../../../src/proxy/protocols/first-byte.js';

const LIMITS = { maxHeaderBytes: 16_384, maxHeaderFields: 100 };
const EVERY = ['socks5', 'socks4', 'http'] as const;

it('the first byte selects SOCKS5, SOCKS4 or HTTP, and other bytes are refused', () => {
  const selected = Array.from({ length: 256 }, (_, byte) => protocolOf(byte, EVERY, LIMITS)?.name ?? null);
  const expected = Array.from({ length: 256 }, (_, byte) => {
    if (byte === 5) return 'socks5';
    if (byte === 4) return 'socks4';
    return /[A-Za-z]/.test(String.fromCharCode(byte)) ? 'http' : null;
  });
  assert.deepEqual(selected, expected);
  assert.equal(protocolOf(undefined, EVERY, LIMITS), null);
});

it('only the protocols of the listener are accepted', () => {
  assert.equal(protocolOf(5, ['http'], LIMITS), null);
  assert.equal(protocolOf(0x43, ['socks5'], LIMITS), null);
});
