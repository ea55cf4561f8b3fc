// The limits of TLS handshakes, at their edges.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TlsHandshakes } from '../../../src/proxy/tls/handshakes.js';

const LIMITS = { maxHandshakes: 4, maxHandshakesPerSource: 2, maxHandshakesPerSecond: 3 };

class FakeConnection {
  isDestroyed = false;

  destroy(): void {
    this.isDestroyed = true;
  }
}

const connection = (): FakeConnection => new FakeConnection();

it('at the limit of a source, its oldest TLS handshake is closed', () => {
  const handshakes = new TlsHandshakes(LIMITS);
  const other = connection();
  const [first, second, third] = [connection(), connection(), connection()];
  assert.ok(handshakes.begin(other, '192.0.2.2'));
  for (const each of [first, second, third]) assert.ok(handshakes.begin(each, '192.0.2.1'));
  assert.deepEqual(
    [other, first, second, third].map(({ isDestroyed }) => isDestroyed),
    [false, true, false, false],
  );
});

it('at the limit of all sources, the oldest TLS handshake is closed', () => {
  const handshakes = new TlsHandshakes(LIMITS);
  const all = Array.from({ length: 5 }, () => connection());
  for (const [i, each] of all.entries()) assert.ok(handshakes.begin(each, `192.0.2.${i}`));
  assert.deepEqual(
    all.map(({ isDestroyed }) => isDestroyed),
    [true, false, false, false, false],
  );
});

it('a TLS handshake that has ended does not count', () => {
  const handshakes = new TlsHandshakes(LIMITS);
  const first = connection();
  handshakes.begin(first, '192.0.2.1');
  handshakes.end(first);
  handshakes.end(first);
  const rest = [connection(), connection()];
  for (const each of rest) assert.ok(handshakes.begin(each, '192.0.2.1'));
  assert.ok(rest.every(({ isDestroyed }) => !isDestroyed));
});

it('a source, also an IPv6 /64, can begin maxHandshakesPerSecond TLS handshakes in each second', () => {
  const handshakes = new TlsHandshakes(LIMITS);
  const begin = (address: string): boolean => {
    const handshake = connection();
    const isAccepted = handshakes.begin(handshake, address);
    handshakes.end(handshake);
    return isAccepted;
  };
  for (let i = 0; i < 3; i += 1) assert.ok(begin(`2001:db8::${i}`));
  assert.equal(begin('2001:db8::ffff'), false);
  assert.equal(begin('2001:db8:0:1::1'), true);
  assert.equal(handshakes.nextSecond(), 1);
  assert.ok(begin('2001:db8::1'));
  assert.equal(handshakes.nextSecond(), 0);
});
