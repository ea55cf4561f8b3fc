// The console on the real daemon: what an operator does in a day, and what others may not do to it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { runCommand } from '../helpers/command.js';
import {
  type ConsolePage,
  isCutOff,
  launchBrowser,
  noBrowser,
  openConsole,
  signIn,
} from '../helpers/console-browser.js';
import { ADMIN, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/descriptors.js';
import { findProgram } from '../helpers/programs.js';
import { connectThrough } from '../helpers/socks-client.js';
import { echo, startTarget } from '../helpers/targets.js';

const skip = { skip: noBrowser };
const run = promisify(execFile);
let browser: Browser;
before(async () => {
  if (!noBrowser) browser = await launchBrowser();
});
after(() => browser?.close());

const CONFIG = {
  heartbeats: { games: [{ gameId: 'GAME=([^;]+);' }] },
  agents: {
    parrot: {
      type: 'command',
      command: [
        process.execPath,
        '-e',
        'process.stdin.on("data", (d) => console.log(JSON.parse(d).message))',
      ],
    },
  },
};

async function desk(t: TestContext): Promise<{ daemon: TestDaemon; shown: ConsolePage }> {
  const daemon = await startTestDaemon(t, { config: CONFIG });
  const shown = await openConsole(t, browser, { url: daemon.adminUrl });
  await signIn(shown, ADMIN.username, ADMIN.password);
  return { daemon, shown };
}

/** Creates an account in the console and returns the password it shows. */
async function create({ page, visit }: ConsolePage, username: string): Promise<string> {
  await visit('/accounts?new=one');
  await page.fill('dialog input >> nth=0', username);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog .qr');
  const password = (await page.textContent('[data-password]')) ?? '';
  await page.click('dialog footer button');
  return password;
}

test('a day at the desk: create, see online, end, extend in bulk, lock out and restore', skip, async (t) => {
  const { daemon, shown } = await desk(t);
  const { page, visit, errors } = shown;
  await page.waitForSelector('text=Three steps to begin');
  const password = await create(shown, 'player01');
  const account = { port: daemon.socks.port, username: 'player01', password };

  const web = createServer((_, response) => response.end('hello'));
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  t.after(() => web.close());
  const webPort = (web.address() as { port: number }).port;
  if (findProgram('curl')) {
    const proxy = `socks5h://player01:${encodeURIComponent(password)}@127.0.0.1:${daemon.socks.port}`;
    const { stdout } = await run('curl', [
      '-s',
      '-x',
      proxy,
      '--noproxy',
      '',
      `http://127.0.0.1:${webPort}/`,
    ]);
    assert.equal(stdout, 'hello');
  }

  const target = await startTarget(t, echo);
  const client = await connectThrough(account, '127.0.0.1', target.port);
  client.send('GAME=arena7;');
  await visit('/accounts');
  await page.waitForSelector('tbody .state.good >> text=Online', { timeout: 30_000 });
  await visit('/sessions');
  await page.waitForSelector(`tbody >> text=127.0.0.1:${target.port}`);
  await page.waitForSelector('tbody >> text=arena7', { timeout: 30_000 });
  const closed = client.closed();
  await page.click('tbody >> text=End');
  await closed;
  await page.waitForSelector('text=Nobody is online');

  await visit('/accounts');
  await page.check('thead input[type=checkbox]');
  await page.click('.bulk-bar >> text=Extend');
  await page.click('dialog .segments >> text=Now');
  await page.waitForSelector('dialog .preview >> text=1 account will change');
  await page.click('dialog button[type=submit]');
  await page.waitForSelector('.toast >> text=Extend: 1 done');
  const expiresAt = String((await daemon.account('player01'))['ExpiresAt']);
  const days = (Date.parse(`${expiresAt}Z`) - Date.now()) / 86_400_000;
  assert.ok(days > 29.9 && days < 30.1, expiresAt);

  await visit('/settings/audit');
  await page.waitForSelector('.audit >> text=player01');

  await visit('/settings/whitelist');
  await page.fill('textarea', '10.0.0.0/8');
  await page.waitForSelector('form.card .state.bad');
  await page.click('form.card button[type=submit]');
  await page.fill('dialog input', '127.0.0.1');
  await page.click('dialog button[type=submit]');
  await page.waitForSelector('dialog', { state: 'detached' });
  assert.equal((await daemon.api('GET', '/api/v1/me')).status, 403);
  const restored = await runCommand(daemon.dataDir, ['whitelist', 'set', '', '--config', daemon.configFile]);
  assert.equal(restored.code, 0, restored.stderr);
  // A running daemon sees what the command line changed within a second.
  while ((await daemon.api('GET', '/api/v1/me')).status === 403) await page.waitForTimeout(50);
  await page.reload();
  await page.waitForSelector('.rail');
  assert.deepEqual(errors, []);
});

test('every page of the real daemon opens, in both languages, wide and on a phone', skip, async (t) => {
  const daemon = await startTestDaemon(t, { config: CONFIG });
  const id = await daemon.addAccount('someone', 'secret', { Remarks: '备注' });
  const target = await startTarget(t, echo);
  const client = await connectThrough(
    { port: daemon.socks.port, username: 'someone', password: 'secret' },
    '127.0.0.1',
    target.port,
  );
  t.after(() => client.destroy());
  const sent = await daemon.api('POST', '/api/v1/agents/parrot/messages', { message: 'hello' });
  const { runId } = sent.json as { runId: string };
  const pages = [
    '/',
    '/?range=day',
    '/?range=month',
    '/accounts',
    `/accounts/${id}`,
    '/sessions',
    '/sessions/logins',
    '/heartbeats',
    '/heartbeats?by=account',
    '/agents',
    `/agents/runs/${runId}`,
    '/agents/sessions',
    '/settings/whitelist',
    '/settings/admin',
    '/settings/games',
    '/settings/audit',
    '/settings/tokens',
    '/settings/retention',
    '/settings/effective',
    '/settings/api',
  ];
  for (const look of [
    { language: 'zh-CN', theme: 'dark', width: 390 },
    { language: 'en', theme: 'light', width: 1440 },
  ] as const) {
    const shown = await openConsole(t, browser, { url: daemon.adminUrl, ...look });
    await signIn(shown, ADMIN.username, ADMIN.password);
    for (const hash of pages) {
      await shown.visit(hash);
      assert.equal(
        await shown.page.locator('[role=alert]').count(),
        0,
        `${hash}: ${await shown.page.locator('[role=alert]').allTextContents()}`,
      );
      assert.equal(await isCutOff(shown.page), false, `${hash} is wider than the window`);
    }
    assert.deepEqual(shown.errors, []);
  }
});

test('accounts come from a file after a trial, and go into one', skip, async (t) => {
  const { daemon, shown } = await desk(t);
  const { page, visit, errors } = shown;
  await daemon.addAccount('taken', 'secret');
  await visit('/accounts?new=import');
  const csv = 'username,password,remarks\nfile01,secret1,=1+1\nfile02,secret2,\ntaken,other,\n,nobody,\n';
  await page.setInputFiles('dialog input[type=file]', {
    name: 'accounts.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(csv),
  });
  await page.click('dialog >> text=Try first');
  await page.waitForSelector('dialog >> text=/A trial says:.*2 added/');
  assert.equal(((await daemon.api('GET', '/api/v1/accounts')).json as { total: number }).total, 1);
  await page.click('dialog >> text=/Import \\d/');
  await page.waitForSelector('dialog >> text=/Imported:.*2 added/');
  await page.keyboard.press('Escape');
  await visit('/accounts?search=file01');
  await page.waitForSelector('tbody >> text=file01');
  await visit('/accounts?new=export');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('dialog >> text=Download'),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  assert.match(text, /file02/);
  assert.doesNotMatch(text, /(^|,)=1\+1/m);
  assert.deepEqual(errors, []);
});

test('a token is shown once, works within its scopes, and stops when it is revoked', skip, async (t) => {
  const { daemon, shown } = await desk(t);
  const { page, visit } = shown;
  await visit('/settings/tokens');
  await page.click('text=New token');
  await page.fill('dialog input >> nth=0', 'billing');
  await page.check('dialog label >> text=accounts:read');
  await page.click('dialog >> text=Create');
  await page.waitForSelector('dialog >> text=The token is ready');
  const secret = (await page.textContent('dialog code >> nth=0')) ?? '';
  const ask = (path: string) =>
    fetch(daemon.adminUrl + path, { headers: { authorization: `Bearer ${secret}` } });
  assert.equal((await ask('/api/v1/accounts')).status, 200);
  assert.equal((await ask('/api/v1/audit')).status, 403);
  await page.click('dialog footer button');
  await page.click('tbody >> text=Revoke');
  await page.click('dialog footer >> text=Revoke');
  await page.waitForSelector('text=No tokens yet');
  assert.equal((await ask('/api/v1/accounts')).status, 401);
});

/** RFC 6238 with SHA-1, 30 s and six digits: what an authenticator app shows. */
function totp(secret: string, at: number): string {
  const bits = [...secret]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

test(
  'game rules are tried and saved, retention is changed, the second factor and a new password hold',
  skip,
  async (t) => {
    const { daemon, shown } = await desk(t);
    const { page, visit, errors } = shown;
    await visit('/settings/games');
    await page.click('text=Add a rule');
    const added = page.locator('section[aria-label="Rule 2"]');
    await added.locator('input').nth(0).fill('arena');
    await added.locator('input').nth(1).fill('*.arena.example');
    await added.locator('input').nth(1).blur();
    await page.click('form.card button[type=submit]');
    await page.waitForSelector('text=Rule 2 matches: arena');
    await page.click('.columns > section >> text=Save');
    await page.waitForSelector('text=Changed in the console');
    const rules = (await daemon.api('GET', '/api/v1/settings/games')).json as { rules: unknown[] };
    assert.deepEqual(rules.rules[1], { id: 'arena', match: { hosts: ['*.arena.example'] } });

    await visit('/settings/retention');
    await page.fill('input >> nth=0', '7');
    await page.click('form.card button[type=submit]');
    // The word on the page may still be that of the rules: what counts is what the daemon has.
    await eventually(async () => {
      const retention = (await daemon.api('GET', '/api/v1/settings/retention')).json;
      assert.equal((retention as { heartbeatDays: number }).heartbeatDays, 7);
    });

    await visit('/settings/admin');
    await page.click('text=Turn on');
    const secret = (await page.textContent('dialog code')) ?? '';
    await page.fill('dialog input', totp(secret, Date.now()));
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Turn off');
    await page.fill('input[autocomplete=current-password]', ADMIN.password);
    for (const field of await page.locator('input[autocomplete=new-password]').all())
      await field.fill('another-password');
    await page.click('text=Change password >> nth=-1');
    await page.waitForSelector('.toast >> text=The password was changed');
    await page.click('text=Sign out');
    await page.fill('input[autocomplete=username]', ADMIN.username);
    await page.fill('input[autocomplete=current-password]', 'another-password');
    await page.keyboard.press('Enter');
    // A code counts once: the one that turned it on is spent.
    await page.fill('input[autocomplete=one-time-code]', totp(secret, Date.now() + 30_000));
    await page.keyboard.press('Enter');
    await page.waitForSelector('.rail');
    assert.deepEqual(errors, []);
  },
);

const PAYLOADS = [
  '<script>top.harmed=1</script>',
  '<img src=x onerror=top.harmed=1>',
  `"><svg onload=top.harmed=1>`,
  `' onmouseover='top.harmed=1`,
  '{{7*7}}',
  'javascript:top.harmed=1',
];

test('what players and agents write is text in the console of the real daemon', skip, async (t) => {
  const { daemon, shown } = await desk(t);
  const target = await startTarget(t, echo);
  const ids: string[] = [];
  const runs: string[] = [];
  for (const payload of PAYLOADS) {
    ids.push(await daemon.addAccount(payload, 'secret', { Remarks: payload }));
    const client = await connectThrough(
      { port: daemon.socks.port, username: payload, password: 'secret' },
      '127.0.0.1',
      target.port,
    );
    client.send(`GAME=${payload};`);
    t.after(() => client.destroy());
    const sent = await daemon.api('POST', '/api/v1/agents/parrot/messages', { message: payload });
    runs.push((sent.json as { runId: string }).runId);
  }
  const { page, visit, errors } = shown;
  await visit('/sessions');
  await page.waitForSelector('tbody >> text=<img src=x onerror=top.harmed=1>');
  for (const hash of [
    '/',
    '/accounts',
    '/sessions',
    '/sessions/logins',
    '/heartbeats',
    '/heartbeats?by=account',
    '/agents',
    '/agents/sessions',
    '/settings/audit',
    ...ids.map((id) => `/accounts/${id}`),
    ...runs.map((id) => `/agents/runs/${id}`),
  ]) {
    await visit(hash);
    assert.equal(await page.evaluate('window.harmed'), undefined, hash);
    assert.equal(await page.locator('#app script, #app img[src=x], #app svg[onload]').count(), 0, hash);
  }
  assert.deepEqual(errors, []);
});

test('another site, open in the same browser, changes nothing', skip, async (t) => {
  const { daemon, shown } = await desk(t);
  const id = await daemon.addAccount('victim', 'secret');
  const port = new URL(daemon.adminUrl).port;
  const evil = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>another site</title>');
  });
  evil.listen(0, '127.0.0.1');
  await once(evil, 'listening');
  t.after(() => evil.close());
  const evilPort = (evil.address() as { port: number }).port;
  // Another port is the same site to a cookie; another name is another site.
  for (const from of [`http://127.0.0.1:${evilPort}/`, `http://localhost:${evilPort}/`]) {
    const page = await shown.page.context().newPage();
    await page.goto(from);
    const read = await page.evaluate<string>(
      `fetch('http://127.0.0.1:${port}/api/v1/accounts', { credentials: 'include' }).then((r) => r.text(), () => 'refused')`,
    );
    assert.equal(read, 'refused');
    await page.evaluate(attacks(`http://127.0.0.1:${port}`, id));
    // A request for which the browser would ask its reader for a password never ends: what has not come by now will not.
    await page.waitForTimeout(3_000);
    await page.close();
  }
  const list = (await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).json as { Username: string }[];
  assert.deepEqual(
    list.map((one) => one.Username),
    ['victim'],
  );
  assert.equal(
    ((await daemon.api('GET', '/api/v1/settings/whitelist')).json as { whitelist: string }).whitelist,
    '',
  );
  assert.deepEqual(((await daemon.api('GET', '/api/v1/tokens')).json as { items: unknown[] }).items, []);
  // The console itself cannot be put into a frame.
  const page = await shown.page.context().newPage();
  await page.goto(`http://localhost:${evilPort}/`);
  await page.setContent(`<iframe src="${daemon.adminUrl}/"></iframe>`);
  assert.equal(await page.frames()[1]?.locator('.login, .rail').count(), 0);
});

/** A script of another site that tries to change things: by fetch in each way a page may, and by form. */
function attacks(base: string, id: string): string {
  const targets = [
    [`/ProxyAccount/DeleteProxyAccount?AID=${id}`, ''],
    ['/ProxyAccount/AddProxyAccount', '{"Username":"intruder","Password":"x"}'],
    ['/api/v1/accounts', '{"username":"intruder"}'],
    [`/api/v1/accounts/${id}/password`, '{}'],
    ['/api/v1/tokens', '{"name":"x","scopes":["accounts:write"]}'],
  ];
  return `(() => {
    const base = ${JSON.stringify(base)};
    const sent = [fetch(base + '/api/v1/settings/whitelist', {
      method: 'PUT', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{"whitelist":"10.0.0.1"}',
    })];
    for (const [path, body] of ${JSON.stringify(targets)}) {
      for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
        const mode = type === 'application/json' ? 'cors' : 'no-cors';
        sent.push(fetch(base + path, { method: 'POST', mode, credentials: 'include', headers: { 'content-type': type }, body }));
      }
      const frame = document.createElement('iframe');
      frame.name = 'into' + sent.length;
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', enctype: 'text/plain', action: base + path, target: frame.name });
      const input = document.createElement('input');
      // A form sends "name=value": the equals sign is hidden in a last field of the JSON.
      Object.assign(input, { name: body.replace(/}$/, ',"x":"') || 'a', value: '"}' });
      form.append(input);
      document.body.append(frame, form);
      form.submit();
    }
    Promise.allSettled(sent);
  })()`;
}

test('no path leads out of the folder of the console', skip, async (t) => {
  const daemon = await startTestDaemon(t);
  const { hostname, port } = new URL(daemon.adminUrl);
  const paths = [
    '/../package.json',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '/assets/../../package.json',
    '/assets/..%5c..%5cpackage.json',
    '//etc/passwd',
    '/assets/%00',
    '/./../../etc/passwd',
    '/..;/package.json',
    '/assets',
    '/index.html/..',
    '/%252e%252e/package.json',
  ];
  // All at once: each refusal is delayed.
  await Promise.all(
    paths.map(async (path) => {
      const socket = connect(Number(port), hostname);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      assert.match(answer, /^HTTP\/1\.1 (400|401|404)/, path);
      assert.ok(!answer.includes('"dependencies"') && !answer.includes('root:'), path);
    }),
  );
});
