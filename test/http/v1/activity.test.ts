// The activity of players on a real daemon: live sessions, logins, traffic, heartbeats, the overview.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iso } from '../../../src/core/time/clock.js';
import { fetchFrom, signIn } from '../../helpers/console.js';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { connectThrough, loggedInClient } from '../../helpers/socks-client.js';
import { echo, startTarget } from '../../helpers/targets.js';

type Json = Record<string, unknown>;
const json = async (daemon: TestDaemon, path: string, method = 'GET', body?: unknown): Promise<Json> => {
  const answer = await daemon.api(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return (answer.json ?? {}) as Json;
};
const items = async (daemon: TestDaemon, path: string) => (await json(daemon, path))['items'] as Json[];

/** Resolves with the first response for which `isTrue` holds. Entries are written within seconds, not at once. */
const until = <T>(ask: () => Promise<T>, isTrue: (value: T) => boolean): Promise<T> =>
  eventually(async () => {
    const value = await ask();
    assert.ok(isTrue(value), `last: ${JSON.stringify(value)}`);
    return value;
  });

test('live sessions are listed with rates and searched, and can be ended one by one, in groups and by account', async (t) => {
  const daemon = await startTestDaemon(t);
  const target = await startTarget(t, echo);
  const id = await daemon.addAccount('alice', 'secret');
  await daemon.addAccount('bob', 'secret');
  const open = (username: string) =>
    connectThrough({ port: daemon.socks.port, username, password: 'secret' }, '127.0.0.1', target.port);
  const clients = [await open('alice'), await open('alice'), await open('bob'), await open('alice')];
  clients[0]?.send(Buffer.alloc(10_000));
  await clients[0]?.read(10_000);
  const [first] = await until(
    () => items(daemon, '/api/v1/sessions?sort=-bytesPerSecond'),
    (list) => list.length === 4 && Number(list[0]?.['bytesPerSecondDown']) > 0,
  );
  assert.deepEqual(
    [first?.['username'], first?.['bytesUp'], first?.['bytesDown']],
    ['alice', 10_000, 10_000],
  );
  const outgoing = first?.['outgoing'] as { address: string; port: number };
  const ports = (await Promise.all(clients.map(() => target.nextConnection()))).map(
    (each) => each.remotePort,
  );
  assert.ok(outgoing.address === '127.0.0.1' && ports.includes(outgoing.port), 'as the destination sees it');
  assert.ok(first?.['exit'] === null && Number(first['connectMs']) >= 0);
  assert.deepEqual(first?.['destination'], { host: '127.0.0.1', address: '127.0.0.1', port: target.port });
  const page = await json(daemon, '/api/v1/sessions?limit=2&sort=username');
  assert.deepEqual([page['matched'], page['total']], [4, 4]);
  const rest = await json(daemon, `/api/v1/sessions?limit=2&sort=username&cursor=${page['nextCursor']}`);
  assert.deepEqual([(rest['items'] as Json[]).length, rest['nextCursor']], [2, null]);
  assert.equal((await items(daemon, '/api/v1/sessions?search=BOB')).length, 1);
  assert.equal((await items(daemon, '/api/v1/sessions?protocol=udp')).length, 0);
  for (const [search, found] of [
    [`127.0.0.1:${target.port}`, 4],
    [`127.0.0.1:${target.port}/TCP`, 4],
    [String(target.port), 4],
    [`127.0.0.1:${target.port}/udp`, 0],
    [`127.0.0.1:1${target.port}`, 0],
  ] as const)
    assert.equal((await items(daemon, `/api/v1/sessions?search=${search}`)).length, found, search);
  assert.equal((await items(daemon, `/api/v1/sessions?accountId=${id.toUpperCase()}`)).length, 3);

  const [bobSession] = await items(daemon, '/api/v1/sessions?search=bob');
  assert.equal((await daemon.api('DELETE', `/api/v1/sessions/${bobSession?.['id']}`)).status, 204);
  /** A session stays in the list until it has ended. */
  const untilCount = (count: number) =>
    until(
      () => items(daemon, '/api/v1/sessions'),
      (list) => list.length === count,
    );
  await clients[2]?.closed();
  await untilCount(3);
  assert.equal((await daemon.api('DELETE', `/api/v1/sessions/${bobSession?.['id']}`)).status, 404);
  const ended = await json(daemon, '/api/v1/sessions/end', 'POST', {
    ids: [first?.['id'], bobSession?.['id']],
  });
  assert.deepEqual(ended, { ended: 1 });
  await untilCount(2);
  assert.deepEqual(await json(daemon, '/api/v1/sessions/end', 'POST', { accountId: id }), { ended: 2 });
  assert.equal((await daemon.api('POST', '/api/v1/sessions/end', {})).status, 400);
  await untilCount(0);
  const audit = await items(daemon, `/api/v1/audit?action=session.end&objectId=${id}`);
  assert.equal(audit.length, 3);
  const [together] = await items(daemon, '/api/v1/audit?action=session.end');
  assert.deepEqual(together?.['after'], { count: 2 }, 'ended together, they are one entry');
  assert.equal((await items(daemon, `/api/v1/audit?importId=${together?.['id']}`)).length, 2);
});

test('logins and failed attempts are stored with reason and address, and equal ones are counted in one entry', async (t) => {
  const daemon = await startTestDaemon(t);
  const id = await daemon.addAccount('alice', 'secret');
  await daemon.addAccount('gone', 'secret', { IsEnabled: false });
  const attempt = (username: string, password: string) =>
    loggedInClient({ port: daemon.socks.port, username, password }).then(
      (client) => client.destroy(),
      () => {},
    );
  for (const [name, password] of [
    ['alice', 'secret'],
    ['alice', 'wrong'],
    ['alice', 'wrong'],
    ['gone', 'secret'],
    ['nobody', 'x'],
  ] as const) {
    await attempt(name, password);
  }
  const list = await until(
    () => items(daemon, '/api/v1/logins'),
    (found) => found.length === 4,
  );
  const attempts = list.map(({ username, outcome, client }) => [username, outcome, client]);
  for (const expected of [
    ['alice', 'success', '127.0.0.1'],
    ['alice', 'wrong-password', '127.0.0.1'],
    ['gone', 'disabled', '127.0.0.1'],
    ['nobody', 'unknown-user', '127.0.0.1'],
  ]) {
    assert.ok(
      attempts.some((entry) => String(entry) === String(expected)),
      String(expected),
    );
  }
  const wrong = () => items(daemon, `/api/v1/logins?accountId=${id}&failed=true`);
  const [entry] = await until(wrong, ([each]) => each?.['times'] === 2);
  assert.equal(entry?.['accountId'], id);
  assert.equal((await items(daemon, '/api/v1/logins?search=NOBODY'))[0]?.['accountId'], null);
  const since = Date.parse(String(entry?.['at']));
  const between = (from: number, to: number) =>
    items(daemon, `/api/v1/logins?search=ali&failed=true&from=${iso(from)}&to=${iso(to)}`);
  assert.equal((await between(since, since + 1)).length, 1, 'from is inside the range');
  assert.equal((await between(since - 1_000, since)).length, 0, 'to is not');
  const page = await json(daemon, '/api/v1/logins?limit=3');
  assert.deepEqual([page['matched'], page['total']], [4, 4]);
  assert.equal((await items(daemon, `/api/v1/logins?limit=3&cursor=${page['nextCursor']}`)).length, 1);
  const overview = await json(daemon, '/api/v1/overview');
  const today = overview['today'] as Json;
  assert.deepEqual([today['logins'], today['failures']], [1, 4]);

  // The workers' lines are in the recent log too.
  const refused = (await json(daemon, '/api/v1/log?search=login+refused'))['items'] as Json[];
  assert.deepEqual(
    refused.map(({ level, fields }) => [level, fields]),
    [['info', { client: '127.0.0.1', reason: 'disabled', user: 'gone' }]],
  );
  const log = (query: string) => json(daemon, `/api/v1/log?search=login+failed&${query}`);
  const all = await log('');
  const lines = all['items'] as Json[];
  assert.deepEqual([all['matched'], all['nextCursor']], [3, null]);
  assert.deepEqual(
    lines.map(({ fields }) => (fields as Json)['user']),
    ['nobody', 'alice', 'alice'],
  );
  const { at, id: newest, ...rest } = lines[0] ?? {};
  const fields = { client: '127.0.0.1', reason: 'unknown-user', user: 'nobody' };
  assert.deepEqual(rest, { level: 'warn', message: 'login failed', fields });
  assert.ok(Math.abs(Date.parse(String(at)) - Date.now()) < 600_000, String(at));
  const begin = await log('limit=2&level=warn');
  const end = await log(`limit=2&cursor=${begin['nextCursor']}`);
  assert.deepEqual([...(begin['items'] as Json[]), ...(end['items'] as Json[])], lines);
  assert.deepEqual((await log('level=error'))['items'], []);
  await attempt('nobody', 'y');
  const later = (await log(`after=${newest}`))['items'] as Json[];
  assert.deepEqual(
    later.map(({ message }) => message),
    ['login failed'],
  );
  for (const wrong of ['cursor=x', 'level=loud', 'after=-1'])
    assert.equal((await daemon.api('GET', `/api/v1/log?${wrong}`)).status, 400, wrong);
});

test('heartbeats of an account are in its entries, sums, series, timeline and traffic, also after a restart', async (t) => {
  const target = await startTarget(t, echo);
  const games = [{ id: 'arena', match: { ports: [target.port] } }];
  const daemon = await startTestDaemon(t, { config: { heartbeats: { games } } });
  const other = await startTarget(t, echo);
  const id = await daemon.addAccount('alice', 'secret');
  const account = { port: daemon.socks.port, username: 'alice', password: 'secret' };
  for (const { port } of [target, other]) {
    const client = await connectThrough(account, '127.0.0.1', port);
    client.send(Buffer.alloc(500));
    await client.read(500);
    // The request makes the daemon report the open session, so that it has an entry of its opening, too.
    await daemon.account('alice');
    client.destroy();
  }
  const entries = await until(
    () => items(daemon, `/api/v1/heartbeats?accountId=${id}`),
    (list) => list.length === 4,
  );
  assert.equal((await items(daemon, '/api/v1/heartbeats?game=arena')).length, 2);
  assert.equal(
    (await items(daemon, `/api/v1/heartbeats?to=${entries[3]?.['at']}`)).length,
    0,
    '`to` is exclusive',
  );
  const page = await json(daemon, '/api/v1/heartbeats?limit=3');
  assert.equal((await items(daemon, `/api/v1/heartbeats?limit=3&cursor=${page['nextCursor']}`)).length, 1);

  const timeline = await json(daemon, `/api/v1/accounts/${id}/timeline`);
  const stretches = timeline['stretches'] as Json[];
  assert.deepEqual(
    stretches.map(({ gameId, heartbeats }) => [gameId, heartbeats]),
    [
      ['arena', 2],
      [null, 2],
    ],
  );
  const traffic = async () => (await json(daemon, `/api/v1/accounts/${id}/traffic?days=3`))['days'] as Json[];
  const [, , today] = await until(traffic, (days) => days[2]?.['bytesUp'] === 1_000);
  assert.deepEqual([today?.['bytesDown'], today?.['sessions']], [1_000, 2]);
  const [shown] = await items(daemon, '/api/v1/accounts');
  assert.deepEqual([shown?.['todayBytesUp'], shown?.['todayBytesDown']], [1_000, 1_000]);

  // Charts are written every 20 s, and when the daemon stops.
  daemon.signal('SIGTERM');
  await daemon.exited();
  const restarted = await startTestDaemon(t, { dataDir: daemon.dataDir });
  const sums = await items(restarted, '/api/v1/heartbeats/sums?range=hour');
  assert.deepEqual(
    sums.map(({ key, heartbeats, accounts, bytesUp }) => [key, heartbeats, accounts, bytesUp]),
    [
      [null, 2, 1, 500],
      ['arena', 2, 1, 500],
    ],
  );
  const series = await json(restarted, '/api/v1/heartbeats/series?range=day&by=account');
  const [line] = series['series'] as (Json & { counts: number[] })[];
  assert.deepEqual([line?.['key'], line?.['label'], line?.['total']], [id, 'alice', 4]);
  assert.equal(line?.counts.length, 144);
  const top = (await json(restarted, '/api/v1/overview'))['topAccounts'] as Json[];
  assert.deepEqual(
    [top[0]?.['username'], top[0]?.['bytesUp']],
    ['alice', 1_000],
    "today's traffic is kept over a restart",
  );
});

test('the overview, its history and the event stream follow the sessions; the stream ends with the console session', async (t) => {
  const daemon = await startTestDaemon(t, { config: { admin: { maxEventStreams: 1 } } });
  const target = await startTarget(t, echo);
  await daemon.addAccount('alice', 'secret');
  const client = await connectThrough(
    { port: daemon.socks.port, username: 'alice', password: 'secret' },
    '127.0.0.1',
    target.port,
  );
  const overview = await json(daemon, '/api/v1/overview');
  assert.deepEqual([overview['sessions'], overview['playersOnline']], [1, 1]);
  const history = await json(daemon, '/api/v1/overview/history?range=day');
  assert.equal((history['at'] as unknown[]).length, 144);
  assert.deepEqual((history['sessions'] as unknown[]).slice(0, 100), new Array(100).fill(null));

  const signedIn = await signIn(daemon);
  const response = await fetch(`${daemon.adminUrl}/api/v1/events`, { headers: { cookie: signedIn.cookie } });
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(
    (await signedIn.api('GET', '/api/v1/events')).status,
    429,
    'one stream more than maxEventStreams',
  );
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  const readUntil = async (wanted: RegExp) => {
    while (!wanted.test(seen)) {
      const part = await reader?.read();
      if (!part || part.done) assert.fail(`the stream ended: ${seen.slice(-300)}`);
      seen += part.value;
    }
  };
  await readUntil(/event: overview\ndata: \{"at".*"sessions":1/);
  await daemon.addAccount('bob', 'secret');
  await readUntil(/event: changed\ndata: \{"topic":"accounts"/);
  client.destroy();
  await readUntil(/event: changed\ndata: \{"topic":"sessions"/);
  await signedIn.api('DELETE', '/api/v1/session');
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read());
  assert.equal((await fetchFrom(daemon, 'GET', '/api/v1/events', { cookie: signedIn.cookie })).status, 401);

  const { cookie } = await signIn(daemon);
  const last = await fetch(`${daemon.adminUrl}/api/v1/events`, { headers: { cookie } });
  daemon.signal('SIGTERM');
  assert.match(await last.text(), /^retry/, 'a stop ends the stream, and does not cut it off');
  assert.equal(await daemon.exited(), 0);
});
