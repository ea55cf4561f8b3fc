// The channel to the control plane: the queue is bounded while the control plane is slow, and log lines are dropped first.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SessionSummary } from '../../../src/core/sessions/session.js';
import type { SessionFacts, WorkerEvent } from '../../../src/proxy/messages.js';
import { Events } from '../../../src/proxy/worker/events.js';

const destination = { host: 'a.test', address: '192.0.2.1', port: 7 };
const summary: SessionSummary = {
  bytesUp: 1,
  bytesDown: 2,
  end: 'client-closed',
  durationMs: 3,
  gameId: null,
};
const sessionFacts = (slot: number): SessionFacts => ({
  accountId: 'account',
  username: 'player',
  command: 'udp-associate',
  clientProtocol: 'socks5',
  client: { address: '192.0.2.9', port: 9 },
  destination,
  openedAt: 0,
  gameId: null,
  via: null,
  exit: null,
  outgoing: null,
  connectMs: null,
  slot,
  generation: 0,
});

function channel() {
  const batches: (readonly WorkerEvent[])[] = [];
  const state = { batchesRead: 0, nowMs: 0 };
  const events = new Events({
    post: (batch) => void batches.push(batch),
    setWaiting() {},
    batchesRead: () => state.batchesRead,
    now: () => state.nowMs,
    date: () => 1_000,
  });
  const flush = () => {
    state.nowMs += 100;
    events.flush(true);
  };
  return { events, batches, state, flush };
}

/** Returns a channel with 64 posted batches of which the control plane has read none. */
function slowChannel() {
  const open = channel();
  for (let i = 0; i < 64; i += 1) {
    open.events.push({ kind: 'synced', token: i });
    open.flush();
  }
  assert.equal(open.batches.splice(0).length, 64);
  return open;
}

it('the queue for a slow control plane is limited: log lines are dropped and counted, logins and ends are not', () => {
  const { events, batches, state, flush } = slowChannel();
  for (let i = 0; i < 1_500; i += 1) events.log('info', { i }, 'a line');
  events.sessionOpened(sessionFacts(0));
  for (let i = 0; i < 5_000; i += 1) {
    const target = { ...destination, port: i, outgoing: null, via: null, exit: null };
    events.sessionChanged({ kind: 'session-destination', slot: 0, destination: target });
    events.sessionChanged({ kind: 'session-game', slot: 0, gameId: `game-${i}` });
    events.login('wrong-password', 'player', null, '192.0.2.9');
  }
  for (let i = 0; i < 300; i += 1) {
    events.sessionOpened(sessionFacts(i + 1));
    events.sessionClosed(i + 1, { destination, via: null, exit: null }, summary);
  }
  flush();
  assert.equal(batches.length, 0);
  state.batchesRead = 64;
  flush();
  const [batch = []] = batches;
  const of = <Kind extends WorkerEvent['kind']>(kind: Kind) =>
    batch.filter((event): event is Extract<WorkerEvent, { kind: Kind }> => event.kind === kind);
  assert.deepEqual([of('log').length, of('dropped')], [1_000, [{ kind: 'dropped', lines: 500 }]]);
  assert.deepEqual([of('session-passed').length, of('logins')[0]?.count], [300, 5_000]);
  assert.deepEqual(
    [
      of('session-destination').map((each) => each.destination.port),
      of('session-game').map((each) => each.gameId),
    ],
    [[4_999], ['game-4999']],
  );
  assert.ok(batch.length < 1_310, `${batch.length} events`);
});

it('a fast control plane gets every destination, and an ended session once', () => {
  const { events, batches, flush } = channel();
  events.sessionOpened(sessionFacts(0));
  for (const port of [1, 2]) {
    events.sessionChanged({
      kind: 'session-destination',
      slot: 0,
      destination: { ...destination, port, outgoing: null, via: null, exit: null },
    });
  }
  events.sessionClosed(0, { destination, via: null, exit: null }, summary);
  flush();
  const kinds = batches.flat().map(({ kind }) => kind);
  assert.deepEqual(kinds, ['session-passed', 'session-destination', 'session-destination']);
});

it('an event of a session does not replace one of the previous session in its slot', () => {
  const { events, batches, state, flush } = slowChannel();
  for (let i = 0; i < 300; i += 1) events.log('info', { i }, 'a line');
  events.sessionOpened(sessionFacts(0));
  events.sessionChanged({ kind: 'session-game', slot: 0, gameId: 'first' });
  events.sessionClosed(0, { destination, via: null, exit: null }, summary);
  events.sessionOpened(sessionFacts(0));
  events.sessionChanged({ kind: 'session-game', slot: 0, gameId: 'second' });
  state.batchesRead = 64;
  flush();
  const received = batches.flat().flatMap((event) => ('gameId' in event ? event.gameId : event.kind));
  assert.deepEqual(received.slice(300), ['session-passed', 'first', 'session-opened', 'second']);
});
