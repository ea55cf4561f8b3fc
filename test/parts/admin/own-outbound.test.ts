// Detection of connections to the admin API that come through the proxy, among connections with similar addresses.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Endpoint } from '../../../src/core/addresses/ip.js';
import { createIsOwnOutbound } from '../../../src/parts/admin/own-outbound.js';

const at = (address: string, port: number) => ({ address, port });
const ADMIN = at('127.0.0.1', 8080);
const LOCAL = at('127.0.0.1', 40_000);
const isLocal = (address: string): boolean => address.startsWith('127.') || address === '10.0.0.5';

/** @param found whether the system has a socket from the peer to the listener; null when it cannot tell */
function outboundTo(remotes: readonly Endpoint[], found: boolean | null, local = LOCAL) {
  const lookups: [Endpoint, Endpoint][] = [];
  const isOwn = createIsOwnOutbound({
    hasPort: (port) => port === local.port,
    isLocal,
    remotesOf: async ({ address, port }) => (address === local.address && port === local.port ? remotes : []),
    isConnected: async (from, to) => {
      lookups.push([from, to]);
      return found;
    },
  });
  return { isOwn, lookups };
}

it('recognizes a connection of the proxy by both its ends, without a look-up', async () => {
  const { isOwn, lookups } = outboundTo([at('127.0.0.1', 9000), ADMIN], false);
  assert.equal(await isOwn(LOCAL, ADMIN), true);
  assert.equal(
    isOwn(at('127.0.0.1', 40_001), ADMIN),
    false,
    'no look-up for a port that the proxy does not use',
  );
  assert.equal(
    isOwn(at('203.0.113.9', 40_000), ADMIN),
    false,
    'no look-up for an address of another machine',
  );
  assert.equal(await isOwn(at('127.0.0.2', 40_000), ADMIN), false);
  assert.deepEqual(lookups, []);
});

for (const remote of [at('127.0.0.1', 9000), at('203.0.113.1', 80)]) {
  const destination = `${remote.address}:${remote.port}`;

  it(`recognizes a connection to ${destination} that was redirected here: no other socket has its ends`, async () => {
    const { isOwn, lookups } = outboundTo([remote], false);
    assert.equal(await isOwn(LOCAL, ADMIN), true);
    assert.deepEqual(lookups, [[LOCAL, ADMIN]]);
  });

  it(`does not mistake the connection of another program for one to ${destination} from the same port`, async () => {
    const { isOwn } = outboundTo([remote], true);
    assert.equal(await isOwn(LOCAL, ADMIN), false);
  });
}

it('decides by the destination of the proxy’s connection when the system cannot tell', async () => {
  const otherAddress = at('10.0.0.5', 40_000);
  assert.equal(await outboundTo([at('127.0.0.1', 9000)], null).isOwn(LOCAL, ADMIN), false);
  assert.equal(
    await outboundTo([at('203.0.113.1', 80)], null, otherAddress).isOwn(otherAddress, ADMIN),
    true,
  );
});
