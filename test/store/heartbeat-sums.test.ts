// Sums of heartbeats in a real database: players choose GameIDs, so the number stored per account and step is bounded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHeartbeatSums, type HeartbeatSumStore } from '../../src/core/heartbeats/heartbeat-sums.js';
import { onEachDatabase } from './databases.js';
import { account, heartbeat } from './helpers.js';

const START = Date.UTC(2031, 0, 1);
const MAX_GAMES = 4;

function clock(): { now: () => number; pass: (ms: number) => void } {
  let at = START;
  return {
    now: () => at,
    pass: (ms) => {
      at += ms;
    },
  };
}

onEachDatabase(
  'a step keeps at most maxGames GameIDs of an account, and one sum of all others',
  async (open) => {
    const { store, connect } = await open();
    const db = connect();
    const { now, pass } = clock();
    const [fair, greedy] = [account(), account()];
    let sums = createHeartbeatSums({ store: store.heartbeatSums, maxGames: MAX_GAMES, now });
    const record = (of: typeof fair, gameId: string | null) =>
      sums.record(heartbeat(of, { at: now(), gameId, bytesUp: 1, bytesDown: 2 }));
    for (let minute = 0; minute < 30; minute += 1) {
      for (let n = 0; n < 20; n += 1) record(greedy, `made up ${minute} ${n}`);
      record(greedy, null);
      for (let n = 0; n < MAX_GAMES; n += 1) record(fair, `game ${n}`);
      if (minute % 7 === 0) await sums.flush();
      // A restarted daemon knows only the stored sums.
      if (minute === 14) sums = createHeartbeatSums({ store: store.heartbeatSums, maxGames: MAX_GAMES, now });
      pass(60_000);
    }
    await sums.flush();
    const steps: { at: number; account_id: string; games: number }[] = await db('heartbeat_sums')
      .whereNotIn('game_id', [' ', ''])
      .groupBy('step_seconds', 'at', 'account_id')
      .select('at', 'account_id')
      .count({ games: '*' });
    for (const { games } of steps) assert.ok(games <= MAX_GAMES, `${games} GameIDs in a step`);
    assert.ok(steps.some(({ account_id, games }) => account_id === fair.id && games === MAX_GAMES));
    const total = async (id: string) =>
      (
        await db('heartbeat_sums')
          .where({ step_seconds: 21_600, account_id: id })
          .sum({ sum: 'count' })
          .first()
      )?.['sum'] as number;
    assert.deepEqual([await total(greedy.id), await total(fair.id)], [30 * 21, 30 * MAX_GAMES]);

    const { series } = await sums.series('month', 'game', 20);
    const counted = series.reduce((sum, each) => sum + each.total, 0);
    assert.equal(counted, 30 * 21 + 30 * MAX_GAMES, 'the chart counts every entry');
    assert.ok(series.every(({ key }) => key !== ' '));
    const { items } = await sums.largest('month', 'game', 50);
    assert.ok(items.every(({ key }) => key !== ' '));
  },
);

test('the queue for the database is limited by accounts and minutes, and no count is lost', async () => {
  const { now, pass } = clock();
  let isBroken = true;
  const stored: { at: number; rows: number; count: number }[] = [];
  const store: Pick<HeartbeatSumStore, 'add' | 'trim'> = {
    async add(steps, rows) {
      if (isBroken) throw new Error('busy');
      const count = rows.reduce((sum, row) => sum + row.count, 0);
      stored.push({ at: (Number(steps.get(60)) - START) / 60_000, rows: rows.length, count });
    },
    trim: async () => {},
  };
  const sums = createHeartbeatSums({ store: store as HeartbeatSumStore, maxGames: MAX_GAMES, now });
  const player = account();
  const MINUTES = 100;
  for (let minute = 0; minute < MINUTES; minute += 1) {
    for (let third = 0; third < 3; third += 1) {
      for (let n = 0; n < 10; n += 1) {
        sums.record(heartbeat(player, { at: now(), gameId: `${minute} ${third} ${n}` }));
      }
      await assert.rejects(sums.flush());
      pass(20_000);
    }
  }
  isBroken = false;
  await sums.flush();
  assert.equal(
    stored.reduce((sum, { count }) => sum + count, 0),
    MINUTES * 30,
  );
  assert.equal(stored.length, 60);
  assert.ok(stored.every(({ rows }) => rows <= MAX_GAMES + 1));
  assert.equal(stored.at(-1)?.at, MINUTES - 1);
});
