// Which connections to the admin API came through the proxy: the very same ones, and no others that look alike.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createIsOwnOutbound, type SocketEnd } from '../../../src/core/sessions/outbound.js';

const at = (address: string, port: number) => ({ address, port });
const ADMIN = at('127.0.0.1', 8080);
const LOCAL = at('127.0.0.1', 40_000);
const isLocal = (address: string): boolean => address.startsWith('127.') || address === '10.0.0.5';

/** `found`: what the system says of a socket from the peer to the listener. */
function outboundTo(remotes: readonly SocketEnd[], found: boolean | null, local = LOCAL) {
  const asked: [SocketEnd, SocketEnd][] = [];
  const isOwn = createIsOwnOutbound({
    hasPort: (port) => port === local.port,
    isLocal,
    remotesOf: async ({ address, port }) => (address === local.address && port === local.port ? remotes : []),
    isConnected: async (from, to) => {
      asked.push([from, to]);
      return found;
    },
  });
  return { isOwn, asked };
}

it('recognizes an own connection by both its ends, without a system call', async () => {
  const { isOwn, asked } = outboundTo([at('127.0.0.1', 9000), ADMIN], false);
  assert.equal(await isOwn(LOCAL, ADMIN), true);
  assert.equal(isOwn(at('127.0.0.1', 40_001), ADMIN), false, 'no question for a port that is not ours');
  assert.equal(isOwn(at('203.0.113.9', 40_000), ADMIN), false, 'nor for an address that is not');
  assert.equal(await isOwn(at('127.0.0.2', 40_000), ADMIN), false);
  assert.deepEqual(asked, []);
});

for (const remote of [at('127.0.0.1', 9000), at('203.0.113.1', 80)]) {
  const where = `${remote.address}:${remote.port}`;

  it(`takes one that went to ${where} for ours when no other socket leads here: a translator has turned it round`, async () => {
    const { isOwn, asked } = outboundTo([remote], false);
    assert.equal(await isOwn(LOCAL, ADMIN), true);
    assert.deepEqual(asked, [[LOCAL, ADMIN]]);
  });

  it(`does not take one that went to ${where} for another program's that was given the same port`, async () => {
    const { isOwn } = outboundTo([remote], true);
    assert.equal(await isOwn(LOCAL, ADMIN), false);
  });
}

it('goes by where ours went, where the system does not say', async () => {
  const away = at('10.0.0.5', 40_000);
  assert.equal(await outboundTo([at('127.0.0.1', 9000)], null).isOwn(LOCAL, ADMIN), false);
  assert.equal(await outboundTo([at('203.0.113.1', 80)], null, away).isOwn(away, ADMIN), true);
});
