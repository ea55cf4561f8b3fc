// GUIDs that sort in the order they were made.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrderedIds } from '../../src/core/ordered-id.js';

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('they begin with the time and are UUIDs of version 7', () => {
  const newId = createOrderedIds(() => 0x0123456789ab);
  const id = newId();
  assert.match(id, VERSION_7);
  assert.equal(id.slice(0, 13), '01234567-89ab');
});

test('they grow within a millisecond, past its counter, and when the clock steps back', () => {
  let now = 1000;
  const newId = createOrderedIds(() => now);
  let last = '';
  for (let i = 0; i < 20_000; i++) {
    if (i === 10_000) now = 10;
    if (i === 15_000) now = 5000;
    const id = newId();
    assert.match(id, VERSION_7);
    assert.ok(id > last, `${id} after ${last}`);
    last = id;
  }
});

test('they sort after the ids of another generator, also one with a fast clock', () => {
  const ahead = createOrderedIds(() => 1_000_000);
  const behind = createOrderedIds(() => 1000);
  let last = ahead();
  for (let i = 0; i < 5000; i++) {
    const id = (i % 3 === 0 ? ahead : behind)(last);
    assert.ok(id > last, `${id} after ${last}`);
    last = id;
  }
});
