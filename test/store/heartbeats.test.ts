// Heartbeat entries and their totals: the totals always equal the stored entries.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Knex } from 'knex';
import type { Heartbeat } from '../../src/core/heartbeats/heartbeat.js';
import { createHeartbeatStore } from '../../src/store/tables/heartbeats.js';
import { scaled } from '../helpers/scale.js';
import { addAccount, changeAccount } from '../helpers/stored-accounts.js';
import { newestOf } from '../helpers/stored-heartbeats.js';
import { onEachDatabase } from './databases.js';
import { account, connectBeside, heartbeat, KEEP_ALL, openTestStore } from './helpers.js';

onEachDatabase('entries are read back newest first and unchanged', async (open) => {
  const { store } = await open();
  const player = account();
  await addAccount(store.accounts, player);
  const batch = [
    heartbeat(player, { kind: 'open', destination: '[::1]:80', protocol: 'udp' }),
    heartbeat(player, { kind: 'game', gameId: `'"\u2028 𝄞`, at: 7 }),
    heartbeat(player, { kind: 'close', bytesUp: 2 ** 40, bytesDown: Number.MAX_SAFE_INTEGER }),
  ];
  await store.heartbeats.append(batch, KEEP_ALL);
  assert.deepEqual(await newestOf(store, player.id, 10), batch.toReversed());
  assert.deepEqual(await newestOf(store, player.id, 1), batch.slice(-1));
});

onEachDatabase('a renamed account has its new name in all its entries', async (open) => {
  const { store } = await open();
  const [player, other] = [account(), account()];
  for (const each of [player, other]) await addAccount(store.accounts, each);
  await store.heartbeats.append([heartbeat(player), heartbeat(other)], KEEP_ALL);
  await changeAccount(store.accounts, player.id, { username: 'renamed' });
  // The session that the new name ends reports its close afterwards, under the name it had logged in with.
  await store.heartbeats.append([heartbeat(player, { kind: 'close' })], KEEP_ALL);
  const namesOf = (entries: readonly Heartbeat[]) => entries.map(({ username }) => username);
  assert.deepEqual(namesOf(await newestOf(store, player.id, 10)), ['renamed', 'renamed']);
  assert.deepEqual(namesOf(await store.heartbeats.list({}, null, 10)), [
    'renamed',
    other.username,
    'renamed',
  ]);
});

onEachDatabase('GameIDs that look like numbers or JSON stay text', async (open) => {
  const { store } = await open();
  const player = account();
  await addAccount(store.accounts, player);
  for (const gameId of ['007', '1e3', 'null', 'true', '[1]', '{"a":1}', '']) {
    const [totals] = await store.heartbeats.append([heartbeat(player, { gameId })], KEEP_ALL);
    assert.equal(totals?.latestGameId, gameId);
    assert.equal((await newestOf(store, player.id, 1))[0]?.gameId, gameId);
  }
});

onEachDatabase('NUL, which not every database can store, is replaced', async (open) => {
  const { store } = await open();
  const player = account();
  await addAccount(store.accounts, player);
  await store.heartbeats.append([heartbeat(player, { gameId: 'a\0b', destination: '\\u0000:1' })], KEEP_ALL);
  const [stored] = await newestOf(store, player.id, 1);
  assert.deepEqual([stored?.gameId, stored?.destination], ['a\uFFFDb', '\\u0000:1']);
});

test('the entries of a game, or of an account, are found by an index (SQLite)', async (t) => {
  const { file } = await openTestStore(t);
  const db = connectBeside(t, file);
  const queries: { sql: string; bindings: readonly Knex.RawBinding[] }[] = [];
  db.on('query', (query) => queries.push(query));
  const { list } = createHeartbeatStore({
    ...{ db, reads: db, isShared: false },
    recordActivity: async () => undefined,
    isNewBatch: async () => true,
  });
  for (const [filter, index] of [
    [{ gameId: 'chess' }, /heartbeats_of_game_index/],
    [{ gameId: 'chess', from: 1, to: 2 }, /heartbeats_of_game_index/],
    [{ accountId: 'a' }, /heartbeats_account_id_id_index/],
  ] as const) {
    await list(filter, 100, 50);
    const { sql, bindings } = queries.at(-1) ?? { sql: '', bindings: [] };
    const plan: { detail: string }[] = await db.raw(`explain query plan ${sql}`, [...bindings]);
    assert.match(plan.map(({ detail }) => detail).join('; '), index);
    assert.doesNotMatch(plan.map(({ detail }) => detail).join('; '), /TEMP B-TREE/);
  }
});

onEachDatabase(
  'an append returns the totals of each of its accounts, and 0 for a removed account',
  async (open) => {
    const { store } = await open();
    const [one, two, gone] = [account(), account(), account()];
    await addAccount(store.accounts, one);
    await addAccount(store.accounts, two);
    await store.heartbeats.append([heartbeat(two, { gameId: 'OLD' })], KEEP_ALL);
    const totals = await store.heartbeats.append(
      [heartbeat(one, { gameId: 'A' }), heartbeat(gone), heartbeat(one), heartbeat(two)],
      KEEP_ALL,
    );
    assert.deepEqual(totals, [
      { accountId: one.id, count: 2, latestGameId: 'A' },
      { accountId: gone.id, count: 0, latestGameId: null },
      { accountId: two.id, count: 2, latestGameId: 'OLD' },
    ]);
    assert.deepEqual(await newestOf(store, gone.id, 10), []);
    assert.deepEqual(await store.heartbeats.append([], KEEP_ALL), []);
  },
);

onEachDatabase('an entry is stored under the present user name of its account', async (open) => {
  const { store } = await open();
  const player = account();
  await addAccount(store.accounts, player);
  await store.heartbeats.append([heartbeat({ id: player.id, username: 'somebody else' })], KEEP_ALL);
  assert.equal((await newestOf(store, player.id, 1))[0]?.username, player.username);
});

onEachDatabase(
  'when the entry of the latest GameID is deleted, an earlier GameID or none is the latest',
  async (open) => {
    const { store } = await open();
    const player = account();
    await addAccount(store.accounts, player);
    const two = { ...KEEP_ALL, maxPerAccount: 2 };
    const append = async (fields: Partial<Heartbeat>[]) =>
      (
        await store.heartbeats.append(
          fields.map((each) => heartbeat(player, each)),
          two,
        )
      )[0];

    assert.equal((await append([{ gameId: 'A', at: 1 }, { at: 2 }]))?.latestGameId, 'A');
    assert.deepEqual(await append([{ at: 3 }]), { accountId: player.id, count: 2, latestGameId: null });

    await append([
      { gameId: 'B', at: 20 },
      { gameId: 'C', at: 10 },
    ]);
    const { changed, more } = await store.heartbeats.trim(15, 100);
    assert.deepEqual(changed, [{ accountId: player.id, count: 1, latestGameId: 'B' }]);
    assert.equal(more, false);
    assert.deepEqual((await store.heartbeats.trim(100, 100)).changed, [
      { accountId: player.id, count: 0, latestGameId: null },
    ]);
    assert.deepEqual(await store.heartbeats.totals(), []);
  },
);

onEachDatabase(
  'trim deletes the oldest entries first, at most the given number, and reports whether more are left',
  async (open) => {
    const { store } = await open();
    const player = account();
    await addAccount(store.accounts, player);
    await store.heartbeats.append(
      [5, 1, 4, 2, 3].map((at) => heartbeat(player, { at })),
      KEEP_ALL,
    );
    const stored = async () => (await newestOf(store, player.id, 10)).map((entry) => entry.at);
    assert.deepEqual(await store.heartbeats.trim(1, 10), { changed: [], more: false });
    assert.equal((await store.heartbeats.trim(4, 2)).more, true);
    assert.deepEqual(await stored(), [3, 4, 5]);
    assert.equal((await store.heartbeats.trim(4, 1)).more, false);
    assert.deepEqual(await stored(), [4, 5]);
  },
);

type Step =
  | {
      readonly do: 'append';
      readonly entries: readonly { who: number; at: number; game: string | null }[];
      cap: number;
    }
  | { readonly do: 'trim'; readonly before: number; readonly limit: number }
  | { readonly do: 'remove' | 'add'; readonly who: number };

const who = fc.nat({ max: 3 });
const at = fc.nat({ max: 30 });
const game = fc.option(fc.constantFrom('A', 'B', 'C'), { nil: null });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      entries: fc.array(fc.record({ who, at, game }), { maxLength: 12 }),
      cap: fc.integer({ min: 1, max: 8 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('trim' as const),
      before: at,
      limit: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'add' as const), who }) },
);

onEachDatabase(
  'totals equal the stored entries after any sequence of appends, trims and removals',
  async (open) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const { store } = await open();
        try {
          const players = [0, 1, 2, 3].map((n) => account({ username: `player-${n}` }));
          for (const player of players) await addAccount(store.accounts, player);
          // The expected entries in order of arrival. An absent account was removed.
          const model = new Map(players.map((player) => [player.id, [] as Heartbeat[]]));
          for (const each of steps) {
            if (each.do === 'append') {
              const batch = each.entries.flatMap((entry) => {
                const player = players[entry.who];
                return player ? [heartbeat(player, { at: entry.at, gameId: entry.game })] : [];
              });
              const totals = await store.heartbeats.append(batch, { ...KEEP_ALL, maxPerAccount: each.cap });
              for (const entry of batch) model.get(entry.accountId)?.push(entry);
              for (const id of new Set(batch.map((entry) => entry.accountId))) {
                const entries = model.get(id);
                entries?.splice(0, entries.length - each.cap);
                assert.deepEqual(
                  totals.find((total) => total.accountId === id),
                  totalsOf(id, entries ?? []),
                );
              }
            } else if (each.do === 'trim') {
              const old = [...model.values()].flat().filter((entry) => entry.at < each.before);
              const { changed, more } = await store.heartbeats.trim(each.before, each.limit);
              assert.equal(more, old.length > each.limit);
              const left = new Set<string>();
              for (const [id] of model)
                for (const entry of await newestOf(store, id, 1000)) left.add(entry.sessionId);
              const gone = old.filter((entry) => !left.has(entry.sessionId));
              assert.equal(gone.length, Math.min(old.length, each.limit));
              const newestGone = Math.max(...gone.map((entry) => entry.at));
              assert.ok(
                old.every((entry) => gone.includes(entry) || entry.at >= newestGone),
                'the oldest go first',
              );
              for (const [id, entries] of model)
                model.set(
                  id,
                  entries.filter((entry) => !gone.includes(entry)),
                );
              const changedIds = new Set(gone.map((entry) => entry.accountId));
              assert.deepEqual(new Set(changed.map((total) => total.accountId)), changedIds);
              for (const total of changed)
                assert.deepEqual(total, totalsOf(total.accountId, model.get(total.accountId) ?? []));
            } else {
              const player = players[each.who];
              assert.ok(player);
              if (each.do === 'remove') {
                assert.equal(
                  (await store.accounts.removeMany([player.id])).length > 0,
                  model.delete(player.id),
                );
              } else if (!model.has(player.id)) {
                await addAccount(store.accounts, player);
                model.set(player.id, []);
              }
            }
          }
          for (const [id, entries] of model) {
            assert.deepEqual(await newestOf(store, id, 1000), entries.toReversed());
          }
          const expected = [...model]
            .map(([id, entries]) => totalsOf(id, entries))
            .filter((total) => total.count > 0);
          const byId = (a: { accountId: string }, b: { accountId: string }) =>
            a.accountId.localeCompare(b.accountId);
          assert.deepEqual((await store.heartbeats.totals()).sort(byId), expected.sort(byId));
        } finally {
          await store.close();
        }
      }),
      { numRuns: scaled(8) },
    );
  },
);

function totalsOf(accountId: string, entries: readonly Heartbeat[]) {
  const latestGameId = entries.findLast((entry) => entry.gameId !== null)?.gameId ?? null;
  return { accountId, count: entries.length, latestGameId };
}

const MANY = scaled(200);

onEachDatabase(
  `10 new entries for each of ${MANY} accounts at their limit delete as many old ones`,
  async (open, _engine, t) => {
    const { store } = await open();
    const players = Array.from({ length: MANY }, () => account());
    await store.accounts.addMany(players);
    const batch = () =>
      Array.from({ length: 10 }, (_, n) =>
        players.map((player) => heartbeat(player, { gameId: n === 0 ? 'G' : null })),
      ).flat();
    const retention = { ...KEEP_ALL, maxPerAccount: 20 };
    const tookMs: number[] = [];
    for (let round = 0; round < 5; round++) {
      const entries = batch();
      const started = performance.now();
      await store.heartbeats.append(entries, retention);
      tookMs.push(performance.now() - started);
    }
    // The first two rounds fill the accounts up to the limit. After that, every new entry deletes an old one.
    const median = tookMs.slice(2).sort((a, b) => a - b)[1] ?? Number.NaN;
    t.diagnostic(
      `${10 * MANY} entries, cap active: ${median.toFixed(0)} ms (${Math.round((10 * MANY) / (median / 1000))} entries/s)`,
    );
    assert.ok(
      (await store.heartbeats.totals()).every((total) => total.count === 20 && total.latestGameId === 'G'),
    );
  },
);
