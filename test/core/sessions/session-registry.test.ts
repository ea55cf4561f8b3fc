// The registry of sessions: its subscribers get each byte once, and events in order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '../../../src/core/sessions/session.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import { FakeSession } from '../../helpers/fake-session.js';

function setUp() {
  const sessions = new SessionRegistry();
  const events: unknown[][] = [];
  const record = (event: string) => (session: Session) =>
    void events.push([event, session.id, sessions.size]);
  sessions.subscribe({
    opened: record('opened'),
    traffic: ({ id }, up, down) => void events.push(['traffic', id, up, down]),
    destinationChanged: record('destination'),
    gameChanged: record('game'),
    closed: record('closed'),
    passed: record('passed'),
    counted: () => void events.push(['counted']),
  });
  return { sessions, events };
}

test('every byte is published once, and before other events of its session', () => {
  const { sessions, events } = setUp();
  const [one, idle] = [new FakeSession({ id: 'one' }), new FakeSession({ id: 'idle' })];
  sessions.opened(one);
  sessions.opened(idle);
  one.traffic.up = 10;
  sessions.gameChanged(one);
  one.traffic.down = 5;
  sessions.destinationChanged(one);
  sessions.tick();
  one.traffic.up = 14;
  sessions.count();
  sessions.tick();
  one.traffic.down = 6;
  sessions.closed(one, one.summary);
  sessions.tick();
  assert.deepEqual(events, [
    ['opened', 'one', 1],
    ['opened', 'idle', 2],
    ['traffic', 'one', 10, 0],
    ['game', 'one', 2],
    ['traffic', 'one', 0, 5],
    ['destination', 'one', 2],
    ['counted'],
    ['traffic', 'one', 4, 0],
    ['counted'],
    ['traffic', 'one', 0, 1],
    ['closed', 'one', 1],
    ['counted'],
  ]);
});

test('a session that ended before it was reported is never listed', () => {
  const { sessions, events } = setUp();
  const short = new FakeSession({ id: 'short' });
  short.traffic.up = 7;
  sessions.passed(short, short.summary);
  assert.deepEqual(events, [
    ['traffic', 'short', 7, 0],
    ['passed', 'short', 0],
  ]);
  assert.deepEqual([...sessions.all()], []);
});

test('observers are called in the order in which they have subscribed', () => {
  const sessions = new SessionRegistry();
  const called: number[] = [];
  for (const i of [1, 2, 3]) sessions.subscribe({ opened: () => void called.push(i) });
  sessions.opened(new FakeSession());
  assert.deepEqual(called, [1, 2, 3]);
});

test('a session of the process before is resumed, also for who subscribes later, and is not opened', () => {
  const { sessions, events } = setUp();
  const old = new FakeSession({ id: 'old' });
  const destination = {
    host: 'a.test',
    address: '192.0.2.1',
    port: 1,
    outgoing: null,
    via: null,
    exit: null,
  };
  sessions.resumed(old, [destination]);
  const heard: unknown[] = [];
  sessions.subscribe({
    resumed: ({ id }, recorded) => void heard.push([id, recorded]),
    handingOver: () => void heard.push('handing over'),
    traffic: (_, up) => void heard.push(up),
  });
  assert.deepEqual([heard, sessions.countOf(old.accountId)], [[['old', [destination]]], 1]);
  old.traffic.up = 3;
  sessions.handingOver();
  assert.deepEqual(heard.slice(1), [3, 'handing over']);
  sessions.closed(old, old.summary);
  assert.deepEqual(events, [
    ['traffic', 'old', 3, 0],
    ['closed', 'old', 0],
  ]);
});
