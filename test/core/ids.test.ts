// GUIDs that sort in the order of their creation, and those that contain a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrderedIds, createTimedId, timeOfId } from '../../src/core/ids.js';

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('ids begin with the time and are UUIDs of version 7', () => {
  const newId = createOrderedIds(() => 0x0123456789ab);
  const id = newId();
  assert.match(id, VERSION_7);
  assert.equal(id.slice(0, 13), '01234567-89ab');
});

test('ids of sessions contain their time, and their first digits tell one from another', () => {
  // First that of the epoch, of which no text can be left from an earlier id.
  for (const ms of [0, 1, 1, 0]) assert.equal(timeOfId(createTimedId(ms)), ms);
  const [one, other] = [createTimedId(0x0123456789ab), createTimedId(0x0123456789ab)];
  assert.match(one, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-0123456789ab$/);
  assert.equal(timeOfId(one), 0x0123456789ab);
  assert.notEqual(one.slice(0, 8), other.slice(0, 8));
  for (const id of [createOrderedIds(() => 1000)(), crypto.randomUUID()]) assert.equal(timeOfId(id), null);
});

test('ids grow within a millisecond, beyond its counter, and when the clock is set back', () => {
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

test('ids sort after a given id of another generator, also one whose clock is ahead', () => {
  const ahead = createOrderedIds(() => 1_000_000);
  const behind = createOrderedIds(() => 1000);
  let last = ahead();
  for (let i = 0; i < 5000; i++) {
    const id = (i % 3 === 0 ? ahead : behind)(last);
    assert.ok(id > last, `${id} after ${last}`);
    last = id;
  }
});
