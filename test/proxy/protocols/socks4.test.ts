// SOCKS4 and SOCKS4A as tables of bytes: requests with any chunk boundaries, and replies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { HandshakeStep } from '../../../src/proxy/protocols/client-protocol.js';
import { Socks4Handshake } from '../../../src/proxy/protocols/socks4.js';
import { Reply } from '../../../src/proxy/protocols/socks5.js';

const hex = (text: string): Buffer => Buffer.from(text.replace(/ /g, ''), 'hex');
const REJECTED = '005b000000000000';

/** Feeds pieces, and accepts the login. Returns the steps except 'more'. */
function steps(...pieces: Uint8Array[]): HandshakeStep[] {
  const socks = new Socks4Handshake();
  const found: HandshakeStep[] = [];
  for (const piece of pieces) {
    socks.feed(Buffer.from(piece));
    for (let step = socks.next(); step.kind !== 'more'; step = socks.next()) {
      found.push(step);
      if (step.kind === 'address-login') assert.equal(socks.accept(), null);
      else return found;
    }
  }
  return found;
}

const outcome = (last: HandshakeStep | undefined): unknown => {
  if (last?.kind === 'refuse') return Buffer.from(last.bytes).toString('hex');
  if (last?.kind !== 'request') return last?.kind ?? 'more';
  const { command, addressType, address, port } = last.request;
  const rest = last.rest?.toString('hex') ?? '';
  return [command, addressType, Buffer.from(address).toString('latin1'), port, rest];
};

const LONG = '61'.repeat(255);
const CASES: readonly (readonly [name: string, bytes: string, outcome: unknown])[] = [
  ['CONNECT', '04 01 1f90 c0000201 00', ['connect', 1, '\xc0\0\x02\x01', 8080, '']],
  ['CONNECT with a user id', '04 01 0050 c0000201 7573657200', ['connect', 1, '\xc0\0\x02\x01', 80, '']],
  ['BIND', '04 02 0050 c0000201 00', ['bind', 1, '\xc0\0\x02\x01', 80, '']],
  ['a name (4A)', '04 01 0050 00000001 00 612e6200', ['connect', 3, 'a.b', 80, '']],
  ['a name after a user id', '04 01 0050 000000ff 7500 612e6200', ['connect', 3, 'a.b', 80, '']],
  ['bytes after the request', '04 01 0050 c0000201 00 4845', ['connect', 1, '\xc0\0\x02\x01', 80, '4845']],
  ['bytes after a name', '04 01 0050 00000001 00 6100 4845', ['connect', 3, 'a', 80, '4845']],
  ['0.0.0.0 as an address', '04 01 0050 00000000 00', ['connect', 1, '\0\0\0\0', 80, '']],
  ['an empty name', '04 01 0050 00000001 00 00', ['connect', 3, '', 80, '']],
  ['another command', '04 03 0050 c0000201 00', REJECTED],
  ['another version', '05 01 0050 c0000201 00', REJECTED],
  ['a user id that has not ended', '04 01 0050 c0000201 7573', 'more'],
  ['a request whose name is missing yet', '04 01 0050 00000001 00', 'more'],
  ['a user id of 255 bytes', `04 01 0050 c0000201 ${LONG} 00`, ['connect', 1, '\xc0\0\x02\x01', 80, '']],
  ['a user id of 256 bytes', `04 01 0050 c0000201 ${LONG}61 00`, REJECTED],
  ['a user id without end', `04 01 0050 c0000201 ${LONG}61`, REJECTED],
  ['a name of 255 bytes', `04 01 0050 00000001 00 ${LONG} 00`, ['connect', 3, 'a'.repeat(255), 80, '']],
  ['a name of 256 bytes', `04 01 0050 00000001 00 ${LONG}61 00`, REJECTED],
  ['a name without end', `04 01 0050 00000001 00 ${LONG}61`, REJECTED],
];

for (const [name, text, expected] of CASES) {
  test(`SOCKS4 reads ${name}`, () => {
    const result = outcome(steps(hex(text)).at(-1));
    assert.deepEqual(result, expected);
  });
}

test('a SOCKS4 request is read the same with any chunk boundaries', () => {
  const text = fc.uint8Array({ maxLength: 300 }).map((bytes) => bytes.map((byte) => byte || 1));
  const request = fc
    .tuple(fc.uint8Array({ minLength: 7, maxLength: 7 }), text, text, fc.uint8Array({ maxLength: 9 }))
    .map(([head, user, name, rest]) =>
      Buffer.concat([Buffer.from([4]), head, user, Buffer.from([0]), name, Buffer.from([0]), rest]),
    );
  fc.assert(
    fc.property(request, fc.array(fc.nat(700), { maxLength: 12 }), (bytes, cuts) => {
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
      const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
      const whole = steps(bytes);
      const inPieces = steps(...pieces);
      const kinds = (list: HandshakeStep[]): string[] => list.map(({ kind }) => kind);
      assert.deepEqual(kinds(inPieces), kinds(whole));
      const [one, other] = [whole.at(-1), inPieces.at(-1)];
      // Bytes after the request may arrive later, so only the requests are compared.
      if (one?.kind === 'request' && other?.kind === 'request') assert.deepEqual(other.request, one.request);
      else assert.deepEqual(outcome(other), outcome(one));
    }),
  );
});

test('the SOCKS4 handshake never throws, with any bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), (pieces) => {
      for (const step of steps(...pieces)) assert.notEqual(step.kind, 'login');
    }),
  );
});

test('SOCKS4 replies have 8 bytes: the code, the port and an IPv4 address', () => {
  const socks = new Socks4Handshake();
  const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  assert.equal(hexOf(socks.reply(Reply.succeeded, '192.0.2.1', 8080)), '005a1f90c0000201');
  assert.equal(hexOf(socks.reply(Reply.succeeded, '::ffff:192.0.2.1', 80)), '005a0050c0000201');
  assert.equal(hexOf(socks.reply(Reply.succeeded, '2001:db8::1', 80)), '005a005000000000');
  assert.equal(hexOf(socks.reply(Reply.connectionRefused, '192.0.2.1', 80)), REJECTED);
  assert.equal(hexOf(socks.loginFailed), '005d000000000000');
});
