// Which connections to the management plane came through the proxy: the very same ones, and no others that look alike.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OwnOutbound } from '../../../src/core/sessions/outbound.js';

const at = (address: string, port: number) => ({ address, port });
const ADMIN = at('127.0.0.1', 8080);

it('knows a connection of ours by both its ends, and another program that was given the same port', () => {
  const outbound = new OwnOutbound((address) => address.startsWith('127.'));
  const local = at('127.0.0.1', 40_000);
  outbound.add(local, at('127.0.0.1', 9000));
  assert.equal(outbound.has(local, ADMIN), false, 'ours went to port 9000: this is somebody else');
  outbound.add(local, ADMIN);
  assert.equal(outbound.has(local, ADMIN), true);
  outbound.delete(local, at('127.0.0.1', 9000));
  assert.equal(outbound.has(local, ADMIN), true, 'the end of one is not the end of the other');
  outbound.delete(local, ADMIN);
  assert.equal(outbound.has(local, ADMIN), false);
});

it('takes one that went elsewhere for ours: a translator may have turned it round', () => {
  const outbound = new OwnOutbound((address) => address.startsWith('127.'));
  const local = at('10.0.0.5', 40_000);
  outbound.add(local, at('203.0.113.1', 80));
  assert.equal(outbound.has(local, at('10.0.0.5', 8080)), true);
  assert.equal(outbound.has(at('10.0.0.5', 40_001), at('10.0.0.5', 8080)), false);
});
