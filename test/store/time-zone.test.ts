// Days and quotas when the operator's time zone changes: at each start of a daemon, on every engine.
import assert from 'node:assert/strict';
import { AccountDirectory } from '../../src/core/accounts/directory.js';
import { createAccountUsage } from '../../src/core/accounts/usage/account-usage.js';
import { createTimeZonesSetting } from '../../src/core/accounts/usage/calendar.js';
import { NO_LIMITS, QUOTA_PERIODS } from '../../src/core/accounts/usage/limits.js';
import { SessionRegistry } from '../../src/core/sessions/session-registry.js';
import { FakeSession } from '../helpers/fake-session.js';
import { addAccount } from '../helpers/stored-accounts.js';
import { type Open, type OpenedStore, onEachDatabase } from './databases.js';
import { account } from './helpers.js';

const utc = (text: string) => Date.parse(`${text}Z`);

/** A daemon that starts at `at`, with this zone in its configuration. */
async function daemonIn(open: Open, database: OpenedStore['database'], zone: string, at: string) {
  let now = utc(at);
  const { store } = await open({ database });
  const { calendar } = store;
  const timeZones = createTimeZonesSetting(store.settings, calendar);
  await timeZones.reload();
  await timeZones.enter(zone, now);
  const directory = new AccountDirectory();
  directory.load(await store.accounts.all());
  const sessions = new SessionRegistry();
  const usage = createAccountUsage({
    maxGames: 32,
    ...{ store: store.traffic, directory, sessions, calendar },
    now: () => now,
  });
  await usage.load();
  return {
    calendar,
    timeZones,
    async use(bytes: number) {
      for (const { id } of directory.all()) {
        const session = new FakeSession({ accountId: id });
        sessions.opened(session);
        session.traffic.up = bytes;
        sessions.closed(session, session.summary);
      }
      await usage.flush();
    },
    /** The bytes of each period: of the day, the week, the month, and of all. */
    periods: (text: string) => {
      now = utc(text);
      return QUOTA_PERIODS.map((period) => {
        const found = [...directory.all()].find(({ limits }) => limits.quotaPeriod === period);
        return found ? usage.lastView(found).periodBytes : null;
      });
    },
    days: async () => {
      const [any] = directory.all();
      const days = await usage.days(any?.id ?? '', 0);
      return days.map(({ day, bytesUp }) => {
        const { date, zone: of } = calendar.dateOf(day);
        return `${date} ${of} ${bytesUp}`;
      });
    },
  };
}

async function newAccounts(open: Open): Promise<OpenedStore['database']> {
  const { store, database } = await open();
  for (const quotaPeriod of QUOTA_PERIODS)
    await addAccount(store.accounts, account({ limits: { ...NO_LIMITS, quotaBytes: 100, quotaPeriod } }));
  return database;
}

onEachDatabase('a changed time zone counts no traffic twice, and forgives none', async (open) => {
  const database = await newAccounts(open);
  const inUtc = await daemonIn(open, database, 'UTC', '2026-11-23T08:00');
  await inUtc.use(10);
  assert.deepEqual(inUtc.periods('2026-11-23T09:59'), [10, 10, 10, 10]);

  const shanghai = await daemonIn(open, database, 'Asia/Shanghai', '2026-11-23T10:00');
  assert.deepEqual(shanghai.periods('2026-11-23T10:00'), [10, 10, 10, 10], 'the day goes on');
  await shanghai.use(5);
  assert.deepEqual(shanghai.periods('2026-11-23T15:59'), [15, 15, 15, 15]);
  assert.deepEqual(shanghai.periods('2026-11-23T16:00'), [0, 15, 15, 15], 'until the next midnight there');
  await shanghai.use(1);

  // A node that still runs counts by the zone of the one that started last.
  await inUtc.timeZones.reload();
  assert.equal(inUtc.calendar.zone, 'Asia/Shanghai');
  inUtc.periods('2026-11-23T16:30');
  await inUtc.use(1);

  const again = await daemonIn(open, database, 'Asia/Shanghai', '2026-11-23T17:00');
  assert.deepEqual(again.periods('2026-11-23T17:00'), [2, 17, 17, 17]);
  assert.deepEqual(await again.days(), [
    '2026-11-23 UTC 10',
    '2026-11-23 Asia/Shanghai 5',
    '2026-11-24 Asia/Shanghai 2',
  ]);

  const west = await daemonIn(open, database, 'America/Los_Angeles', '2026-11-24T01:00');
  await west.use(3);
  assert.deepEqual(west.periods('2026-11-24T07:59'), [5, 20, 20, 20]);
  assert.deepEqual(west.periods('2026-11-24T08:00'), [0, 20, 20, 20]);
  assert.deepEqual(west.periods('2026-11-30T07:59'), [0, 20, 20, 20], 'Sunday there');
  assert.deepEqual(west.periods('2026-11-30T08:00'), [0, 0, 20, 20]);
  assert.deepEqual(west.periods('2026-12-01T08:00'), [0, 0, 0, 20]);
  assert.deepEqual((await west.days()).slice(-1), ['2026-11-23 America/Los_Angeles 3']);
});

onEachDatabase('days of 23 and 25 hours are one day each', async (open) => {
  const database = await newAccounts(open);
  for (const [start, end, hours] of [
    ['2027-03-27T23:00', '2027-03-28T22:00', 23],
    ['2027-10-30T22:00', '2027-10-31T23:00', 25],
  ] as const) {
    const daemon = await daemonIn(open, database, 'Europe/Berlin', start);
    for (let hour = 0; hour < hours; hour += 1) {
      daemon.periods(new Date(utc(start) + hour * 3_600_000).toISOString().slice(0, 19));
      await daemon.use(1);
    }
    assert.equal(daemon.periods(new Date(utc(end) - 1).toISOString().slice(0, -1))[0], hours);
    assert.equal(daemon.periods(end)[0], 0);
  }
  const daemon = await daemonIn(open, database, 'Europe/Berlin', '2027-11-01T12:00');
  assert.deepEqual(await daemon.days(), ['2027-03-28 Europe/Berlin 23', '2027-10-31 Europe/Berlin 25']);
});
