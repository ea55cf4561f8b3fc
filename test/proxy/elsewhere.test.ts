// What an account has at other nodes leaves it less here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Accounts } from '../../src/proxy/accounts.js';
import type { AccountRecord } from '../../src/proxy/settings.js';
import { accountRecord } from './plane-world.js';

const BYTES = 1_000_000;

/** An account with these limits, one session each at two other nodes, and a clock that stands until `tick`. */
function world(limits: Partial<AccountRecord['limits']>) {
  let nowMs = 0;
  const io = { now: () => nowMs, timer: () => ({ clear: () => undefined }) };
  const accounts = new Accounts({ io, egressOf: () => null });
  const alone = accountRecord('ann');
  const record = { ...alone, limits: { ...alone.limits, ...limits } };
  const elsewhere = { sessions: 2, nodes: 2, clientAddresses: ['192.0.2.1', '192.0.2.2'] };
  accounts.put({ ...record, elsewhere });
  const account = accounts.byUsername('ann');
  assert.ok(account);
  return {
    account,
    refusal: (address: string) => accounts.refusal(account, address),
    alone: () => accounts.put({ ...record, elsewhere: null }),
    tick: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('sessions at other nodes count, up to the limit', () => {
  assert.equal(world({ maxSessions: 2 }).refusal('192.0.2.1'), 'too-many-sessions');
  assert.equal(world({ maxSessions: 3 }).refusal('192.0.2.1'), null);
  const { alone, refusal } = world({ maxSessions: 2 });
  alone();
  assert.equal(refusal('192.0.2.1'), null);
});

test('addresses at other nodes count, each once', () => {
  const { refusal } = world({ maxClientAddresses: 2 });
  assert.equal(refusal('192.0.2.1'), null);
  assert.equal(refusal('192.0.2.3'), 'too-many-addresses');
  assert.equal(world({ maxClientAddresses: 3 }).refusal('192.0.2.3'), null);
});

test('each node where the account is active has the same share of its rate', () => {
  const { account, alone, tick } = world({ bytesPerSecondDown: BYTES });
  const passed = (): number => {
    let count = 0;
    while (account.rates?.down.pass(1_000)) count += 1_000;
    return count;
  };
  passed();
  tick(100);
  const shared = passed();
  alone();
  tick(100);
  const whole = passed();
  assert.ok(Math.abs(3 * shared - whole) <= 3_000, `${shared} of ${whole}`);
});
