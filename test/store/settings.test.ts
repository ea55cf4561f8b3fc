// What several daemons must agree on at once: numbers that only grow, and the one-time codes that rely on them.
import assert from 'node:assert/strict';
import { DAEMON } from '../../src/core/audit/audit.js';
import { createRecoveryCodes, createSecondFactor } from '../../src/core/auth/second-factor.js';
import { totpCode, totpStep } from '../../src/core/auth/totp.js';
import { createWhitelistSetting, WHITELIST_KEY } from '../../src/core/auth/whitelist.js';
import { createSettings } from '../../src/core/settings/setting.js';
import { openCredentials } from '../helpers/passwords.js';
import { fromBase32 } from '../helpers/totp.js';
import { onEachDatabase } from './databases.js';

onEachDatabase('of several stores that raise a number to the same value, one succeeds', async (open) => {
  const { store, database } = await open();
  const { store: other } = await open({ database });
  for (const value of [5, 9, 10, 100]) {
    const raised = await Promise.all(
      [store, other, store, other].map(({ settings }) => settings.raise('n', value)),
    );
    assert.equal(raised.filter(Boolean).length, 1, String(value));
    assert.equal(await store.settings.raise('n', value - 1), false);
  }
});

onEachDatabase('a one-time code and a recovery code are accepted by one daemon only', async (open) => {
  const { store, database } = await open();
  const { store: other } = await open({ database });
  const now = Date.now();
  const settings = createSettings();
  const [here, there] = await Promise.all(
    [store, other].map(({ settings: on }) =>
      settings.open(createSecondFactor({ settings: on, now: () => now })),
    ),
  );
  assert.ok(here && there);
  const uri = new URL((await there.enrol('admin'))?.uri ?? '');
  const secret = fromBase32(uri.searchParams.get('secret') ?? '');
  const code = (after: number) => totpCode(secret, totpStep(now) + after);
  assert.equal(await here.confirm(code(-1), DAEMON), 'on');
  await there.reload();
  assert.equal(await there.verify(code(-1)), false, 'the other daemon has accepted the code');
  assert.deepEqual((await Promise.all([here.verify(code(0)), there.verify(code(0))])).filter(Boolean), [
    true,
  ]);
  assert.equal(await there.verify(code(1)), true);

  const [codes, codesOfOther] = [createRecoveryCodes(store.settings), createRecoveryCodes(other.settings)];
  const [one = '', two = '', three = '', four = ''] = await codes.renew(DAEMON);
  assert.equal(await codesOfOther.use(one, DAEMON), true);
  assert.equal(await codes.use(one, DAEMON), false);
  const used = (here: string, there: string) =>
    Promise.all([codes.use(here, DAEMON), codesOfOther.use(there, DAEMON)]);
  assert.deepEqual((await used(two, two)).filter(Boolean), [true], 'the same code at once');
  assert.deepEqual(await used(three, four), [true, true], 'two codes at once');
  assert.deepEqual(await used(four, three), [false, false]);
  assert.equal(codes.left(), 6);
});

onEachDatabase('of two processes that save a setting for the same version, one is refused', async (open) => {
  const { store, database } = await open();
  const { store: other } = await open({ database });
  const there = createWhitelistSetting(other.settings);
  for (const [before, text] of [
    ['', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.2'],
  ] as const) {
    const refuse = (stored: string) => (stored === before ? null : `it is ${stored}`);
    let saved: unknown;
    // The other process saves after this one has read the setting, before it writes.
    const here = createWhitelistSetting({
      ...store.settings,
      async exchange(...values) {
        saved ??= await there.save(text, DAEMON, refuse);
        return store.settings.exchange(...values);
      },
    });
    const refused = await here.save('10.0.0.9', DAEMON, refuse);
    assert.deepEqual([saved, refused], [{ ok: true }, { ok: false, refusal: `it is ${text}` }]);
    assert.deepEqual([await store.settings.get(WHITELIST_KEY), here.text()], [text, text]);
  }
  const entries = await store.audit.list({ action: 'settings.whitelist' }, null, 10);
  assert.equal(entries.length, 2, 'only what was saved is in the audit log');
});

onEachDatabase('of exchanges at once one succeeds, also when nothing is stored', async (open) => {
  const { store, database } = await open();
  const { store: other } = await open({ database });
  let current: string | null = null;
  for (const round of [1, 2, 3]) {
    const results = await Promise.all(
      [store, other, store, other].map(({ settings }, index) =>
        settings.exchange('n', current, `${round} ${index}`),
      ),
    );
    assert.equal(results.filter(Boolean).length, 1);
    const winner = `${round} ${results.indexOf(true)}`;
    assert.equal(await other.settings.get('n'), winner);
    current = winner;
  }
  assert.equal(await store.settings.exchange('n', null, 'x'), false);
});

onEachDatabase(
  'of the first passwords of two processes, the one stored first is valid at both',
  async (open) => {
    const { store, database } = await open();
    const { store: other } = await open({ database });
    const [here, there] = [store, other].map(({ settings }) => openCredentials({ settings }));
    assert.ok(here && there);
    const [one, two] = [await here.ensure({}), await there.ensure({})];
    assert.ok(one && two);
    assert.equal(await one.store(), true);
    assert.equal(await two.store(), false, 'the other process must not show its password');
    for (const each of [here, there]) assert.ok(await each.verify(one.username, one.password));
  },
);
