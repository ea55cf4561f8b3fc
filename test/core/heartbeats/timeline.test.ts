// The timeline of an account.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playedSpans } from '../../../src/core/heartbeats/heartbeat.js';

test('a timeline joins heartbeats at short intervals, separately for each game', () => {
  const at = (seconds: number, gameId: string | null) => ({ at: seconds * 1000, gameId });
  assert.deepEqual(playedSpans([at(0, 'a'), at(30, 'a'), at(30, null), at(60, 'a'), at(200, 'a')], 90_000), [
    { from: 0, to: 60_000, gameId: 'a', heartbeats: 3 },
    { from: 30_000, to: 30_000, gameId: null, heartbeats: 1 },
    { from: 200_000, to: 200_000, gameId: 'a', heartbeats: 1 },
  ]);
});
