// The durations of sessions use a monotonic clock, so that changes of the wall clock do not affect them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionSummary } from '../../../src/core/sessions/session.js';
import { allocateSessionCounts, viewSessionCounts } from '../../../src/proxy/memory/session-counts.js';
import type { SessionFacts } from '../../../src/proxy/messages.js';
import type { WorkerAccount } from '../../../src/proxy/worker/account.js';
import type { WorkerAccounts } from '../../../src/proxy/worker/accounts.js';
import { WorkerPermits } from '../../../src/proxy/worker/permits.js';
import { WorkerSessions } from '../../../src/proxy/worker/sessions.js';

const FIVE_MINUTES = 300_000;

test('a jump of the wall clock neither ends nor lengthens a session', () => {
  let monotonicMs = 1_000;
  let wallMs = Date.UTC(2031, 0, 1);
  const ticks: number[] = [];
  const opened: SessionFacts[] = [];
  const closed: SessionSummary[] = [];
  const sessions = new WorkerSessions({
    guards: { refused: () => undefined },
    accounts: { sessionOpened() {}, sessionOver() {} } as unknown as WorkerAccounts,
    places: { acquire: () => null, count() {}, release() {} },
    counts: viewSessionCounts(allocateSessionCounts(4)),
    events: {
      sessionOpened: (session) => void opened.push(session),
      sessionClosed: (_slot, _left, summary) => void closed.push(summary),
      sessionChanged() {},
    },
    permits: new WorkerPermits({ push() {} }),
    games: () => ({ start: () => null }),
    gameIntervalMs: 1_000,
    now: () => monotonicMs,
    date: () => wallMs,
  });
  const session = sessions.open({
    command: 'connect',
    clientProtocol: 'socks5',
    isByAddress: false,
    linkHash: null,
    account: {
      record: { id: 'a', username: 'player' },
      rates: null,
      sessions: new Set(),
    } as unknown as WorkerAccount,
    client: { address: '192.0.2.1', port: 40_000 },
    destination: { host: 'game.example', port: 443 },
    transfer: { end() {}, tick: (nowMs) => void ticks.push(nowMs), idleMs: () => 0, setRates() {} },
    permit: null,
  });
  assert.ok(typeof session !== 'string');
  session.start('198.51.100.1', { address: '192.0.2.7', port: 40_001 });
  assert.equal(opened[0]?.openedAt, wallMs, 'the time of the opening is that of the wall clock');
  for (const jump of [FIVE_MINUTES, -2 * FIVE_MINUTES, FIVE_MINUTES]) {
    wallMs += jump;
    monotonicMs += 10;
    sessions.tick();
  }
  assert.deepEqual(ticks, [1_010, 1_020, 1_030]);
  session.finish('client-closed');
  assert.equal(closed[0]?.durationMs, 30);
});
