// The sessions of an account end when its schedule does, by the wall clock of its worker.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSchedules } from '../../../src/core/accounts/access/schedule.js';
import { NO_GEO } from '../../../src/core/addresses/geo.js';
import type { AccountRecord } from '../../../src/proxy/plane-settings.js';
import type { AccountSession } from '../../../src/proxy/worker/account.js';
import { WorkerAccounts } from '../../../src/proxy/worker/accounts.js';
import { accountRecord, accountsFor } from '../plane/plane-world.js';

function setUp() {
  const io = { now: () => 0, timer: () => ({ clear: () => undefined }) };
  const schedules = createSchedules('Asia/Shanghai');
  const accounts = new WorkerAccounts({ io, egressOf: () => null, schedules, geo: NO_GEO, onMost() {} });
  const put = accountsFor(accounts);
  const ended: string[] = [];
  function open(username: string, schedule: string | null, now: number): void {
    const record = { ...accountRecord(username), schedule };
    put(record, now);
    const account = accounts.byId(record.id);
    assert.ok(account);
    const session: AccountSession = {
      command: 'connect',
      client: { address: '127.0.0.1', port: 1 },
      isByAddress: false,
      linkHash: null,
      destination: { host: '127.0.0.1', address: '127.0.0.1', port: 1 },
      idleMs: () => 0,
      bytes: 0,
      setRates: () => undefined,
      holdPermit: () => undefined,
      end(reason) {
        ended.push(`${username} ${reason}`);
        accounts.sessionOver(account, session);
      },
    };
    accounts.sessionOpened(account, session);
  }
  return { accounts, put, ended, open };
}

test('sessions end exactly at the end of the schedule, in the time zone of the configuration', () => {
  const { accounts, ended, open } = setUp();
  // Monday, 2026-11-23, 23:00 in Shanghai.
  const end = Date.parse('2026-11-23T15:00:00Z');
  open('always', null, end - 1);
  open('work', 'mon-fri 08:00-23:00', end - 1);
  open('night', 'mon 22:00-02:00', end - 1);
  accounts.endPast(end - 1);
  assert.deepEqual(ended, []);
  accounts.endPast(end);
  assert.deepEqual(ended, ['work outside-schedule']);
  // The clock jumps beyond the end of the night's schedule.
  accounts.endPast(end + 86_400_000);
  assert.deepEqual(ended, ['work outside-schedule', 'night outside-schedule']);
});

test('a new schedule or expiry that closes an account ends its sessions at once', () => {
  const { accounts, put, ended, open } = setUp();
  const now = Date.parse('2026-11-23T15:00:00Z');
  function change(username: string, changed: Partial<AccountRecord>): void {
    const account = accounts.byUsername(username);
    assert.ok(account);
    put({ ...account.record, ...changed }, now);
  }
  for (const username of ['work', 'old', 'other']) open(username, null, now);
  change('work', { schedule: 'mon-fri 08:00-23:00' });
  change('old', { expiresAt: now });
  change('other', { schedule: 'mon 22:00-24:00' });
  assert.deepEqual(ended, ['work outside-schedule', 'old account-expired']);
});
