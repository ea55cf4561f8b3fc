// Settings in memory and in the database: one change at a time, and reloads after changes by other processes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../../../src/core/audit/audit.js';
import {
  createAuditedSetting,
  createSetting,
  createSettings,
  type SettingStore,
} from '../../../src/core/settings/setting.js';

const AUDIT = {
  by: DAEMON,
  action: 'settings.retention',
  object: { type: 'settings', id: 'n', name: 'n' },
  before: null,
  after: null,
} as const;

function numberOptions(stored: Map<string, string>, key = 'n', beforeExchange = async () => {}) {
  const store: Pick<SettingStore, 'get' | 'exchange'> = {
    get: async (name) => stored.get(name) ?? null,
    async exchange(name, current, next) {
      await beforeExchange();
      if (next === '13') throw new Error('disk full');
      if ((stored.get(name) ?? null) !== current) return false;
      stored.set(name, next);
      return true;
    },
  };
  const parse = (text: string): number => {
    if (text === 'damaged') throw new Error('not a number');
    return text === '' ? 0 : Number(text);
  };
  return { store, key, initial: -1, parse, format: String };
}

const numberSetting = (...of: Parameters<typeof numberOptions>) =>
  createSetting<number>(numberOptions(...of));

const auditedNumber = (...of: Parameters<typeof numberOptions>) =>
  createAuditedSetting<number>({
    ...numberOptions(...of),
    name: 'retention',
    audited: (before, after) => ({ before: { n: before }, after: { n: after } }),
  });

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
  const increase = () => setting.change(({ write }) => write(setting.value() + 1, AUDIT));
  await Promise.all([increase(), setting.reload(), increase(), setting.reload(), increase()]);
  assert.deepEqual([setting.value(), stored.get('n')], [4, '4']);
});

/** Two processes with one setting. The second one saves `number` after the first one has read the setting, before it writes. */
function twoProcesses(stored: Map<string, string>, number: number) {
  const other = numberSetting(stored);
  let isSaved = false;
  const beforeExchange = async () => {
    if (isSaved) return;
    isSaved = true;
    await other.change(({ write }) => write(number, AUDIT));
  };
  return {
    other,
    first: numberSetting(stored, 'n', beforeExchange),
    audited: auditedNumber(stored, 'n', beforeExchange),
  };
}

for (const text of [null, '1']) {
  test(`a change that another process came before is made again on the new value (stored: ${text})`, async () => {
    const stored = new Map(text === null ? [] : [['n', text]]);
    const { first, other } = twoProcesses(stored, 10);
    const seen: number[] = [];
    await first.change(async ({ write }) => {
      seen.push(first.value());
      await write(first.value() + 1, AUDIT);
    });
    assert.deepEqual([seen, stored.get('n'), other.value()], [[Number(text), 10], '11', 10]);
  });

  test(`a save for one version of a setting is refused when another process came before (stored: ${text})`, async () => {
    const stored = new Map(text === null ? [] : [['n', text]]);
    const { audited } = twoProcesses(stored, 10);
    const refused = await audited.save(
      () => 20,
      DAEMON,
      (value) => (value === Number(text) ? null : `it is ${value}`),
    );
    assert.deepEqual([refused, stored.get('n'), audited.current()], ['it is 10', '10', 10]);
  });
}

test('a save is about the stored value, also when this process has not reloaded it yet', async () => {
  const stored = new Map([['n', '1']]);
  const setting = auditedNumber(stored);
  await setting.reload();
  stored.set('n', '5');
  const seen: number[] = [];
  const save = (next: number) =>
    setting.save(
      () => next,
      DAEMON,
      (value) => {
        seen.push(value);
        return null;
      },
    );
  await save(6);
  await save(7);
  assert.deepEqual([seen, stored.get('n')], [[5, 6], '7']);
});
