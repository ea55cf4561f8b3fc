// The sessions of an account end when its schedule does, by the wall clock of its worker.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSchedules } from '../../src/core/accounts/schedule.js';
import type { AccountSession } from '../../src/proxy/account.js';
import { Accounts } from '../../src/proxy/accounts.js';
import { accountRecord } from './plane-world.js';

test('sessions end at the boundary, in the time zone of the configuration, and not before', () => {
  const io = { now: () => 0, timer: () => ({ clear: () => undefined }) };
  const schedules = createSchedules('Asia/Shanghai');
  const accounts = new Accounts({ io, egressOf: () => null, schedules });
  const ended: string[] = [];
  function open(username: string, schedule: string | null): void {
    const record = { ...accountRecord(username), schedule };
    accounts.put(record);
    const account = accounts.byId(record.id);
    assert.ok(account);
    const session: AccountSession = {
      command: 'connect',
      client: { address: '127.0.0.1', port: 1 },
      isByAddress: false,
      destination: { host: '127.0.0.1', address: '127.0.0.1', port: 1 },
      setRates: () => undefined,
      holdPermit: () => undefined,
      end(reason) {
        ended.push(`${username} ${reason}`);
        accounts.sessionOver(account, session);
      },
    };
    accounts.sessionOpened(account, session);
  }
  open('always', null);
  open('work', 'mon-fri 08:00-23:00');
  open('night', 'mon 22:00-02:00');
  // Monday, 2026-11-23, 23:00 in Shanghai.
  const end = Date.parse('2026-11-23T15:00:00Z');
  accounts.endPast(end - 1);
  assert.deepEqual(ended, []);
  accounts.endPast(end);
  assert.deepEqual(ended, ['work outside-schedule']);
  // A clock that jumps over the night.
  accounts.endPast(end + 86_400_000);
  assert.deepEqual(ended, ['work outside-schedule', 'night outside-schedule']);
});
