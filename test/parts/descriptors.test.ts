// The number of connections that fits a limit of descriptors.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { connectionsFor, reservedOf } from '../../src/parts/capacity.js';

it('a connection needs two descriptors, and four with TLS listeners', () => {
  const limit = 10_000;
  const free = limit - reservedOf(limit);
  assert.equal(connectionsFor(limit, false), free / 2);
  assert.equal(connectionsFor(limit, true), free / 4);
  assert.equal(connectionsFor(1, true), 1);
});
