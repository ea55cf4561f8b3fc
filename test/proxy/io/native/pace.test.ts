// The native loop rests only while tens of thousands of datagrams arrive each second, few at a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from '../../../../src/proxy/io/native/loop.js';

const TURNS_PER_MS = 20;

/** Runs turns for `ms` with datagrams of `sockets` and other events. Returns whether the loop rests after the last turn. */
function isRestDue(turn: { datagrams: number; sockets: number; others: number }, ms: number): boolean {
  const pace = new Pace();
  let isDue = false;
  for (let i = 0; i <= ms * TURNS_PER_MS; i += 1) {
    for (let socket = 0; socket < turn.sockets; socket += 1) pace.received(turn.datagrams);
    isDue = pace.isRestDue(turn.sockets + turn.others, 1_000 + i / TURNS_PER_MS);
  }
  return isDue;
}

test('the loop rests when many datagrams arrive a few at a time', () => {
  assert.equal(isRestDue({ datagrams: 3, sockets: 1, others: 0 }, 3), true);
  assert.equal(isRestDue({ datagrams: 1, sockets: 2, others: 0 }, 3), true);
});

test('the loop does not rest when few datagrams arrive', () => {
  assert.equal(isRestDue({ datagrams: 1, sockets: 1, others: 0 }, 3), false);
});

test('the loop does not rest when each turn finds many datagrams', () => {
  assert.equal(isRestDue({ datagrams: 16, sockets: 1, others: 0 }, 3), false);
  assert.equal(isRestDue({ datagrams: 4, sockets: 4, others: 0 }, 3), false);
});

test('the loop does not rest when it serves other sockets, too', () => {
  assert.equal(isRestDue({ datagrams: 3, sockets: 1, others: 1 }, 3), false);
  assert.equal(isRestDue({ datagrams: 0, sockets: 0, others: 1 }, 3), false);
});

test('the loop stops resting once few datagrams arrive', () => {
  const pace = new Pace();
  let nowMs = 1_000;
  const turn = (datagrams: number): boolean => {
    nowMs += 0.1;
    pace.received(datagrams);
    return pace.isRestDue(1, nowMs);
  };
  for (let i = 0; i < 40; i += 1) turn(8);
  assert.equal(turn(8), true);
  for (let i = 0; i < 40; i += 1) turn(1);
  assert.equal(turn(1), false);
});
