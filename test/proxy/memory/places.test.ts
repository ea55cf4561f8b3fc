// When all places of sessions are taken: whose session makes room, over all workers, and what the hard limits refuse.
import assert from 'node:assert/strict';
import { describe, it, type TestContext, test } from 'node:test';
import { createSchedules } from '../../../src/core/accounts/access/schedule.js';
import { NO_LIMITS } from '../../../src/core/accounts/usage/limits.js';
import { NO_GEO } from '../../../src/core/addresses/geo.js';
import type { SessionCommand } from '../../../src/core/sessions/session.js';
import { workerOf } from '../../../src/proxy/memory/hash.js';
import { Places, placesOf, reservedPlaces } from '../../../src/proxy/memory/places.js';
import { allocateGauges, viewGauges } from '../../../src/proxy/memory/shared.js';
import {
  allocateSourceTable,
  SourceTable,
  sourceKey,
  sourceName,
} from '../../../src/proxy/memory/source-table.js';
import type { WorkerMessage } from '../../../src/proxy/messages.js';
import type { AccountSession } from '../../../src/proxy/worker/account.js';
import { WorkerAccounts } from '../../../src/proxy/worker/accounts.js';
import { createRandom } from '../../fuzz/random.js';
import { eventually } from '../../helpers/eventually.js';
import { connectThrough, loggedInClient, RawClient, readReply, request } from '../../helpers/socks-client.js';
import { echo, startTarget } from '../../helpers/targets.js';
import { associateThrough } from '../../helpers/udp-client.js';
import { accountRecord, accountsFor, PASSWORD, SETTINGS, startPlane } from '../plane/plane-world.js';

const [BIND, UDP_ASSOCIATE] = [2, 3]; // RFC 1928 §4
const NOT_ALLOWED = 2; // RFC 1928 §6
/** With it, two places are reserved for handshakes. */
const MAX_CONNECTIONS = 20;
const SESSIONS = 18;

/** A user name of each of three workers, and a second one of the first. */
const NAMES = [0, 1, 2, 0].map((worker, i) => {
  for (let n = 0; ; n += 1) {
    const name = `player${i}x${n}`;
    if (workerOf(Buffer.from(name), 3) === worker) return name;
  }
});
const [greedy = '', modest = '', third = '', neighbour = ''] = NAMES;

type Settings = Partial<typeof SETTINGS>;

async function start(t: TestContext, engine: 'native' | 'node', settings: Settings) {
  const workers = engine === 'native' ? 3 : 1;
  const world = await startPlane(t, NAMES, { engine, workers, settings: { ...SETTINGS, ...settings } });
  const target = await startTarget(t, echo);
  const playerOf = (username: string) => ({ port: world.port, username, password: PASSWORD });
  return {
    world,
    playerOf,
    connect: (username: string) => connectThrough(playerOf(username), '127.0.0.1', target.port),
    async replyTo(username: string, command: number): Promise<number> {
      const client = await loggedInClient(playerOf(username));
      t.after(() => client.destroy());
      client.send(request('127.0.0.1', command === UDP_ASSOCIATE ? 0 : target.port, command));
      return (await readReply(client)).code;
    },
    /** The accounts whose sessions made room, in order. */
    async madeRoom(): Promise<string[]> {
      await world.plane.requests.settle();
      return world.closed
        .filter(({ summary }) => summary.end === 'made-room')
        .map(({ session }) => session.username);
    },
  };
}

for (const engine of ['native', 'node'] as const) {
  describe(`when one account has all places (${engine})`, () => {
    it('sessions of others take those of its that were idle longest', async (t) => {
      const { world, connect, replyTo, madeRoom } = await start(t, engine, {
        maxConnections: MAX_CONNECTIONS,
      });
      const clients: RawClient[] = [];
      for (let i = 0; i < SESSIONS; i += 1) clients.push(await connect(greedy));
      const [first, second] = clients;
      assert.ok(first && second);
      first.send('used');
      await first.read(4);
      await connect(modest);
      await second.closed();
      assert.equal(first.socket.destroyed, false);
      assert.deepEqual(await madeRoom(), [greedy]);
      // Another worker may still be ending the session.
      const hasMadeRoom = (times: number) =>
        eventually(async () => assert.deepEqual(await madeRoom(), Array(times).fill(greedy)));
      // Another one of the same worker; BIND takes one place, an association two.
      await connect(neighbour);
      await hasMadeRoom(2);
      assert.equal(await replyTo(third, BIND), 0);
      await hasMadeRoom(3);
      assert.equal(await replyTo(modest, UDP_ASSOCIATE), 0);
      await hasMadeRoom(5);
      assert.equal(world.plane.connections, SESSIONS);
      await eventually(() => {
        const ended = world.lines.filter(({ message }) => message.endsWith('longest idle sessions ended'));
        assert.equal(
          ended.reduce((sum, { fields }) => sum + Number(fields['ended']), 0),
          5,
        );
      });
    });

    it('connections that only wait make room for those that log in', async (t) => {
      const { world, connect, playerOf } = await start(t, engine, { maxConnections: MAX_CONNECTIONS });
      for (let i = 0; i < SESSIONS; i += 1) await connect(greedy);
      const waiting: RawClient[] = [];
      for (let i = 0; i < 2; i += 1) waiting.push(await RawClient.connect(world.port));
      await eventually(() => assert.equal(world.plane.connections, MAX_CONNECTIONS));
      // A worker that has none of them asks another one to close one, and closes the connection.
      await eventually(async () => (await loggedInClient(playerOf(modest))).destroy());
      await Promise.race(waiting.map((client) => client.closed()));
    });

    it('hard limits refuse further sessions of an account, by its class, and of a source', async (t) => {
      const { world, connect, replyTo, playerOf } = await start(t, engine, {
        maxConnectionsPerAccount: 3,
        maxConnectionsPerSource: 7,
        egressClasses: {
          cafe: { ...SETTINGS.egress, guard: { ...SETTINGS.guard.limits, maxConnections: 1 } },
        },
      });
      world.plane.accounts.put({ ...accountRecord('guest'), limits: { ...NO_LIMITS, egressClass: 'cafe' } });
      await connect('guest');
      assert.equal(await replyTo('guest', BIND), NOT_ALLOWED);
      const [client] = [await connect(greedy), await connect(greedy)];
      assert.equal(await replyTo(greedy, UDP_ASSOCIATE), NOT_ALLOWED);
      await connect(greedy);
      assert.equal(await replyTo(greedy, BIND), NOT_ALLOWED);
      await associateThrough(t, playerOf(modest));
      await connect(third);
      assert.equal(await replyTo(neighbour, BIND), NOT_ALLOWED);
      await world.plane.requests.settle();
      const reasons = world.lines.flatMap(({ fields: { reason } }) => reason ?? []);
      assert.deepEqual(reasons, [
        'max-connections-per-account',
        'max-connections-per-account',
        'max-connections-per-account',
        'max-connections-per-source',
      ]);
      client.destroy();
      await eventually(async () => assert.equal(await replyTo(neighbour, BIND), 0));
    });
  });
}

test('the reserve is a sixteenth of the connections, and nothing of three', () => {
  assert.deepEqual(
    [1, 3, 4, 120, 100_000].map((connections) => reservedPlaces(connections, 50_000)),
    [0, 0, 1, 8, 1_024],
  );
  assert.equal(reservedPlaces(120, 2), 2);
});

/** The accounts and places of worker 0 of two, with three places; the clock stands still. */
function setUpWorker(limits: { readonly perSource?: number } = {}) {
  const gauges = viewGauges(allocateGauges());
  const sent: string[] = [];
  const mosts: number[] = [];
  const idle = new Map<AccountSession, number>();
  const accounts = new WorkerAccounts({
    io: { now: () => 0, timer: () => ({ clear() {} }) },
    egressOf: () => null,
    schedules: createSchedules('UTC'),
    geo: NO_GEO,
    onMost(most) {
      mosts.push(most);
      gauges.setSign(0, 'mostPlaces', most);
    },
  });
  const table = new SourceTable(allocateSourceTable(64), 1);
  const settings = {
    ...SETTINGS,
    maxConnections: 3,
    maxHandshakes: 1,
    maxConnectionsPerSource: limits.perSource ?? null,
  };
  const sendToPeer = (worker: number, { kind }: WorkerMessage) => void sent.push(`${kind} ${worker}`);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const places = new Places({ settings, index: 0, workers: 2, gauges, sendToPeer, log }, accounts, table);
  const put = accountsFor(accounts);
  const ended: string[] = [];
  function open(username: string, command: SessionCommand, idleMs: number) {
    if (accounts.byUsername(username) === undefined) put(accountRecord(username), 0);
    const account = accounts.byUsername(username);
    assert.ok(account);
    const client = { address: '192.0.2.1', port: 1 };
    const refusal = places.acquire({ account, command, client });
    if (refusal !== null) return refusal;
    const session: AccountSession = {
      command,
      client,
      isByAddress: false,
      linkHash: null,
      destination: { host: '127.0.0.1', address: '127.0.0.1', port: 1 },
      bytes: 0,
      idleMs: () => idle.get(session) ?? 0,
      setRates() {},
      holdPermit() {},
      end(reason) {
        ended.push(`${username} ${reason}`);
        accounts.sessionOver(account, session);
        places.release({ account, command, client });
      },
    };
    idle.set(session, idleMs);
    accounts.sessionOpened(account, session);
    return session;
  }
  return { gauges, sent, mosts, accounts, put, table, ended, open };
}

test('the account with most makes room by a session that is not in use, and else is refused', () => {
  const { open, ended } = setUpWorker();
  for (const idleMs of [999, 0, 999]) assert.equal(typeof open('ann', 'connect', idleMs), 'object');
  assert.equal(open('ann', 'connect', 0), 'max-connections');
  assert.deepEqual(ended, []);
  assert.equal(typeof open('bob', 'connect', 5_000), 'object');
  // Only its own: bob's is idle for longer.
  assert.equal(open('ann', 'connect', 0), 'max-connections');
  assert.deepEqual(ended, ['ann made-room']);
  // With as many as others, too.
  assert.equal(typeof open('bob', 'connect', 1_000), 'object');
  assert.equal(typeof open('bob', 'connect', 0), 'object');
  assert.deepEqual(ended, ['ann made-room', 'ann made-room', 'bob made-room']);
});

test('another worker is asked when the account with most is there', () => {
  const { open, sent, gauges } = setUpWorker();
  gauges.add(1, 'sessions', 3);
  gauges.setSign(1, 'mostPlaces', 3);
  assert.equal(typeof open('ann', 'connect', 0), 'object');
  assert.deepEqual([sent, gauges.get('sessions')], [['make-room 1'], 4]);
});

test('the places of a source count over all workers, without those of a dead one', () => {
  const { open, table } = setUpWorker({ perSource: 2 });
  const other = sourceKey('192.0.2.1', sourceName(1));
  assert.ok(other);
  table.update(other, (row) => {
    row.count = 1;
  });
  assert.equal(typeof open('ann', 'connect', 0), 'object');
  assert.equal(open('ann', 'connect', 0), 'max-connections-per-source');
  table.removeNamed(sourceName(1));
  assert.equal(typeof open('ann', 'connect', 0), 'object');
  assert.equal(open('ann', 'connect', 0), 'max-connections-per-source');
});

test('the largest number of places of an account is known after every change', () => {
  const { accounts, put, mosts } = setUpWorker();
  const random = createRandom(24);
  const live: { readonly name: string; readonly session: AccountSession }[] = [];
  for (let step = 0; step < 2_000; step += 1) {
    if (random.below(100) < (step < 1_000 ? 60 : 40) || live.length === 0) {
      const name = `a${random.below(5)}`;
      if (accounts.byUsername(name) === undefined) put(accountRecord(name), 0);
      const account = accounts.byUsername(name);
      assert.ok(account);
      const command = random.below(2) === 0 ? 'connect' : 'udp-associate';
      const session = { command, bytes: 0, client: { address: '', port: 0 } } as unknown as AccountSession;
      accounts.sessionOpened(account, session);
      live.push({ name, session });
    } else {
      const [gone] = live.splice(random.below(live.length), 1);
      const account = accounts.byUsername(gone?.name ?? '');
      assert.ok(account && gone);
      accounts.sessionOver(account, gone.session);
    }
    const sums = new Map<string, number>([['', 0]]);
    for (const { name, session } of live) sums.set(name, (sums.get(name) ?? 0) + placesOf(session.command));
    assert.equal(mosts.at(-1) ?? 0, Math.max(...sums.values()));
  }
});
