// Which connections to the management plane came through the proxy: the very same ones, and no others that look alike.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OwnOutbound, type SocketEnd } from '../../../src/core/sessions/outbound.js';

const at = (address: string, port: number) => ({ address, port });
const ADMIN = at('127.0.0.1', 8080);
const isLocal = (address: string): boolean => address.startsWith('127.');

/** `found`: what the system says of a socket from the peer to the listener. */
function outboundWhere(found: boolean | null) {
  const asked: [SocketEnd, SocketEnd][] = [];
  const outbound = new OwnOutbound(isLocal, async (local, remote) => {
    asked.push([local, remote]);
    return found;
  });
  return { outbound, asked };
}

it('knows a connection of ours by both its ends, without asking the system', () => {
  const { outbound, asked } = outboundWhere(false);
  const local = at('127.0.0.1', 40_000);
  outbound.add(local, at('127.0.0.1', 9000));
  outbound.add(local, ADMIN);
  assert.equal(outbound.has(local, ADMIN), true);
  assert.equal(outbound.has(at('127.0.0.1', 40_001), ADMIN), false);
  assert.equal(outbound.has(at('127.0.0.2', 40_000), ADMIN), false);
  outbound.delete(local, at('127.0.0.1', 9000));
  assert.equal(outbound.has(local, ADMIN), true, 'the end of one is not the end of the other');
  outbound.delete(local, ADMIN);
  assert.equal(outbound.has(local, ADMIN), false);
  assert.deepEqual(asked, []);
});

for (const remote of [at('127.0.0.1', 9000), at('203.0.113.1', 80)]) {
  const where = `${remote.address}:${remote.port}`;

  it(`takes one that went to ${where} for ours when no other socket leads here: a translator has turned it round`, async () => {
    const { outbound, asked } = outboundWhere(false);
    const local = at('127.0.0.1', 40_000);
    outbound.add(local, remote);
    assert.equal(await outbound.has(local, ADMIN), true);
    assert.deepEqual(asked, [[local, ADMIN]]);
  });

  it(`does not take one that went to ${where} for another program's that was given the same port`, async () => {
    const { outbound } = outboundWhere(true);
    const local = at('127.0.0.1', 40_000);
    outbound.add(local, remote);
    assert.equal(await outbound.has(local, ADMIN), false);
  });
}

it('goes by where ours went, where the system does not say', async () => {
  const { outbound } = outboundWhere(null);
  const [one, two] = [at('127.0.0.1', 40_000), at('10.0.0.5', 40_000)];
  outbound.add(one, at('127.0.0.1', 9000));
  outbound.add(two, at('203.0.113.1', 80));
  assert.equal(await outbound.has(one, ADMIN), false);
  assert.equal(await outbound.has(two, ADMIN), true);
});
