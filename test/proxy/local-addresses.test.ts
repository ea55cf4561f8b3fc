// The addresses of this machine, also while the system call that lists them fails.
import assert from 'node:assert/strict';
import type { NetworkInterfaceInfo } from 'node:os';
import { describe, it } from 'node:test';
import { parseIp } from '../../src/core/addresses/ip.js';
import { createIsLocalAddress } from '../../src/proxy/local-addresses.js';

const ip = (text: string): Uint8Array => parseIp(text) ?? assert.fail(text);

describe('addresses of this machine', () => {
  it('stay cached while no file descriptor is free, and are updated later', () => {
    let now = 0;
    let interfaceAddresses: string[] | null = ['203.0.113.7'];
    const isLocal = createIsLocalAddress(
      () => now,
      () => {
        if (interfaceAddresses === null) throw new Error('EMFILE');
        return { eth0: interfaceAddresses.map((address) => ({ address }) as NetworkInterfaceInfo) };
      },
    );
    interfaceAddresses = null;
    for (now of [0, 10_000]) {
      assert.equal(isLocal(ip('203.0.113.7')), true);
      assert.equal(isLocal(ip('203.0.113.8')), false);
    }
    interfaceAddresses = ['203.0.113.8'];
    now = 20_000;
    assert.equal(isLocal(ip('203.0.113.7')), false);
    assert.equal(isLocal(ip('203.0.113.8')), true);
  });
});
