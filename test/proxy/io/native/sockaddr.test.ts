import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { readSockaddr, sockaddrKey, writeSockaddr } from '../../../../src/proxy/io/native/sockaddr.js';

const bytes = new Uint8Array(28);
const words = new Uint32Array(bytes.buffer);
const keyOf = (address: string, port: number): number | string => {
  assert.notEqual(writeSockaddr(bytes, { address, port }), 0);
  return sockaddrKey(words);
};

test('a written endpoint is read back unchanged', () => {
  for (const address of [
    '0.0.0.0',
    '127.0.0.1',
    '255.255.255.255',
    '203.0.113.9',
    '::',
    '::1',
    '2001:db8::5:6',
  ]) {
    for (const port of [0, 1, 255, 256, 1080, 65_535]) {
      const length = writeSockaddr(bytes, { address, port });
      assert.equal(length, address.includes(':') ? 28 : 16);
      assert.deepEqual(readSockaddr(bytes), { address, port });
    }
  }
});

test('the bytes are those of struct sockaddr_in and sockaddr_in6', () => {
  assert.equal(writeSockaddr(bytes.fill(0xaa), { address: '1.2.3.4', port: 0x1234 }), 16);
  assert.equal(Buffer.from(bytes.subarray(0, 16)).toString('hex'), '02001234010203040000000000000000');
  assert.equal(writeSockaddr(bytes.fill(0xaa), { address: 'fe80::1%7', port: 0x1234 }), 28);
  const address = 'fe800000000000000000000000000001';
  assert.equal(Buffer.from(bytes).toString('hex'), `0a00123400000000${address}07000000`);
});

test('an IPv4-mapped address is IPv4', () => {
  assert.equal(writeSockaddr(bytes, { address: '::ffff:10.0.0.1', port: 5 }), 16);
  bytes.fill(0);
  bytes[0] = 10;
  bytes.set([0x00, 0x50], 2);
  bytes.set([0xff, 0xff, 10, 1, 2, 3], 18);
  assert.deepEqual(readSockaddr(bytes), { address: '10.1.2.3', port: 80 });
});

test('a Unix socket has neither address nor port', () => {
  assert.deepEqual(readSockaddr(new Uint8Array([1, 0, 47, 116])), { address: '', port: 0 });
  assert.deepEqual(readSockaddr(new Uint8Array(28)), { address: '', port: 0 });
});

test('an invalid address is not written', () => {
  for (const address of ['', 'localhost', '1.2.3', 'fe80::1%no-such-interface', '1.2.3.4.5']) {
    assert.equal(writeSockaddr(bytes, { address, port: 1 }), 0, address);
  }
});

test('a zone is the name of its interface, or its number when no interface has it', () => {
  for (const [name, addresses] of Object.entries(networkInterfaces())) {
    for (const { family, address, scopeid } of addresses ?? []) {
      if (family !== 'IPv6' || !scopeid) continue;
      assert.equal(writeSockaddr(bytes, { address: `${address}%${name}`, port: 9 }), 28);
      assert.equal(words[6], scopeid);
      assert.deepEqual(readSockaddr(bytes), { address: `${address}%${name}`, port: 9 });
    }
  }
  writeSockaddr(bytes, { address: 'fe80::1%987654', port: 9 });
  assert.deepEqual(readSockaddr(bytes), { address: 'fe80::1%987654', port: 9 });
});

test('keys differ by address, port and zone', () => {
  const all = ['10.0.0.1', '10.0.0.2', '::1', '::2', 'fe80::1%1', 'fe80::1%2'].flatMap((address) =>
    [1, 256, 65_535].map((port) => keyOf(address, port)),
  );
  assert.equal(new Set(all).size, all.length);
  assert.equal(keyOf('10.0.0.1', 1), keyOf('10.0.0.1', 1));
  const key = keyOf('::1', 1);
  words[1] = 12_345; // sin6_flowinfo
  assert.equal(sockaddrKey(words), key);
});
