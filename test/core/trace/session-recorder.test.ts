// What is recorded of sessions, and in which batches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordBatch } from '../../../src/core/trace/session-record.js';
import { SessionRecorder } from '../../../src/core/trace/session-recorder.js';
import { FakeSession } from '../../helpers/fake-session.js';

function recorder(options: { maxPending?: number; maxDestinations?: number } = {}) {
  const batches: { batch: RecordBatch; number: number }[] = [];
  const state = { isOn: true, fails: false };
  const made = new SessionRecorder({
    store: {
      write: async (batch, number) => {
        if (state.fails) throw new Error('away');
        batches.push({ batch, number });
      },
    },
    isOn: () => state.isOn,
    node: 'gate-1',
    maxPending: 100,
    maxDestinations: 2,
    now: () => 5_000,
    ...options,
  });
  const flushed = async (): Promise<RecordBatch[]> => {
    await made.flush();
    return batches.splice(0).map(({ batch }) => batch);
  };
  return { made, state, batches, flushed };
}

test('a session that ends before a flush is one record, and another one gets its end later', async () => {
  const { made, flushed } = recorder();
  const [short, long] = [new FakeSession(), new FakeSession()];
  made.opened(short);
  made.closed(short, short.summary);
  made.opened(long);
  const [first] = await flushed();
  assert.deepEqual(
    first?.records.map(({ session, endedAt }) => [session, endedAt]),
    [
      [short.id, 1],
      [long.id, null],
    ],
  );
  assert.deepEqual(first?.ends, []);
  long.traffic.up = 9;
  made.closed(long, long.summary);
  assert.deepEqual((await flushed())[0], {
    records: [],
    ends: [{ session: long.id, endedAt: 1, bytesUp: 9, bytesDown: 0 }],
    gap: null,
  });
  assert.deepEqual(await flushed(), []);
});

test('an association has a record for each destination, up to the limit and a note that there were more', async () => {
  const { made, flushed } = recorder();
  const session = new FakeSession({
    command: 'udp-associate',
    destination: { host: '*', address: '', port: 0 },
  });
  made.opened(session);
  assert.deepEqual(await flushed(), []);
  const to = (port: number, via: string | null = null) => {
    session.destination = { host: 'game.test', address: '192.0.2.1', port };
    session.outgoing = { address: '', port: 4_000 };
    return { ...session.destination, outgoing: session.outgoing, via, exit: via };
  };
  const destinations = [to(1), to(2), to(3)];
  for (const port of [1, 1]) {
    to(port);
    made.destinationChanged(session);
  }
  // The event of the second was replaced by that of the third.
  to(3);
  assert.equal((await flushed())[0]?.records.length, 1);
  made.closed(session, { ...session.summary, destinations });
  const [last] = await flushed();
  assert.deepEqual(
    last?.records.map(({ host, port, outgoing, endedAt }) => [host, port, outgoing.port, endedAt]),
    [
      ['game.test', 2, 4_000, 1],
      ['*', 0, 0, 1],
    ],
  );
  assert.deepEqual(last?.ends.length, 1);
});

test('the outgoing end of a session behind an upstream proxy is not that of the proxy', async () => {
  const { made, flushed } = recorder();
  const session = Object.assign(new FakeSession(), {
    via: 'p:1',
    exit: 'p',
    outgoing: { address: '192.0.2.7', port: 9 },
  });
  session.via = 'p:1';
  session.exit = 'p';
  session.outgoing = { address: '192.0.2.7', port: 9 };
  made.passed(session, session.summary);
  const [record] = (await flushed())[0]?.records ?? [];
  assert.deepEqual([record?.exit, record?.outgoing], ['p', { address: '', port: 0 }]);
});

test('while the database is away a batch keeps its number, and records beyond the limit are counted', async () => {
  const { made, state, batches } = recorder({ maxPending: 2 });
  state.fails = true;
  const sessions = Array.from({ length: 5 }, () => new FakeSession());
  made.opened(sessions[0] as FakeSession);
  await assert.rejects(made.flush(), /away/);
  for (const each of sessions.slice(1)) made.opened(each);
  for (const each of sessions) made.closed(each, each.summary);
  await assert.rejects(made.flush(), /away/);
  state.fails = false;
  await made.flush();
  assert.deepEqual(
    batches.map(({ batch, number }) => [number, batch.records.length, batch.ends.length, batch.gap?.count]),
    [
      [1, 1, 0, undefined],
      // The ends of sessions whose records were dropped are not written.
      [2, 2, 1, 2],
    ],
  );
  assert.deepEqual(batches[1]?.batch.gap, { node: 'gate-1', from: 0, to: 5_000, count: 2 });
});

test('nothing is recorded while the retention is 0', async () => {
  const { made, state, flushed } = recorder();
  state.isOn = false;
  const session = new FakeSession();
  made.passed(session, session.summary);
  assert.deepEqual(await flushed(), []);
});

test('a session that was recorded by the process before gets its end, and no destination twice', async () => {
  const { made, flushed } = recorder();
  const [tcp, udp] = [new FakeSession(), new FakeSession({ command: 'udp-associate' })];
  const known = { host: 'game.test', address: '192.0.2.1', port: 1, outgoing: null, via: null, exit: null };
  made.resumed(tcp, []);
  made.resumed(udp, [known]);
  made.closed(tcp, tcp.summary);
  made.closed(udp, { ...udp.summary, destinations: [known, { ...known, port: 2 }] });
  const [batch] = await flushed();
  assert.deepEqual(
    [batch?.records.map(({ port }) => port), batch?.ends.map(({ session }) => session)],
    [[2], [tcp.id, udp.id]],
  );
});
