// Following what other processes change: many accounts in few steps, each once, and nothing lost by a failure.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Change } from '../../src/core/changes.js';
import { followChanges } from '../../src/store/follow-changes.js';
import { eventually } from '../helpers/eventually.js';
import { createTestTimers } from '../helpers/timers.js';

/** Follows a list of changes, told in parts of `part`; who is in `fails` cannot be taken in. */
function follow(t: TestContext, changes: Change[], part: number) {
  const applied: (readonly string[])[] = [];
  const settings: string[] = [];
  const errors: unknown[] = [];
  const fails = new Set<string>();
  const hangs = new Set<string>();
  const hanging: (() => void)[] = [];
  const ended: string[] = [];
  let wake = (): void => undefined;
  const hang = (key: string) =>
    hangs.has(key) ? new Promise<void>((resolve) => hanging.push(resolve)) : Promise.resolve();
  const timers = createTestTimers();
  const follower = followChanges({
    feed: {
      async next() {
        const found = changes.splice(0, part);
        await hang('reading');
        return found;
      },
      listen(heard) {
        wake = heard;
        return { stop: async () => undefined };
      },
    },
    intervalMs: 250,
    async applyAccounts(ids) {
      if (ids.some((id) => fails.has(id))) throw new Error('no database');
      await Promise.all(ids.map(hang));
      applied.push(ids);
    },
    async applySetting(key) {
      if (fails.has(key)) throw new Error(`cannot read ${key}`);
      await hang(key);
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
  const goOn = (): void => {
    for (const go of hanging.splice(0)) go();
  };
  t.after(goOn);
  return { applied, settings, errors, fails, hangs, ended, goOn, poll, wake, stop: follower.stop };
}

const accountChange = (id: string): Change => ({ topic: 'account', id });

test('many changes are applied in batches of some hundreds, each account once', async (t) => {
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

test('there is no wait between the parts of a long list of changes', async (t) => {
  const changes = Array.from({ length: 50 }, (_, n) => accountChange(`id-${n}`));
  const { applied, poll } = follow(t, changes, 10);
  await poll();
  assert.equal(applied.length, 5);
});

test('accounts that could not be taken in are tried again, and hold up none that changed meanwhile', async (t) => {
  const changes = [accountChange('a'), accountChange('b')];
  const { applied, errors, fails, poll } = follow(t, changes, 10);
  fails.add('b');
  await poll();
  await poll();
  assert.equal(errors.length, 2);
  assert.equal(applied.length, 0);
  changes.push(accountChange('c'));
  await poll();
  assert.deepEqual(applied, [['c']]);
  fails.delete('b');
  await poll();
  assert.deepEqual(applied, [['c'], ['a', 'b']]);
});

test('a change that arrives during a read is read right after it, without waiting for the next poll', async (t) => {
  const changes: Change[] = [];
  const { applied, hangs, goOn, poll, wake } = follow(t, changes, 10);
  hangs.add('reading');
  await poll();
  changes.push(accountChange('a'));
  wake();
  hangs.delete('reading');
  goOn();
  await eventually(() => applied.length > 0);
  assert.deepEqual(applied, [['a']]);
});

test('what takes long to read holds nothing else up, and is read again when it changes meanwhile', async (t) => {
  const changes: Change[] = [accountChange('slow'), { topic: 'setting', key: 'slow' }];
  const { applied, settings, hangs, ended, goOn, poll } = follow(t, changes, 10);
  hangs.add('slow');
  await poll();
  changes.push(accountChange('a'), { topic: 'end-session', id: 's' });
  await poll();
  assert.deepEqual([applied, settings, ended], [[['a']], [], ['s']]);
  changes.push(accountChange('slow'), { topic: 'setting', key: 'slow' });
  await poll();
  hangs.delete('slow');
  goOn();
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
  const { applied, settings, errors, fails, poll } = follow(t, changes, 10);
  fails.add('broken');
  await poll();
  assert.ok(errors.length >= 1);
  assert.deepEqual([applied, settings], [[['a']], ['whitelist']]);
  fails.delete('broken');
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

test('when anything may have changed, every setting and every account is read again', async (t) => {
  const { applied, settings, poll } = follow(t, [{ topic: 'everything' }], 1);
  await poll();
  assert.deepEqual([applied.flat(), settings], [['every-account'], ['every-setting']]);
});
