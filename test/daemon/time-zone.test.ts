// Days by the operator's time zone: of a new daemon, when another node enters another zone, and after a restart with a changed one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTimeZonesSetting } from '../../src/core/accounts/usage/calendar.js';
import { openStore } from '../../src/store/store.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { databaseOf } from '../helpers/database.js';
import { eventually } from '../helpers/eventually.js';

interface Shown {
  readonly usage: { readonly periodStartedAt: string; readonly periodEndsAt: string };
}

test('days and quotas follow the time zone, and a running day its newest change', async (t) => {
  // Neither zone has daylight saving: midnight is at 10:00 and at 18:15 UTC.
  const first = await startTestDaemon(t, { config: { timeZone: 'Pacific/Kiritimati' } });
  const id = await first.addAccount('kim', 'secret');
  const daily = { quotaBytes: 1_000_000, quotaPeriod: 'day' };
  assert.equal((await first.api('PATCH', `/api/v1/accounts/${id}/limits`, daily)).status, 200);
  const dayOf = async (daemon: TestDaemon) => {
    const { usage } = (await daemon.api('GET', `/api/v1/accounts/${id}/limits`)).json as Shown;
    return [usage.periodStartedAt, usage.periodEndsAt].map((time) => time.slice(11, 16));
  };
  const daysOf = async (daemon: TestDaemon) => {
    const answer = await daemon.api('GET', `/api/v1/accounts/${id}/traffic?days=2`);
    return (answer.json as { days: { day: string; zone: string }[] }).days;
  };
  assert.deepEqual(await dayOf(first), ['10:00', '10:00'], 'a new database has no UTC days');
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Pacific/Kiritimati' });
  const today = shown.format(Date.now());
  assert.ok((await daysOf(first)).every(({ zone }) => zone === 'Pacific/Kiritimati'));
  // Midnight may just have passed.
  assert.ok([today, shown.format(Date.now())].includes((await daysOf(first)).at(-1)?.day ?? ''));

  const store = await openStore(await databaseOf(first.dataDir));
  const other = createTimeZonesSetting(store.settings, store.calendar);
  await other.reload();
  await other.enter('Asia/Kathmandu', Date.now());
  await store.close();
  const line = await first.waitForLine(
    ({ msg }) => msg === 'days are counted in the time zone of another node',
  );
  assert.deepEqual([line['timeZone'], line['daysIn']], ['Pacific/Kiritimati', 'Asia/Kathmandu']);
  await eventually(async () => assert.deepEqual(await dayOf(first), ['10:00', '18:15']));
  const zones = (await daysOf(first)).map(({ zone }) => zone);
  assert.deepEqual(zones, ['Pacific/Kiritimati', 'Asia/Kathmandu']);
  first.signal('SIGTERM');
  await first.exited();

  const { dataDir } = first;
  const second = await startTestDaemon(t, { dataDir, config: { timeZone: 'Pacific/Kiritimati' } });
  assert.deepEqual(await dayOf(second), ['10:00', '10:00'], 'its own zone again');
  const audit = await second.api('GET', '/api/v1/audit?action=settings.time-zone');
  const changes = (audit.json as { items: { before: unknown; after: unknown }[] }).items;
  assert.deepEqual(changes.map(({ before, after }) => [before, after]).at(0), [
    { timeZone: 'Asia/Kathmandu' },
    { timeZone: 'Pacific/Kiritimati' },
  ]);
});
