// Following the changes of other processes: many accounts in few batches, each once, and no change lost by a failure.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Change, followChanges } from '../../src/store/follow-changes.js';
import { eventually } from '../helpers/eventually.js';
import { createTestTimers } from '../helpers/timers.js';

/** Follows `changes`, read in batches of `size`. Keys in `failing` cannot be applied; those in `slow` only after `resume`. */
function follow(t: TestContext, changes: Change[], size: number) {
  const applied: (readonly string[])[] = [];
  const settings: string[] = [];
  const errors: unknown[] = [];
  const failing = new Set<string>();
  const slow = new Set<string>();
  const waiting: (() => void)[] = [];
  const ended: string[] = [];
  let wake = (): void => undefined;
  const waitIfSlow = (key: string) =>
    slow.has(key) ? new Promise<void>((resolve) => waiting.push(resolve)) : Promise.resolve();
  const timers = createTestTimers();
  const follower = followChanges({
    feed: {
      async next() {
        const found = changes.splice(0, size);
        await waitIfSlow('reading');
        return found;
      },
      listen(heard) {
        wake = heard;
        return { stop: async () => undefined };
      },
    },
    intervalMs: 250,
    async applyAccounts(ids) {
      if (ids.some((id) => failing.has(id))) throw new Error('no database');
      await Promise.all(ids.map(waitIfSlow));
      applied.push(ids);
    },
    async applySetting(key) {
      if (failing.has(key)) throw new Error(`cannot read ${key}`);
      await waitIfSlow(key);
      settings.push(key);
    },
    endSession: (id) => ended.push(id),
    endAccountSessions: () => undefined,
    revokePermit: () => undefined,
    applyPenalties: async () => undefined,
    everyAccount: async () => ['every-account'],
    everySetting: () => ['every-setting'],
    onError: (error) => errors.push(error),
    timers,
  });
  follower.start();
  t.after(follower.stop);
  /** Lets one poll happen. */
  const poll = () => timers.pass(250);
  const resume = (): void => {
    for (const finish of waiting.splice(0)) finish();
  };
  t.after(resume);
  return { applied, settings, errors, failing, slow, ended, resume, poll, wake, stop: follower.stop };
}

const accountChange = (id: string): Change => ({ topic: 'account', key: id });

test('many changes are applied in batches of at most 500 accounts, each account once', async (t) => {
  const ids = Array.from({ length: 1_203 }, (_, n) => `id-${n}`);
  const changes = ids.flatMap((id) => [accountChange(id), accountChange(id)]);
  const { applied, poll } = follow(t, changes, 10_000);
  await poll();
  assert.deepEqual(applied.flat(), ids);
  assert.deepEqual(
    applied.map(({ length }) => length),
    [500, 500, 203],
  );
});

test('a long list of changes is read without a wait between its batches', async (t) => {
  const changes = Array.from({ length: 50 }, (_, n) => accountChange(`id-${n}`));
  const { applied, poll } = follow(t, changes, 10);
  await poll();
  assert.equal(applied.length, 5);
});

test('accounts that could not be applied are retried, and do not delay later changes', async (t) => {
  const changes = [accountChange('a'), accountChange('b')];
  const { applied, errors, failing, poll } = follow(t, changes, 10);
  failing.add('b');
  await poll();
  await poll();
  assert.equal(errors.length, 2);
  assert.equal(applied.length, 0);
  changes.push(accountChange('c'));
  await poll();
  assert.deepEqual(applied, [['c']]);
  failing.delete('b');
  await poll();
  assert.deepEqual(applied, [['c'], ['a', 'b']]);
});

test('a change that arrives during a read is read right after it, without waiting for the next poll', async (t) => {
  const changes: Change[] = [];
  const { applied, slow, resume, poll, wake } = follow(t, changes, 10);
  slow.add('reading');
  await poll();
  changes.push(accountChange('a'));
  wake();
  slow.delete('reading');
  resume();
  await eventually(() => applied.length > 0);
  assert.deepEqual(applied, [['a']]);
});

test('a slow account or setting delays no other, and is read again when it changes meanwhile', async (t) => {
  const changes: Change[] = [accountChange('slow'), { topic: 'setting', key: 'slow' }];
  const { applied, settings, slow, ended, resume, poll } = follow(t, changes, 10);
  slow.add('slow');
  await poll();
  changes.push(accountChange('a'), { topic: 'end-session', key: 's' });
  await poll();
  assert.deepEqual([applied, settings, ended], [[['a']], [], ['s']]);
  changes.push(accountChange('slow'), { topic: 'setting', key: 'slow' });
  await poll();
  slow.delete('slow');
  resume();
  await poll();
  assert.deepEqual(
    [applied, settings],
    [
      [['a'], ['slow'], ['slow']],
      ['slow', 'slow'],
    ],
  );
});

test('a setting that cannot be read delays nothing else, and is retried', async (t) => {
  const changes: Change[] = [
    { topic: 'setting', key: 'broken' },
    { topic: 'setting', key: 'whitelist' },
    accountChange('a'),
  ];
  const { applied, settings, errors, failing, poll } = follow(t, changes, 10);
  failing.add('broken');
  await poll();
  assert.ok(errors.length >= 1);
  assert.deepEqual([applied, settings], [[['a']], ['whitelist']]);
  failing.delete('broken');
  await poll();
  assert.deepEqual(settings, ['whitelist', 'broken']);
});

test('after stop there are no more queries', async (t) => {
  const changes = [accountChange('a')];
  const { applied, poll, stop } = follow(t, changes, 100);
  await poll();
  assert.equal(applied.length, 1);
  await stop();
  changes.push(accountChange('b'));
  await poll();
  assert.equal(changes.length, 1);
});

test('the change "everything" makes every setting and every account be read again', async (t) => {
  const { applied, settings, poll } = follow(t, [{ topic: 'everything' }], 1);
  await poll();
  assert.deepEqual([applied.flat(), settings], [['every-account'], ['every-setting']]);
});
