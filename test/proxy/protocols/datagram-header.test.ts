import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatIp } from '../../../src/core/addresses/ip.js';
import {
  headerKey,
  headerLengthOf,
  readDatagramHeader,
  writeDatagramHeader,
} from '../../../src/proxy/protocols/datagram-header.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('valid headers are read, and invalid ones refused', async (t) => {
  const long = 'aa'.repeat(255);
  const cases: [string, string, { fragment: number; type: number; address: string; port: number; length: number } | null][] = [
    ['IPv4', '0000 00 01 7f000001 1f90 68', { fragment: 0, type: 1, address: '7f000001', port: 8080, length: 10 }],
    ['no data', '0000 00 01 7f000001 1f90', { fragment: 0, type: 1, address: '7f000001', port: 8080, length: 10 }],
    ['IPv6', `0000 00 04 ${'00'.repeat(15)}01 0035 00`, { fragment: 0, type: 4, address: `${'00'.repeat(15)}01`, port: 53, length: 22 }],
    ['name', '0000 00 03 03 612e62 0035 ff', { fragment: 0, type: 3, address: '612e62', port: 53, length: 10 }],
    ['name of one byte', '0000 00 03 01 61 0035 ffff', { fragment: 0, type: 3, address: '61', port: 53, length: 8 }],
    ['longest name', `0000 00 03 ff ${long} ffff`, { fragment: 0, type: 3, address: long, port: 65535, length: 262 }],
    ['first fragment', '0000 01 01 7f000001 1f90 68', { fragment: 1, type: 1, address: '7f000001', port: 8080, length: 10 }],
    ['fragment 127, the last', '0000 ff 01 7f000001 1f90', { fragment: 255, type: 1, address: '7f000001', port: 8080, length: 10 }],
    ['last without a position', '0000 80 01 7f000001 1f90 68', null],
    ['empty', '', null],
    ['a byte', '00', null],
    ['only RSV and FRAG', '000000', null],
    ['no address', '00000001', null],
    ['IPv4 cut in the address', '0000 00 01 7f0000', null],
    ['IPv4 cut in the port', '0000 00 01 7f000001 1f', null],
    ['IPv6 cut in the port', `0000 00 04 ${'00'.repeat(16)} 00`, null],
    ['name cut', '0000 00 03 05 612e62 0035', null],
    ['empty name', '0000 00 03 00 0035 0000 0000', null],
    ['RSV not zero', '0001 00 01 7f000001 1f90 68', null],
    ['RSV not zero, first', '0100 00 01 7f000001 1f90 68', null],
    ['ATYP 0', '0000 00 00 7f000001 1f90 68', null],
    ['ATYP 2', '0000 00 02 7f000001 1f90 68', null],
    ['ATYP 5', '0000 00 05 7f000001 1f90 68', null],
    ['ATYP 255', '0000 00 ff 7f000001 1f90 68', null],
    ['port 0', '0000 00 01 7f000001 0000 68', null],
    ['a SOCKS request by mistake', '05 01 00 01 7f000001 1f90', null],
    ['text', Buffer.from('hello relay').toString('hex'), null],
  ]; // biome-ignore format: a table
  for (const [name, bytes, expected] of cases) {
    await t.test(name, () => {
      const header = readDatagramHeader(hex(bytes));
      const fields = header && {
        fragment: header.fragment,
        type: header.addressType,
        address: Buffer.from(header.address).toString('hex'),
        port: header.port,
        length: header.length,
      };
      assert.deepEqual(fields, expected);
    });
  }
});

const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 });
const ipv6 = fc.uint8Array({ minLength: 16, maxLength: 16 });
const anyPort = fc.integer({ min: 1, max: 65535 });

test('a written header is read back unchanged, before any data', () => {
  fc.assert(
    fc.property(fc.oneof(ipv4, ipv6), anyPort, fc.uint8Array({ maxLength: 50 }), (ip, port, data) => {
      const header = writeDatagramHeader(ip, port);
      const read = readDatagramHeader(Buffer.concat([header, data]));
      assert.ok(read);
      assert.equal(read.length, header.length);
      assert.equal(read.port, port);
      assert.equal(read.fragment, 0);
      // An IPv4-mapped address is written as IPv4.
      const isMapped = read.address.length === 4 && ip.length === 16;
      assert.equal(formatIp(read.address), isMapped ? formatIp(ip).slice('::ffff:'.length) : formatIp(ip));
    }),
  );
});

test('an IPv4-mapped address is written as IPv4', () => {
  const mapped = Buffer.from('00000000000000000000ffff7f000001', 'hex');
  assert.equal(writeDatagramHeader(mapped, 80).toString('hex'), '000000017f0000010050');
});

test('any bytes are read without an error, and never beyond their end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const datagram = Buffer.from(bytes);
      const header = readDatagramHeader(datagram);
      const length = headerLengthOf(datagram);
      // Every valid header that is no fragment has a key.
      assert.equal(headerKey(datagram) !== null, length > 0 && datagram.readUIntBE(0, 3) === 0);
      assert.ok(length <= datagram.length);
      if (header === null) return;
      assert.equal(header.length, length);
      assert.ok(header.port >= 1 && header.address.length >= 1);
    }),
    { numRuns: 2_000 },
  );
});

test('keys are equal exactly for equal standalone headers', () => {
  const header = fc
    .tuple(
      fc.constantFrom(1, 3, 4),
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc.integer({ min: 0, max: 3 }),
    )
    .map(([type, bytes, port]) => {
      const address =
        type === 1 ? bytes : type === 4 ? Buffer.concat([bytes, Buffer.alloc(12)]) : [4, ...bytes];
      return Buffer.from([0, 0, 0, type, ...address, 0, port]);
    });
  fc.assert(
    fc.property(header, header, fc.uint8Array({ maxLength: 4 }), (a, b, data) => {
      const keyA = headerKey(Buffer.concat([a, data]));
      assert.notEqual(keyA, null);
      assert.equal(keyA === headerKey(b), a.equals(b));
    }),
    { numRuns: 2_000 },
  );
  assert.notEqual(headerKey(hex('0000 00 03 01 61 0035')), null, 'the shortest header');
  assert.equal(headerKey(hex('0000 01 01 7f000001 1f90')), null, 'a fragment has no key');
  assert.equal(headerKey(hex('0100 00 01 7f000001 1f90')), null, 'an invalid header has no key');
});
