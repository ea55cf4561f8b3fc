// /healthz, /readyz and /metrics of the daemon, the dashboard that reads them, and the console's files.
// Alone: shows what the first use in a process starts.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import perfHooks from 'node:perf_hooks';
import { test } from 'node:test';
import { loadLibc } from '../../src/proxy/io/native/libc.js';
import { openListener } from '../../src/proxy/io/native/listen.js';
import { startTestAdmin } from '../helpers/admin.js';
import { fetchFrom } from '../helpers/console.js';
import { PROJECT, startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { exchange, send } from '../helpers/http.js';
import { connectThrough } from '../helpers/socks-client.js';
import { echo, startTarget } from '../helpers/targets.js';

const LIST = '/ProxyAccount/GetProxyAccountList';

test('/healthz needs no credentials; /readyz fails without the database, and while a listener is closed', async (t) => {
  const admin = await startTestAdmin(t);
  await admin.whitelist.save('10.9.8.7');
  for (const path of ['/healthz', '/readyz', '/readyz/players']) {
    const answer = await send(admin.url + path);
    assert.deepEqual([answer.status, answer.text], [200, 'ok\n'], path);
  }
  admin.plane.listeners.areOpen = false;
  for (const path of ['/readyz', '/readyz/players'])
    assert.equal((await send(admin.url + path)).text, 'not ready: listener-closed\n', path);
  admin.plane.listeners.areOpen = true;
  // The system takes connections to a listening socket from which nobody accepts.
  const libc = loadLibc();
  const listener = openListener(libc, { address: '127.0.0.1', port: 0 });
  assert.ok('fd' in listener);
  t.after(() => libc.close(listener.fd));
  admin.listeners.addresses.push(`127.0.0.1:${listener.local.port}`);
  for (const path of ['/readyz', '/readyz/players'])
    await eventually(async () =>
      assert.equal((await send(admin.url + path)).text, 'not ready: listener-silent\n', path),
    );
  admin.listeners.addresses.pop();
  await eventually(async () => assert.equal((await send(`${admin.url}/readyz/players`)).status, 200));
  await admin.store.close();
  assert.equal((await send(`${admin.url}/readyz`)).status, 503);
  // Players log in from memory.
  for (const path of ['/healthz', '/readyz/players'])
    assert.equal((await send(admin.url + path)).status, 200, path);
});

test('metrics without a token are for this host alone', async (t) => {
  const { url } = await startTestAdmin(t, { trustedProxies: ['127.0.0.1'] });
  assert.equal((await send(`${url}/metrics`)).status, 200);
  const outside = await send(`${url}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
  assert.equal(outside.status, 403);
});

test('metrics with a token need it everywhere, and contain no account names; without admin.tls there is neither a certificate nor HSTS', async (t) => {
  const token = 'a-token-of-more-than-16-characters';
  const daemon = await startTestDaemon(t, {
    config: {
      metrics: { token },
      node: { name: 'gate-1' },
      admin: { trustedProxies: ['127.0.0.1'], attempts: { maxFailuresPerSource: 2 } },
    },
  });
  assert.equal((await fetchFrom(daemon, 'GET', '/metrics', {})).status, 401);
  assert.equal(
    (await fetchFrom(daemon, 'GET', '/metrics', { authorization: `Bearer ${token}x` })).status,
    401,
  );
  const guesser = { 'x-forwarded-for': '203.0.113.7', authorization: 'Bearer guess' };
  const guesses = Array.from({ length: 3 }, () => fetchFrom(daemon, 'GET', '/metrics', guesser));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [401, 401, 429], 'wrong tokens count together with wrong passwords');
  const right = { ...guesser, authorization: `Bearer ${token}` };
  const late = await fetchFrom(daemon, 'GET', '/metrics', right);
  assert.deepEqual([late.status, Number(late.headers.get('retry-after')) > 0], [429, true]);
  const target = await startTarget(t, echo);
  await daemon.addAccount('a-player', 'secret');
  const account = { port: daemon.socks.port, username: 'a-player', password: 'secret' };
  const client = await connectThrough(account, '127.0.0.1', target.port);
  client.send(Buffer.alloc(700));
  await client.read(700);
  client.destroy();
  await daemon.waitForLine(({ msg }) => msg === 'session ended');
  const read = async () =>
    (await fetchFrom(daemon, 'GET', '/metrics', { authorization: `Bearer ${token}` })).text;
  const text = await read();
  assert.match(text, /^pulsegate_relayed_bytes_total\{direction="up",node="gate-1"\} 700$/m);
  assert.match(text, /^pulsegate_logins_total\{outcome="success",node="gate-1"\} 1$/m);
  assert.match(text, /^pulsegate_sessions\{node="gate-1"\} 0$/m);
  assert.match(text, /^pulsegate_proxy_workers\{engine="native",node="gate-1"\} [01]$/m);
  assert.ok(!text.includes('a-player'));
  // A session that opens and closes within one report of the worker has one entry, others have two.
  const heartbeats = /^pulsegate_heartbeats_total\{node="gate-1"\} ([12])$/m;
  assert.match(text, heartbeats);
  assert.equal(
    heartbeats.exec(await read())?.[1],
    heartbeats.exec(text)?.[1],
    'a second request counts no entry twice',
  );

  // The help text of the listeners' metric is always present, but without a value.
  assert.doesNotMatch(text, /^\w*certificate/m);
  const list = await daemon.api('GET', LIST, undefined, { 'x-forwarded-proto': 'https' });
  assert.deepEqual([list.status, list.headers.get('strict-transport-security')], [200, null]);

  const dashboard = JSON.parse(await readFile(join(PROJECT, 'etc/grafana-dashboard.json'), 'utf8'));
  const names = new Set(JSON.stringify(dashboard).match(/\b(pulsegate|process|nodejs)_\w+/g));
  assert.ok(names.size > 10);
  for (const name of names) assert.ok(text.includes(`# TYPE ${name} `), name);
});

test('the event loop is measured only from the first scrape on: that wakes the process 100 times a second', async (t) => {
  const monitor = t.mock.method(perfHooks, 'monitorEventLoopDelay');
  const admin = await startTestAdmin(t);
  assert.equal((await send(`${admin.url}/healthz`)).status, 200);
  assert.equal(monitor.mock.callCount(), 0);
  for (let i = 0; i < 2; i += 1)
    assert.match((await send(`${admin.url}/metrics`)).text, /^nodejs_eventloop_lag_p99_seconds/m);
  assert.equal(monitor.mock.callCount(), 1);
});

test('the console is served with a strict policy, and no file outside its folder is served', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-console-'));
  t.after(() => rm(folder, { recursive: true }));
  const built = join(folder, 'console');
  await mkdir(join(built, 'assets'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await writeFile(join(built, 'index.html'), '<!doctype html>');
  await writeFile(join(built, 'assets/index-B3x9_a1Z.js'), 'export {};');
  await symlink(join(folder, 'secret.txt'), join(built, 'link.txt'));
  const admin = await startTestAdmin(t, { consoleFolder: built });
  const page = await send(`${admin.url}/`);
  assert.deepEqual([page.status, page.text], [200, '<!doctype html>']);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
  assert.ok(!/unsafe|\*|https?:/.test(policy));
  assert.equal(page.headers['cache-control'], 'no-cache');
  const script = await send(`${admin.url}/assets/index-B3x9_a1Z.js`);
  assert.equal(script.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(script.headers['content-type'], 'text/javascript; charset=utf-8');
  for (const path of [
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/link.txt',
    '//etc/passwd',
    '/assets',
    '/index.html%00.js',
  ]) {
    const answer = await exchange(admin.url, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    assert.ok(!answer.includes('secret\n') && !/^HTTP\/1.1 200/.test(answer), path);
  }
  await admin.whitelist.save('10.9.8.7');
  assert.equal((await send(`${admin.url}/`)).status, 403);
});

test('a console that is not built is answered with 503 and how to build it', async (t) => {
  const admin = await startTestAdmin(t, { consoleFolder: '/nowhere' });
  const page = await send(`${admin.url}/`);
  assert.equal(page.status, 503);
  assert.match(page.text, /npm run build/);
});
