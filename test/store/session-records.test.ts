// The records of sessions: written in batches, found by time and destination, cut off after a crash, and trimmed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { formatHostPort, parseCidr, sortableRange } from '../../src/core/addresses/ip.js';
import { createTimedId } from '../../src/core/ids.js';
import {
  type SessionRecord,
  sortableAddress,
  type TraceQuestion,
} from '../../src/core/trace/session-record.js';
import { onEachDatabase } from './databases.js';

const AT = Date.UTC(2031, 5, 1, 12);
const MINUTE = 60_000;
const DAY = 86_400_000;

function record(fields: Partial<SessionRecord> = {}): SessionRecord {
  return {
    session: randomUUID(),
    accountId: 'aaaaaaaa-0000-4000-8000-000000000001',
    username: 'alice',
    node: 'gate-1',
    client: '192.0.2.9',
    outgoing: { address: '198.51.100.1', port: 40_000 },
    exit: null,
    host: 'mail.example',
    address: '203.0.113.7',
    port: 25,
    protocol: 'tcp',
    startedAt: AT - MINUTE,
    connectMs: 12,
    endedAt: AT + MINUTE,
    bytesUp: 5,
    bytesDown: 7,
    ...fields,
  };
}

const at = (address: string): [string, string] => [sortableAddress(address), sortableAddress(address)];
const network = (text: string): TraceQuestion['destination'] => {
  const cidr = parseCidr(text);
  assert.ok(cidr);
  return sortableRange(cidr);
};
const ask = (fields: Partial<TraceQuestion> = {}): TraceQuestion => ({
  destination: null,
  port: null,
  outgoing: { address: null, port: null },
  from: AT,
  to: AT,
  ...fields,
});

onEachDatabase('records are found by when they ran, however long, and by destination', async (open) => {
  const { sessionRecords: store } = (await open()).store;
  const running = record({
    host: '2001:db8::5',
    address: '2001:db8::5',
    endedAt: null,
    bytesUp: null,
    bytesDown: null,
  });
  const records = {
    short: record(),
    edges: record({ startedAt: AT, endedAt: AT, port: 465, outgoing: { address: '', port: 40_001 } }),
    before: record({ startedAt: AT - 9 * MINUTE, endedAt: AT - 1 }),
    after: record({ startedAt: AT + 1 }),
    hours: record({ startedAt: AT - 5 * 60 * MINUTE, endedAt: AT + MINUTE, address: '203.0.113.255' }),
    days: record({ startedAt: AT - 2 * DAY, address: '203.0.114.0' }),
    month: record({ startedAt: AT - 30 * DAY, address: '', exit: 'proxy.example:1080' }),
    nat: record({ outgoing: { address: '10.1.2.3', port: 40_000 } }),
    elsewhere: record({ outgoing: { address: '198.51.100.2', port: 40_000 } }),
    running,
  };
  await store.write({ records: Object.values(records), ends: [], gap: null }, 1);
  const names = async (question: TraceQuestion): Promise<string[]> =>
    (await store.search(question, null, 100))
      .map(({ session }) => Object.entries(records).find(([, each]) => each.session === session)?.[0] ?? '?')
      .sort();
  const atThatTime = ['days', 'edges', 'elsewhere', 'hours', 'month', 'nat', 'running', 'short'];
  assert.deepEqual(await names(ask()), atThatTime);
  assert.deepEqual(await names(ask({ from: AT - 1 })), ['before', ...atThatTime].sort());
  assert.deepEqual(await names(ask({ to: AT + 1 })), ['after', ...atThatTime].sort());
  assert.deepEqual(await names(ask({ destination: at('203.0.113.7') })), [
    'edges',
    'elsewhere',
    'nat',
    'short',
  ]);
  assert.deepEqual(await names(ask({ destination: at('203.0.113.7'), port: 465 })), ['edges']);
  const inNetwork = ['edges', 'elsewhere', 'hours', 'nat', 'short'];
  assert.deepEqual(await names(ask({ destination: network('203.0.113.0/24') })), inNetwork);
  assert.deepEqual(
    await names(ask({ destination: network('203.0.112.0/22') })),
    ['days', ...inNetwork].sort(),
  );
  assert.deepEqual(await names(ask({ destination: network('2001:db8::/32') })), ['running']);
  assert.deepEqual(await names(ask({ destination: '2001:db8::5' })), [], 'an address is no name');
  assert.equal((await names(ask({ destination: 'mail.example' }))).length, 7);
  const outgoing = { address: '198.51.100.1', port: 40_001 };
  assert.deepEqual(await names(ask({ outgoing })), ['edges'], 'an unknown address may be any');
  assert.deepEqual(
    await names(ask({ outgoing: { ...outgoing, port: 40_000 }, port: 25, destination: at('203.0.113.7') })),
    ['nat', 'short'],
  );
  assert.deepEqual(await store.unmatched(ask({ destination: at('203.0.113.7') })), {
    dropped: 0,
    otherDestinations: 0,
    unknownAddresses: 1,
  });
  assert.equal(await store.oldest(), records.month.startedAt);
  const [first] = await store.search(ask({ destination: network('2001:db8::/32') }), null, 1);
  assert.deepEqual(first, { ...running, id: first?.id });
  const pages: string[] = [];
  for (let place = null; ; ) {
    const page: (SessionRecord & { readonly id: number })[] = await store.search(ask(), place, 3);
    pages.push(...page.map(({ session }) => session));
    const last = page.at(-1);
    if (last === undefined) break;
    place = last;
  }
  assert.equal(new Set(pages).size, atThatTime.length);
  assert.equal(pages.length, atThatTime.length);
});

onEachDatabase('entries find the records of their sessions, however long they ran', async (open) => {
  const { sessionRecords: store } = (await open()).store;
  const running = { endedAt: null, bytesUp: null, bytesDown: null };
  const lasting = (ms: number, fields: Partial<SessionRecord> = {}) => {
    const startedAt = AT - ms;
    return record({ session: createTimedId(startedAt), startedAt, endedAt: AT, ...fields });
  };
  const entryOf = (of: SessionRecord, at = AT) => ({
    sessionId: of.session,
    destination: formatHostPort(of.host, of.port),
    protocol: of.protocol,
    at,
  });
  const tcp = [5, MINUTE, 60 * MINUTE, DAY, 40 * DAY].map((ms) => lasting(ms, { connectMs: ms % 1_000 }));
  const address = { host: '2001:db8::5', address: '2001:db8::5' };
  const association = createTimedId(AT - 60 * MINUTE);
  const udp = [lasting(50 * MINUTE), lasting(MINUTE, address), lasting(5, { port: 27_015 })].map((each) => ({
    ...each,
    session: association,
    protocol: 'udp' as const,
    connectMs: null,
  }));
  const live = [lasting(DAY, running), { ...lasting(DAY, running), session: randomUUID() }];
  const records = [...tcp, ...udp, ...live];
  await store.write({ records, ends: [], gap: null }, 1);
  const found = await store.ofEntries(records.map((each) => entryOf(each)));
  assert.deepEqual(
    found,
    records.map((each, i) => ({ ...each, id: (found[i] as { id?: number }).id })),
  );
  const [short, ...others] = tcp.map((each) => entryOf(each));
  assert.ok(short);
  const elsewhere = { ...short, destination: 'other.example:25' };
  const none = [
    { ...short, sessionId: randomUUID() },
    { ...short, sessionId: createTimedId(AT - 5) },
    { ...short, destination: '' },
    elsewhere,
  ];
  assert.deepEqual(
    (await store.ofEntries([...none, ...others])).map((each) => each?.session),
    [...none.map(() => undefined), ...others.map(({ sessionId }) => sessionId)],
  );
  // Entries in the middle of sessions, and a close that was reported late.
  const middle = tcp.map((each) => entryOf(each, Math.round((each.startedAt + AT) / 2)));
  const late = tcp.map((each) => entryOf(each, AT + MINUTE));
  assert.deepEqual(
    (await store.ofEntries([...middle, ...late])).map((each) => each?.session),
    [...tcp, ...tcp].map(({ session }) => session),
  );
  assert.deepEqual(await store.ofEntries([]), []);
});

onEachDatabase('ends, gaps and a crash complete the records', async (open) => {
  const { sessionRecords: store } = (await open()).store;
  const openRecord = { endedAt: null, bytesUp: null, bytesDown: null };
  const [one, two, other] = [
    record(openRecord),
    record(openRecord),
    record({ ...openRecord, node: 'gate-2' }),
  ];
  await store.write({ records: [one, { ...one, host: 'b.example' }, two, other], ends: [], gap: null }, 1);
  const ends = [{ session: one.session, endedAt: AT - 1, bytesUp: 2 ** 40, bytesDown: 1 }];
  const gap = { node: 'gate-1', from: AT - 10, to: AT + 10, count: 12 };
  await store.write({ records: [{ ...two, host: '*', address: '', port: 0 }], ends, gap }, 2);
  const found = await store.search(ask({ from: AT - 1, to: AT - 1 }), null, 10);
  const ended = found.filter(({ session }) => session === one.session);
  assert.deepEqual(
    ended.map(({ endedAt, bytesUp }) => [endedAt, bytesUp]),
    [
      [AT - 1, 2 ** 40],
      [AT - 1, 2 ** 40],
    ],
  );
  assert.equal((await store.search(ask(), null, 10)).length, 2, 'those that have ended did not run then');
  assert.deepEqual(await store.unmatched(ask()), { dropped: 12, otherDestinations: 1, unknownAddresses: 0 });
  await store.cutOff('gate-1', AT + 4 * DAY, [two.session]);
  await store.cutOff('gate-1', AT + 5 * DAY, [other.session]);
  const cut = (await store.search(ask(), null, 10)).map(({ session, endedAt, bytesUp }) => [
    session,
    endedAt,
    bytesUp,
  ]);
  assert.deepEqual(
    cut.sort(),
    [
      [two.session, AT + 5 * DAY, null],
      [other.session, null, null],
    ].sort(),
  );
  assert.equal((await store.search(ask({ from: AT + 4 * DAY, to: AT + 4 * DAY }), null, 10)).length, 2);
  assert.equal((await store.search(ask({ from: AT + 6 * DAY, to: AT + 6 * DAY }), null, 10)).length, 1);
});

onEachDatabase('a trim deletes what ended before, and no more than its limit', async (open) => {
  const { sessionRecords: store } = (await open()).store;
  const old = Array.from({ length: 5 }, () => record({ startedAt: AT - 40 * DAY, endedAt: AT - 1 }));
  const kept = [record({ startedAt: AT - 40 * DAY, endedAt: AT }), record()];
  await store.write({ records: [...old, ...kept], ends: [], gap: null }, 1);
  assert.deepEqual([await store.trim(AT, 3), await store.trim(AT, 3), await store.trim(AT, 3)], [3, 2, 0]);
  assert.equal((await store.search(ask(), null, 10)).length, 2);
});

onEachDatabase(
  'a trim keeps what still runs, however long, except at nodes that are no more',
  async (open) => {
    const { sessionRecords: store, nodes } = (await open()).store;
    const claim = {
      name: 'gate-1',
      folderId: randomUUID(),
      process: randomUUID(),
      version: '1',
      leaseMs: 60_000,
    };
    await nodes.claim(claim);
    const running = { startedAt: AT - 40 * DAY, endedAt: null, bytesUp: null, bytesDown: null };
    const kept = record(running);
    await store.write({ records: [kept, record({ ...running, node: 'gone' })], ends: [], gap: null }, 1);
    assert.equal(await store.trim(AT, 10), 1);
    const ids = async () => (await store.search(ask(), null, 10)).map(({ session }) => session);
    assert.deepEqual(await ids(), [kept.session]);
    const end = { session: kept.session, endedAt: AT + 1, bytesUp: 1, bytesDown: 1 };
    await store.write({ records: [], ends: [end], gap: null }, 2);
    assert.deepEqual([await store.trim(AT + 1, 10), await store.trim(AT + 2, 10), await ids()], [0, 1, []]);
  },
);

onEachDatabase('a batch that is written again after a lost answer is written once', async (open, kind) => {
  const { sessionRecords: store } = (await open()).store;
  const batch = { records: [record()], ends: [], gap: null };
  await store.write(batch, 1);
  if (kind === 'pg') await store.write(batch, 1);
  assert.equal((await store.search(ask(), null, 10)).length, 1);
});
