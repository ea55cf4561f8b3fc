// Sign-in to the console, the second factor and API tokens, on a real daemon.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, it, test } from 'node:test';
import { commandLine, runCommand } from '../../helpers/command.js';
import { type Console, codeOf, fetchFrom, signIn } from '../../helpers/console.js';
import { ADMIN, type ApiAnswer, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { basic } from '../../helpers/http.js';
import { suiteScope } from '../../helpers/suite.js';
import { fromBase32, totpCodes } from '../../helpers/totp.js';

const MAX_FAILURES = 7;
const ME = '/api/v1/me';
const LIST = '/ProxyAccount/GetProxyAccountList';

describe('sign-in, cookies and tokens', async () => {
  // Only one test turns the second factor on: in the same minute, a second test would find its code used.
  const daemon = await startTestDaemon(suiteScope(), {
    config: { egress: { classes: { friends: { private: 'allow' } } } },
  });

  it('sign-in sets a cookie for the same origin only, and sign-out deletes it', async () => {
    const signedIn = await signIn(daemon);
    const { cookie } = signedIn;
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/'])
      assert.ok(signedIn.setCookie.includes(part));
    assert.ok(!signedIn.setCookie.includes('Secure'), 'a browser refuses a Secure cookie over plain HTTP');

    const me = await signedIn.api('GET', ME);
    assert.equal(me.status, 200, me.text);
    const fields = me.json as Record<string, unknown>;
    assert.deepEqual(
      [fields['username'], fields['via'], fields['scopes']],
      [ADMIN.username, 'console', null],
    );
    assert.deepEqual(fields['socks'], [`${daemon.socks.host}:${daemon.socks.port}`]);

    assert.equal(
      (await fetchFrom(daemon, 'GET', LIST, { cookie })).status,
      401,
      'the account API accepts only Basic',
    );
    const out = await signedIn.api('DELETE', '/api/v1/session');
    assert.equal(out.status, 204);
    assert.match(out.headers.get('set-cookie') ?? '', /pulsegate_session=;.*Max-Age=0/);
    const after = await signedIn.api('GET', ME);
    assert.deepEqual([after.status, codeOf(after)], [401, 'signed-out']);
  });

  it('the cookie is Secure behind a proxy with TLS', async () => {
    const signedIn = await signIn(daemon, {}, { 'x-forwarded-proto': 'https' });
    assert.ok(signedIn.setCookie.includes('Secure'));
  });

  it('a change with the cookie needs the same origin in the headers of the browser', async () => {
    const { cookie } = await signIn(daemon);
    const put = (headers: Record<string, string>) =>
      fetchFrom(daemon, 'PUT', '/api/v1/settings/whitelist', { cookie, ...headers }, { whitelist: '' });
    for (const headers of [
      {},
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site', origin: daemon.adminUrl },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ]) {
      assert.equal((await put(headers)).status, 403, JSON.stringify(headers));
    }
    assert.equal((await put({ origin: daemon.adminUrl })).status, 200);
    assert.equal((await put({ 'sec-fetch-site': 'same-origin' })).status, 200);
    const read = await fetchFrom(daemon, 'GET', ME, { cookie, 'sec-fetch-site': 'cross-site' });
    assert.equal(read.status, 403, 'a request from another site may not read either');
  });

  it('a 401 challenges programs for Basic, and browsers not, because they would open a dialog', async () => {
    const page = await fetchFrom(daemon, 'GET', ME, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' });
    assert.deepEqual([page.status, codeOf(page)], [401, 'signed-out']);
    assert.ok(!page.headers.get('www-authenticate')?.includes('Basic'));
    const program = await fetchFrom(daemon, 'GET', ME, {});
    assert.ok(program.headers.get('www-authenticate')?.startsWith('Basic'));
  });

  it('with the second factor a sign-in needs a code, and each code works once', async () => {
    const signedIn = await signIn(daemon);
    const { secret, code, wrongCode, recovery } = await turnOnTotp(signedIn);
    const attempt = (code?: string) =>
      fetchFrom(daemon, 'POST', '/api/v1/session', {}, { ...ADMIN, ...(code === undefined ? {} : { code }) });
    assert.equal(codeOf(await attempt()), 'totp-required');
    assert.equal(codeOf(await attempt(wrongCode)), 'wrong-credentials');
    assert.equal((await attempt(code)).status, 200);
    assert.equal((await attempt(code)).status, 401, 'the same code again');
    for (const path of ['/api/v1/accounts', '/ProxyAccount/GetProxyAccountList']) {
      assert.equal(
        (await daemon.api('GET', path)).status,
        200,
        'the administrator can use Basic, which has no code',
      );
    }
    assert.equal(
      (await signedIn.api('POST', '/api/v1/session/totp')).status,
      409,
      'the second factor is on already',
    );
    const disable = { code: recovery[0] };
    assert.equal((await signedIn.api('POST', '/api/v1/session/totp/disable', disable)).status, 204);
    assert.equal((await attempt()).status, 200);
    const audit = (await signedIn.api('GET', '/api/v1/audit')).text;
    assert.match(audit, /admin\.totp-off/);
    assert.ok(!audit.includes(secret.toString('base64')));
  });

  it('a token needs egress:write to choose an egress class or an exit, and may not shorten the audit log', async () => {
    const plain = await createToken(daemon, [
      'accounts:write',
      'accounts:read',
      'settings:write',
      'settings:read',
    ]);
    const egress = await createToken(daemon, ['accounts:write', 'egress:write']);
    const request = async (token: { secret: string }, method: string, path: string, body: unknown) => {
      const answer = await fetchFrom(daemon, method, `/api/v1${path}`, bearer(token.secret), body);
      return [answer.status, codeOf(answer)];
    };
    const id = await daemon.addAccount('player', 'secret');
    const limits = { egressClass: 'friends' };
    const create = (username: string) => ({ username, password: 'secret', limits });
    const bulk = { ids: [id], action: { type: 'set-limits', limits }, dryRun: false };
    for (const [method, path, body] of [
      ['POST', '/accounts', create('a')],
      ['PATCH', `/accounts/${id}`, { limits }],
      ['PATCH', `/accounts/${id}/limits`, limits],
      ['POST', '/accounts/bulk', bulk],
      ['POST', '/accounts/bulk', { ...bulk, action: { type: 'set-exit', exit: null } }],
      ['POST', '/accounts/batch', { pattern: 'b{1-2}', limits }],
    ] as const) {
      assert.deepEqual(await request(plain, method, path, body), [403, 'wrong-scope'], path);
    }
    assert.equal(
      (await request(plain, 'PATCH', `/accounts/${id}/limits`, { egressClass: null }))[0],
      200,
      'a change that keeps the class',
    );
    assert.equal((await request(egress, 'PATCH', `/accounts/${id}/limits`, limits))[0], 200);
    assert.deepEqual(
      await request(plain, 'PATCH', `/accounts/${id}/limits`, { egressClass: null }),
      [403, 'wrong-scope'],
      'a change that removes the class',
    );
    const file = JSON.stringify([{ username: 'c', password: 'secret', ...limits }]);
    const imports = async (token: { secret: string }) => {
      const path = '/api/v1/accounts/import?format=json&dryRun=true';
      const headers = { ...bearer(token.secret), 'content-type': 'application/json' };
      const { json } = await fetchFrom(daemon, 'POST', path, headers, file);
      return json as { added: number; failed: number; lines: { message: string }[] };
    };
    const [refused, allowed] = [await imports(plain), await imports(egress)];
    assert.deepEqual([refused.added, refused.failed, allowed.added], [0, 1, 1]);
    assert.match(String(refused.lines[0]?.message), /egress:write/);

    const now = (await daemon.api('GET', '/api/v1/settings/retention')).json as { auditDays: number };
    const keep = (auditDays: number) => request(plain, 'PUT', '/settings/retention', { ...now, auditDays });
    assert.deepEqual(await keep(now.auditDays - 1), [403, 'wrong-scope']);
    assert.equal((await keep(now.auditDays + 1))[0], 200);
  });
});

describe('a daemon with at most two sessions and two tokens', async () => {
  const daemon = await startTestDaemon(suiteScope(), {
    config: { admin: { session: { max: 2 }, maxTokens: 2 } },
  });

  it('a session above the limit ends the least recently used one', async () => {
    const first = await signIn(daemon);
    const second = await signIn(daemon);
    await first.api('GET', ME);
    const third = await signIn(daemon);
    const statuses = [];
    for (const signedIn of [first, second, third]) statuses.push((await signedIn.api('GET', ME)).status);
    assert.deepEqual(statuses, [200, 401, 200]);
  });

  it('a token has the rights of its scopes, is shown once, and ends when revoked or expired', async () => {
    const token = await createToken(daemon, ['audit:read']);
    const use = (path: string, method = 'GET') => fetchFrom(daemon, method, path, bearer(token.secret));
    assert.equal((await use('/api/v1/audit')).status, 200);
    assert.equal(((await use(ME)).json as { via: string }).via, 'token');
    const refused = await use('/api/v1/runs');
    assert.deepEqual([refused.status, codeOf(refused)], [403, 'wrong-scope']);
    assert.equal(codeOf(await use('/api/v1/tokens')), 'wrong-scope', 'a token cannot manage tokens');
    assert.equal((await use(LIST)).status, 401, 'the account API accepts only Basic');
    assert.equal((await fetchFrom(daemon, 'GET', ME, bearer(`${token.secret}x`))).status, 401);

    const list = await daemon.api('GET', '/api/v1/tokens');
    assert.ok(!list.text.includes(token.secret));
    const [shown] = (list.json as { items: Record<string, unknown>[] }).items;
    assert.equal(shown?.['lastUsedFrom'], '127.0.0.1');

    const soon = await createToken(daemon, ['audit:read'], new Date(Date.now() + 3_000).toISOString());
    assert.equal(
      (await daemon.api('POST', '/api/v1/tokens', { name: 'third', scopes: ['audit:read'] })).status,
      409,
    );
    await eventually(async () =>
      assert.equal((await fetchFrom(daemon, 'GET', ME, bearer(soon.secret))).status, 401, 'expired'),
    );
    const past = { name: 'p', scopes: ['audit:read'], expiresAt: '2020-01-01T00:00:00Z' };
    assert.equal((await daemon.api('POST', '/api/v1/tokens', past)).status, 400);
    assert.equal((await daemon.api('DELETE', `/api/v1/tokens/${token.id}`)).status, 204);
    assert.equal((await daemon.api('DELETE', `/api/v1/tokens/${token.id}`)).status, 404);
    assert.equal((await use(ME)).status, 401);

    const audit = await daemon.api('GET', '/api/v1/audit?search=token');
    const actions = (audit.json as { items: { action: string }[] }).items.map(({ action }) => action);
    assert.deepEqual(actions, ['token.revoke', 'token.create', 'token.create']);
    assert.ok(!audit.text.includes(token.secret));
  });

  it('the command line turns the second factor off and opens the whitelist after a lock-out', async () => {
    const signedIn = await signIn(daemon);
    await turnOnTotp(signedIn);
    await signedIn.api('PUT', '/api/v1/settings/whitelist', { whitelist: '10.9.8.7' });
    assert.equal((await signedIn.api('GET', ME)).status, 403);
    const run = (...args: string[]) => runCli(daemon, args);
    await run('whitelist', 'set', '');
    await run('admin', 'second-factor-off');
    const attempt = () => fetchFrom(daemon, 'POST', '/api/v1/session', {}, ADMIN);
    await eventually(async () => assert.equal((await attempt()).status, 200));
    const { items } = (await daemon.api('GET', '/api/v1/audit?via=cli')).json as {
      items: { action: string }[];
    };
    assert.deepEqual(
      items.map(({ action }) => action),
      ['admin.totp-off', 'settings.whitelist'],
    );
  });
});

describe('failed logins', async () => {
  const attempts = { maxFailuresPerSource: MAX_FAILURES };
  const daemon = await startTestDaemon(suiteScope(), {
    config: { admin: { attempts, trustedProxies: ['127.0.0.1'] } },
  });

  it('get the same response, and too many are refused for some minutes', async () => {
    const from = { 'x-forwarded-for': '203.0.113.7' };
    const attempt = (username: string, password: string) =>
      fetchFrom(daemon, 'POST', '/api/v1/session', from, { username, password });
    const [wrongName, wrongPassword] = await Promise.all([
      attempt('nobody', ADMIN.password),
      attempt(ADMIN.username, 'wrong'),
    ]);
    assert.deepEqual([wrongName.status, wrongName.text], [401, wrongPassword.text]);
    // The limit is reached by requests that name no user: their check costs nothing.
    for (let n = 2; n < MAX_FAILURES; n++)
      assert.equal((await fetchFrom(daemon, 'GET', ME, { ...from, ...bearer('pg_x') })).status, 401);
    const locked = await attempt(ADMIN.username, ADMIN.password);
    assert.deepEqual([locked.status, codeOf(locked)], [429, 'too-many-requests']);
    const wait = Number(locked.headers.get('retry-after'));
    assert.ok(wait > 250 && wait <= 300, `${wait} s`);
    const byBasic = await daemon.api('GET', LIST, undefined, from);
    assert.deepEqual(
      [byBasic.status, byBasic.json],
      [429, '失败次数过多，请稍后再试'],
      'Basic is refused, too',
    );
    assert.ok(Number(byBasic.headers.get('retry-after')) > 250);
    assert.equal(
      codeOf(await fetchFrom(daemon, 'GET', ME, { ...from, ...bearer('pg_x') })),
      'too-many-requests',
    );
    assert.equal(
      (await fetchFrom(daemon, 'GET', LIST, from)).status,
      401,
      'a request without credentials is no guess',
    );
    const blocks = daemon.lines.filter(
      ({ msg, client }) =>
        msg === 'admin logins refused: too many failures' && client === from['x-forwarded-for'],
    );
    assert.equal(blocks.length, 1);
  });

  it('of all kinds share one limit, which a correct login of another kind does not reset', async () => {
    const signedIn = await signIn(daemon);
    const token = await createToken(signedIn, ['audit:read']);
    const { code, wrongCode } = await turnOnTotp(signedIn);
    const signsIn = (fields: Record<string, string>) =>
      fetchFrom(daemon, 'POST', '/api/v1/session', {}, { ...ADMIN, ...fields });
    const signInWithoutCode = async () => assert.equal(codeOf(await signsIn({})), 'totp-required');
    const wrongBasic = { authorization: basic(ADMIN.username, 'guess') };
    const guesses = [
      () => signsIn({ code: wrongCode }),
      () => fetchFrom(daemon, 'GET', LIST, wrongBasic),
      () => fetchFrom(daemon, 'GET', ME, bearer(`${token.secret}x`)),
      () => signedIn.api('POST', '/api/v1/session/totp/disable', { code: wrongCode }),
      () => signedIn.api('POST', '/api/v1/session/recovery-codes', { code: wrongCode }),
      () =>
        signedIn.api('PUT', '/api/v1/settings/admin-password', { current: 'guess', next: 'new-password' }),
    ];
    for (const guess of guesses) {
      assert.ok([400, 401].includes((await guess()).status));
      // A correct login does not count, and does not reset earlier failures.
      await signInWithoutCode();
      assert.equal((await daemon.api('GET', LIST)).status, 200);
      assert.equal((await fetchFrom(daemon, 'GET', ME, bearer(token.secret))).status, 200);
    }
    assert.equal(
      (await fetchFrom(daemon, 'GET', LIST, wrongBasic)).status,
      401,
      'the last failure that is allowed',
    );
    for (const guess of guesses) assert.equal((await guess()).status, 429);
    assert.equal((await signsIn({ code })).status, 429, 'the code is not compared');
    assert.equal((await signedIn.api('GET', ME)).status, 200, 'a signed-in session continues');
  });
});

test('a session ends after an idle time, and at a maximum age', async (t) => {
  const idle = await startTestDaemon(t, { config: { admin: { session: { idleTimeout: '1s' } } } });
  const idleSession = await signIn(idle);
  await untilSignedOut(idleSession, 1_050);
  const old = await startTestDaemon(t, { config: { admin: { session: { maxAge: '1s' } } } });
  await untilSignedOut(await signIn(old), 50);
});

async function untilSignedOut(signedIn: Console, pauseMs: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if ((await signedIn.api('GET', ME)).status === 401) return;
  }
  assert.fail('the session did not end');
}

test('sessions, tokens and the second factor are kept over a restart', async (t) => {
  const daemon = await startTestDaemon(t);
  const signedIn = await signIn(daemon);
  const made = await createToken(signedIn, ['audit:read']);
  const { code } = await turnOnTotp(signedIn);
  daemon.signal('SIGTERM');
  await daemon.exited();
  const restarted = await startTestDaemon(t, { dataDir: daemon.dataDir });
  assert.equal((await fetchFrom(restarted, 'GET', ME, { cookie: signedIn.cookie })).status, 200);
  assert.equal((await fetchFrom(restarted, 'GET', ME, bearer(made.secret))).status, 200);
  const body = { username: ADMIN.username, password: ADMIN.password };
  assert.equal(codeOf(await fetchFrom(restarted, 'POST', '/api/v1/session', {}, body)), 'totp-required');
  const headers = { cookie: signedIn.cookie, origin: restarted.adminUrl };
  const disable = (text: string) =>
    fetchFrom(restarted, 'POST', '/api/v1/session/totp/disable', headers, { code: text });
  assert.equal((await disable(code)).status, 204, 'a code turns it off');
});

/** Turns the second factor on; `code` is one that is still valid, once. */
async function turnOnTotp(signedIn: Console) {
  const offered = (await signedIn.api('POST', '/api/v1/session/totp')).json as {
    secret: string;
    uri: string;
  };
  assert.match(offered.uri, /^otpauth:\/\/totp\/Pulsegate%3Aadmin\?secret=[A-Z2-7]{32}&issuer=Pulsegate$/);
  const secret = fromBase32(offered.secret);
  const code = totpCodes(secret);
  const right = [-1, 0, 1, 2, 3].map(code);
  const wrongCode =
    ['000000', '000001', '000002', '000003', '000004', '000005'].find((text) => !right.includes(text)) ?? '';
  const confirm = (text: string) => signedIn.api('PUT', '/api/v1/session/totp', { code: text });
  assert.equal((await confirm(wrongCode)).status, 400);
  const on = await confirm(code(0));
  assert.equal(on.status, 200, on.text);
  const { codes } = on.json as { codes: string[] };
  return { secret, code: code(1), wrongCode, recovery: codes };
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

async function createToken(
  signedIn: Console | { api: TestDaemon['api'] },
  scopes: string[],
  expiresAt: string | null = null,
): Promise<{ id: string; secret: string; answer: ApiAnswer }> {
  const answer = await signedIn.api('POST', '/api/v1/tokens', { name: 'script', scopes, expiresAt });
  assert.equal(answer.status, 201, answer.text);
  const { token, secret } = answer.json as { token: { id: string }; secret: string };
  return { id: token.id, secret, answer };
}

test('console sessions end when the password or the second factor changes, by any interface', async (t) => {
  // The command refuses to set a password that the next start would overwrite with one from the environment.
  const cli = await commandLine(t);
  const set = await cli.run(['admin', 'set-password', '--password-stdin'], { stdin: ADMIN.password });
  assert.equal(set.code, 0, set.stderr);
  const daemon = await startTestDaemon(t, {
    dataDir: join(cli.folder, 'data'),
    env: { PULSEGATE_ADMIN_PASSWORD: '' },
  });
  const statusOf = async (signedIn: Console) => (await signedIn.api('GET', ME)).status;
  const untilEnded = (signedIn: Console) =>
    eventually(async () => assert.equal(await statusOf(signedIn), 401));
  const own = await signIn(daemon);
  const stolen = await signIn(daemon);
  const basicStream = await fetch(`${daemon.adminUrl}/api/v1/events`, {
    headers: { authorization: basic(ADMIN.username, ADMIN.password) },
  });
  const changed = await own.api('PUT', '/api/v1/settings/admin-password', {
    current: ADMIN.password,
    next: 'second-password',
  });
  assert.equal(changed.status, 204, changed.text);
  assert.deepEqual([await statusOf(own), await statusOf(stolen)], [200, 401], 'after a change by the API');
  await basicStream.text();

  const beforeFactor = await signIn(daemon, { password: 'second-password' });
  await turnOnTotp(own);
  assert.deepEqual(
    [await statusOf(own), await statusOf(beforeFactor)],
    [200, 401],
    'after the second factor was turned on',
  );
  await runCli(daemon, ['admin', 'second-factor-off']);
  await untilEnded(own);

  const beforeCommand = await signIn(daemon, { password: 'second-password' });
  await runCli(daemon, ['admin', 'set-password', '--password-stdin'], 'third-password');
  await untilEnded(beforeCommand);

  // The daemon may see the end of the sessions before it reads the new password.
  const beforeRestart = await eventually(() => signIn(daemon, { password: 'third-password' }));
  daemon.signal('SIGTERM');
  await daemon.exited();
  const env = { PULSEGATE_ADMIN_PASSWORD: 'fourth' };
  const restarted = await startTestDaemon(t, { dataDir: daemon.dataDir, env });
  assert.equal((await fetchFrom(restarted, 'GET', ME, { cookie: beforeRestart.cookie })).status, 401);
  const warning = await restarted.waitForLine(({ msg }) => msg === 'administrator password is too short');
  assert.equal(warning['givenBy'], 'the variable PULSEGATE_ADMIN_PASSWORD');
});

/** Runs a command on the daemon's configuration. */
async function runCli(daemon: TestDaemon, args: readonly string[], stdin = ''): Promise<void> {
  const { code, stderr } = await runCommand(dirname(daemon.configFile), args, { stdin });
  assert.equal(code, 0, stderr);
}
