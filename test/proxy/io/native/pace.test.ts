// When the native loop rests: only while datagrams come by the ten thousands a second, and few at a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from '../../../../src/proxy/io/native/pace.js';

const TURNS_PER_MS = 20;

/** One turn for each ms of `ms`, with datagrams of `sockets`, and other events; returns whether the loop rests after the last one. */
function isRestDue(turn: { datagrams: number; sockets: number; others: number }, ms: number): boolean {
  const pace = new Pace();
  let isDue = false;
  for (let i = 0; i <= ms * TURNS_PER_MS; i += 1) {
    for (let socket = 0; socket < turn.sockets; socket += 1) pace.received(turn.datagrams);
    isDue = pace.isRestDue(turn.sockets + turn.others, 1_000 + i / TURNS_PER_MS);
  }
  return isDue;
}

test('many datagrams that come a few at a time make the loop rest', () => {
  assert.equal(isRestDue({ datagrams: 3, sockets: 1, others: 0 }, 3), true);
  assert.equal(isRestDue({ datagrams: 1, sockets: 2, others: 0 }, 3), true);
});

test('few datagrams are moved without a rest', () => {
  assert.equal(isRestDue({ datagrams: 1, sockets: 1, others: 0 }, 3), false);
});

test('the loop does not rest where a turn finds enough datagrams', () => {
  assert.equal(isRestDue({ datagrams: 16, sockets: 1, others: 0 }, 3), false);
  assert.equal(isRestDue({ datagrams: 4, sockets: 4, others: 0 }, 3), false);
});

test('the loop does not rest where other sockets are served too', () => {
  assert.equal(isRestDue({ datagrams: 3, sockets: 1, others: 1 }, 3), false);
  assert.equal(isRestDue({ datagrams: 0, sockets: 0, others: 1 }, 3), false);
});

test('rests end once few datagrams come', () => {
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
