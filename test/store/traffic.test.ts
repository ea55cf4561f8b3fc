// Traffic of days by account, game and exit, on both databases: sums, what is unknown, the limits of games and of retention.
import assert from 'node:assert/strict';
import { OTHER_GAMES } from '../../src/core/accounts/usage/usage.js';
import { addAccount } from '../helpers/stored-accounts.js';
import { onEachDatabase } from './databases.js';
import { account } from './helpers.js';

const DAY = 20_000;
const part = (kind: 'game' | 'exit', name: string, bytesUp: number) => ({
  kind,
  name,
  bytesUp,
  bytesDown: 1,
});

onEachDatabase('long reports of many accounts, which are read in slices, leave out none', async (open) => {
  const { accounts, trafficReport } = (await open()).store;
  // One more than are read at once.
  const all = Array.from({ length: 5_001 }, (_, n) => account({ username: `player-${n}` }));
  const traffic = all.map(({ id }, n) => ({
    ...{ accountId: id, day: DAY + (n % 20), bytesUp: n, bytesDown: 1, sessions: 1 },
  }));
  await accounts.addMany(all, undefined, traffic);
  const sumOf = async (first: number, last: number) => {
    const found = await trafficReport.byAccount([[first, last]]);
    return [found.length, found.reduce((sum, { bytesUp }) => sum + bytesUp, 0)];
  };
  assert.deepEqual(await sumOf(DAY, DAY + 19), [5_001, (5_000 * 5_001) / 2]);
  assert.equal((await sumOf(DAY + 1, DAY + 8))[0], 2_000, 'eight days: by account');
  assert.equal((await sumOf(DAY + 1, DAY + 7))[0], 1_750, 'seven days: by day');
  const { unknown } = await trafficReport.byPart('game', [[DAY, DAY + 19]], 0);
  assert.deepEqual(unknown, { bytesUp: (5_000 * 5_001) / 2, bytesDown: 5_001 });
});

onEachDatabase('traffic is summed by account, game and exit over ranges of days', async (open) => {
  const { accounts, traffic, trafficReport } = (await open()).store;
  const [one, two, old] = [
    account({ username: 'one' }),
    account({ username: 'two' }),
    account({ username: 'old' }),
  ];
  await addAccount(accounts, one);
  await addAccount(accounts, two);
  // As an import adds it: nothing is known of games and exits.
  const before = [{ accountId: old.id, day: DAY, bytesUp: 7, bytesDown: 5, sessions: 0 }];
  await accounts.addMany([old], undefined, before);
  const of = (accountId: string, day: number, ...parts: ReturnType<typeof part>[]) => ({
    ...{ accountId, day, bytesUp: 100, bytesDown: 50, sessions: 2, parts },
  });
  const games = ['a', 'b', 'c', 'd'].map((name) => part('game', name, 1));
  const rows = [
    of(one.id, DAY, ...games, part('exit', 'jp', 30)),
    of(two.id, DAY, part('game', 'a', 10)),
    of(one.id, DAY + 1, part('game', 'd', 1)),
  ];
  await traffic.add(rows, 1, 3);
  await traffic.add([of(one.id, DAY, part('game', 'b', 1), part('game', 'e', 1))], 2, 3);
  const sorted = async (by: 'game' | 'exit', days: [number, number][], knownFrom = 0) => {
    const { sums, unknown } = await trafficReport.byPart(by, days, knownFrom);
    return { sums: sums.sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)), unknown };
  };
  const all: [number, number][] = [[DAY, DAY + 1]];
  assert.deepEqual(await sorted('game', [[DAY, DAY]]), {
    sums: [
      { name: null, accounts: null, bytesUp: 284, bytesDown: 143 },
      { name: OTHER_GAMES, accounts: 1, bytesUp: 2, bytesDown: 2 },
      { name: 'a', accounts: 2, bytesUp: 11, bytesDown: 2 },
      { name: 'b', accounts: 1, bytesUp: 2, bytesDown: 2 },
      { name: 'c', accounts: 1, bytesUp: 1, bytesDown: 1 },
    ],
    unknown: { bytesUp: 7, bytesDown: 5 },
  });
  assert.deepEqual((await sorted('exit', all)).sums.at(-1), {
    ...{ name: 'jp', accounts: 1, bytesUp: 30, bytesDown: 1 },
  });
  assert.deepEqual(await sorted('game', all, DAY + 1), {
    sums: [
      { name: null, accounts: null, bytesUp: 99, bytesDown: 49 },
      { name: 'd', accounts: 1, bytesUp: 1, bytesDown: 1 },
    ],
    unknown: { bytesUp: 307, bytesDown: 155 },
  });
  const byAccount = await trafficReport.byAccount(all);
  assert.deepEqual(
    byAccount.find(({ accountId }) => accountId === one.id),
    { accountId: one.id, bytesUp: 300, bytesDown: 150, sessions: 6 },
  );
  assert.equal((await trafficReport.byAccount([[DAY + 1, DAY + 1]])).length, 1);
  assert.deepEqual(await trafficReport.byAccount(all, two.id), [], 'a seller without accounts');
  assert.equal((await trafficReport.byPart('game', all, 0, two.id)).sums.length, 0);

  assert.equal(await trafficReport.trimParts(DAY, 100), 0);
  assert.equal(await trafficReport.trimParts(DAY + 1, 2), 2, 'at most two at once');
  assert.equal(await trafficReport.trimParts(DAY + 1, 100), 4);
  assert.equal(
    (await trafficReport.byPart('game', all, 0)).sums.find(({ name }) => name === 'd')?.bytesUp,
    1,
  );
  await accounts.removeMany([one.id]);
  assert.deepEqual(
    (await trafficReport.byPart('game', all, 0)).sums.map(({ name }) => name),
    [null],
    'goes with the account',
  );
});
