// What several daemons must agree on at once: numbers that only grow, and the one-time codes that rely on them.
import assert from 'node:assert/strict';
import { DAEMON } from '../../src/core/audit/audit.js';
import { createRecoveryCodes } from '../../src/core/auth/recovery-codes.js';
import { createSecondFactor } from '../../src/core/auth/second-factor.js';
import { totpCode, totpStep } from '../../src/core/auth/totp.js';
import { createSettings } from '../../src/core/settings/settings.js';
import { fromBase32 } from '../helpers/base32.js';
import { onEachEngine } from './engines.js';

onEachEngine('of several stores that raise a number to the same value, one succeeds', async (open) => {
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

onEachEngine('a one-time code and a recovery code are accepted by one daemon only', async (open) => {
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
