// Settings in memory and in the database: one change at a time, and reloads after changes by other processes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../../../src/core/audit/audit.js';
import { createSetting } from '../../../src/core/settings/setting.js';
import type { SettingStore } from '../../../src/core/settings/setting-store.js';
import { createSettings } from '../../../src/core/settings/settings.js';

const AUDIT = {
  by: DAEMON,
  action: 'settings.retention',
  object: { type: 'settings', id: 'n', name: 'n' },
  before: null,
  after: null,
} as const;

function numberSetting(stored: Map<string, string>, key = 'n') {
  const store: SettingStore = {
    get: async (name) => stored.get(name) ?? null,
    async set(name, text) {
      if (text === '13') throw new Error('disk full');
      stored.set(name, text);
    },
  };
  const parse = (text: string): number => {
    if (text === 'damaged') throw new Error('not a number');
    return text === '' ? 0 : Number(text);
  };
  return createSetting<number>({ store, key, initial: -1, parse, format: String });
}

test('a change by another process updates only the setting of its key, and then notifies the listeners', async () => {
  const stored = new Map<string, string>();
  const settings = createSettings();
  const one = await settings.open(numberSetting(stored, 'one'));
  const two = await settings.open(numberSetting(stored, 'two'));
  assert.equal(one.value(), 0, 'nothing is stored yet');
  const reloads: string[] = [];
  settings.onReloaded((key) => void reloads.push(`${key} ${one.value()} ${two.value()}`));
  stored.set('one', '1').set('two', '2');
  await settings.reload('one');
  await settings.reload('of another version');
  await settings.reload('two');
  assert.deepEqual(reloads, ['one 1 0', 'of another version 1 0', 'two 1 2']);
});

test('a failed read or write does not change the value', async () => {
  const stored = new Map([['n', '7']]);
  const setting = numberSetting(stored);
  await setting.reload();
  const values: number[] = [];
  setting.onChanged((value) => values.push(value));
  await assert.rejects(
    setting.change(({ write }) => write(13, AUDIT)),
    /disk full/,
  );
  stored.set('n', 'damaged');
  await assert.rejects(setting.reload(), /not a number/);
  assert.equal(setting.value(), 7);
  await setting.change(({ write }) => write(8, AUDIT));
  assert.deepEqual([setting.value(), stored.get('n'), values], [8, '8', [8]]);
});

test('changes and reloads of a setting run one after another', async () => {
  const stored = new Map([['n', '1']]);
  const setting = numberSetting(stored);
  const increase = () =>
    setting.change(async ({ load, write }) => {
      const before = await load();
      await write(before + 1, AUDIT);
    });
  await Promise.all([increase(), setting.reload(), increase(), setting.reload(), increase()]);
  assert.deepEqual([setting.value(), stored.get('n')], [4, '4']);
});
