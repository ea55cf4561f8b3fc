// What does not depend on the number of workers: the identity of an account after a change, and limits of all connections.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workerOf } from '../../../src/proxy/memory/hash.js';
import { allocateGauges, viewGauges } from '../../../src/proxy/memory/shared.js';
import type { AccountRecord } from '../../../src/proxy/plane-settings.js';
import { createFragmentMemory } from '../../../src/proxy/protocols/fragments.js';
import { eventually } from '../../helpers/eventually.js';
import {
  connectThrough,
  greeting,
  loggedInClient,
  login,
  RawClient,
  readReply,
  request,
} from '../../helpers/socks-client.js';
import { echo, startTarget } from '../../helpers/targets.js';
import { accountRecord, PASSWORD, type PlaneWorld, SETTINGS, startPlane } from './plane-world.js';

/** Returns a user name of worker `index` of three. */
function nameOf(index: number, prefix = 'player'): string {
  for (let i = 0; ; i += 1) {
    const name = `${prefix}${i}`;
    if (workerOf(Buffer.from(name), 3) === index) return name;
  }
}

const playerOf = ({ port }: PlaneWorld, username: string) => ({ port, username, password: PASSWORD });

async function isRefused(world: PlaneWorld, username: string): Promise<boolean> {
  return loggedInClient(playerOf(world, username)).then(
    () => false,
    () => true,
  );
}

describe('an account that changes', { skip: process.platform !== 'linux' }, () => {
  for (const [where, workers, newName] of [
    ['within its worker', 1, 'renamed'],
    ['to a name of another worker', 3, nameOf(1, 'renamed')],
  ] as const) {
    it(`can be renamed ${where}: its sessions end, the old name is unknown, and the new one logs in`, async (t) => {
      const account = accountRecord(nameOf(0));
      const world = await startPlane(t, [], { workers, accounts: [account] });
      const target = await startTarget(t, echo);
      const client = await connectThrough(playerOf(world, account.username), '127.0.0.1', target.port);
      world.plane.accounts.put({ ...account, username: newName });
      await client.closed();
      assert.equal(await isRefused(world, account.username), true);
      // Workers report independently, so the first session is settled before the second begins.
      await world.plane.requests.settle();
      const next = await connectThrough(playerOf(world, newName), '127.0.0.1', target.port);
      await world.plane.requests.settle();
      assert.deepEqual(
        [
          world.closed[0]?.summary.end,
          ...world.opened.map((session) => [session.accountId, session.username]),
        ],
        ['account-renamed', [account.id, account.username], [account.id, newName]],
      );
      next.destroy();
    });
  }

  for (const workers of [1, 3]) {
    it(`can get the name of a renamed account at once (${workers} workers)`, async (t) => {
      const [one, two] = [accountRecord(nameOf(0)), accountRecord(nameOf(0, 'other'))];
      const world = await startPlane(t, [], { workers, accounts: [one, two] });
      const target = await startTarget(t, echo);
      // Both accounts have the name until the second change.
      world.plane.accounts.put({ ...one, username: two.username });
      world.plane.accounts.put({ ...two, username: one.username });
      for (const username of [one.username, two.username]) {
        await connectThrough(playerOf(world, username), '127.0.0.1', target.port);
        await world.plane.requests.settle();
      }
      world.plane.accounts.put({ ...one, username: nameOf(2) });
      assert.equal(await isRefused(world, two.username), true);
      await connectThrough(playerOf(world, one.username), '127.0.0.1', target.port);
      await world.plane.requests.settle();
      assert.deepEqual(
        world.opened.map(({ accountId }) => accountId),
        [two.id, one.id, two.id],
      );
    });
  }

  for (const [change, fields] of [
    ['renamed', { username: nameOf(0, 'renamed') }],
    ['given another password', { passwordHash: accountRecord('other').passwordHash, passwordVersion: 1 }],
    ['disabled and enabled again', { isEnabled: false }],
  ] as const satisfies [string, Partial<AccountRecord>][]) {
    it(`has a request refused when it was ${change} between login and request`, async (t) => {
      const account = accountRecord(nameOf(0));
      const world = await startPlane(t, [], { accounts: [account] });
      const target = await startTarget(t, echo);
      const client = await loggedInClient(playerOf(world, account.username));
      world.plane.accounts.put({ ...account, ...fields });
      await Promise.resolve();
      if ('isEnabled' in fields) world.plane.accounts.put(account);
      // The worker has read the change once it answers a later login.
      await isRefused(world, account.username);
      client.send(request('127.0.0.1', target.port));
      assert.equal((await readReply(client)).code, 1);
    });
  }
});

describe('the limit of connections', { skip: process.platform !== 'linux' }, () => {
  it('counts a connection that is being passed to another worker', async (t) => {
    const usernames = [nameOf(0), nameOf(1)];
    const world = await startPlane(t, usernames, {
      workers: 3,
      settings: { ...SETTINGS, maxConnections: 1 },
      threadUrl: new URL('./holding-thread.js', import.meta.url),
    });
    const target = await startTarget(t, echo);
    const player = await RawClient.connect(world.port);
    player.send(Buffer.concat([greeting(2), login(nameOf(0), PASSWORD)]));
    await player.read(2);
    await eventually(() => world.lines.some(({ message }) => message === 'held'));
    assert.equal(world.plane.connections, 1);
    const other = await RawClient.connect(world.port);
    other.send(greeting(2));
    await other.closed();
    // Game rules make the worker accept the held connection.
    world.plane.tell({ kind: 'games', games: [] });
    assert.deepEqual([...(await player.read(2))], [1, 0]);
    player.send(request('127.0.0.1', target.port));
    assert.equal((await readReply(player)).code, 0);
    assert.equal(world.plane.connections, 1);
    player.destroy();
    await eventually(() => world.plane.connections === 0);
    const next = await connectThrough(playerOf(world, nameOf(1)), '127.0.0.1', target.port);
    assert.equal(world.plane.connections, 1);
    next.destroy();
  });

  it('counts correctly when connections are passed to other workers and closed', async (t) => {
    const usernames = [nameOf(0), nameOf(1), nameOf(2)];
    const world = await startPlane(t, usernames, { workers: 3 });
    const target = await startTarget(t, echo);
    const clients = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        connectThrough(playerOf(world, usernames[i % 3] ?? ''), '127.0.0.1', target.port),
      ),
    );
    assert.equal(world.plane.connections, 30);
    for (const client of clients) client.destroy();
    await eventually(() => world.plane.connections === 0);
  });
});

it('incomplete fragments share one memory limit over all workers', () => {
  const gauges = viewGauges(allocateGauges());
  const [one, two] = [0, 1].map((worker) =>
    createFragmentMemory(1_000, (bytes) => gauges.add(worker, 'fragmentBytes', bytes)),
  );
  assert.deepEqual(
    [one?.tryAcquire(600), two?.tryAcquire(401), two?.tryAcquire(400), one?.tryAcquire(1)],
    [true, false, true, false],
  );
  gauges.clear(0);
  assert.deepEqual([two?.tryAcquire(601), two?.tryAcquire(600)], [false, true]);
});
