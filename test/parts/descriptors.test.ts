// How many connections a descriptor limit leaves room for.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { connectionsFor, reservedOf } from '../../src/parts/descriptors.js';

it('a connection takes two descriptors, and four where it may be behind TLS', () => {
  const limit = 10_000;
  const free = limit - reservedOf(limit);
  assert.equal(connectionsFor(limit, false), free / 2);
  assert.equal(connectionsFor(limit, true), free / 4);
  assert.equal(connectionsFor(1, true), 1);
});
