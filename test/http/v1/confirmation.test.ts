// What outlasts a console session asks for the password or a one-time code again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Console, codeOf, fetchFrom, signIn } from '../../helpers/console.js';
import { ADMIN, startTestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { suiteScope } from '../../helpers/suite.js';
import { fromBase32, totpCodes } from '../../helpers/totp.js';

const CONFIRM = '/api/v1/session/confirm';
const PASSWORD = 'a-good-password';

describe('confirmation of a console session', async () => {
  const daemon = await startTestDaemon(suiteScope(), {
    config: {
      admin: {
        session: { confirmFor: '5s' },
        trustedProxies: ['127.0.0.1'],
        attempts: { maxCodeFailures: 6 },
      },
    },
    operators: [
      { name: 'kim', password: PASSWORD, role: 'viewer' },
      { name: 'max', password: PASSWORD, role: 'operator' },
      { name: 'ann', password: PASSWORD, role: 'viewer' },
      { name: 'lee', password: PASSWORD, role: 'viewer' },
    ],
  });
  const basic = daemon.api;
  const [kim, max] = daemon.operators.map(({ id }) => `/api/v1/operators/${id}`) as [string, string];
  const untilOf = async (session: Console) =>
    ((await session.api('GET', '/api/v1/me')).json as { confirmedUntil: string | null }).confirmedUntil;
  const unconfirmed = async (credentials: Record<string, string> = {}) => {
    const session = await signIn(daemon, credentials);
    await eventually(async () => assert.equal(await untilOf(session), null));
    return session;
  };
  const token = { name: 't', scopes: ['accounts:read'] };
  const acts = [
    ['POST', '/api/v1/tokens', token],
    ['POST', '/api/v1/session/totp', undefined],
    ['PUT', '/api/v1/session/totp', { code: '123456' }],
    ['POST', '/api/v1/operators', { name: 'eve', password: PASSWORD, role: 'operator' }],
    ['PATCH', kim, { password: 'another-password' }],
    ['PATCH', kim, { name: 'kate' }],
    ['PATCH', kim, { role: 'operator' }],
    ['PATCH', kim, { isEnabled: true }],
    ['DELETE', `${kim}/totp`, undefined],
    ['POST', '/api/v1/event-receivers', { url: 'https://example.com/', types: ['account.created'] }],
    ['GET', '/api/v1/backup', undefined],
    ['GET', '/api/v1/accounts/export?withHashes=true', undefined],
  ] as const;

  it('an unconfirmed session makes nothing that outlasts it, and a confirmed one does', async () => {
    const session = await unconfirmed();
    for (const [method, path, body] of acts) {
      const answer = await session.api(method, path, body);
      assert.deepEqual([answer.status, codeOf(answer)], [403, 'confirmation-required'], `${method} ${path}`);
    }
    const allowed = [
      ['GET', '/api/v1/accounts/export'],
      ['PATCH', kim, { isEnabled: false }],
      ['PATCH', kim, { budget: { days: 3 } }],
    ] as const;
    for (const [method, path, body] of allowed)
      assert.equal((await session.api(method, path, body)).status, 200, `${method} ${path}`);
    const listed = await basic('GET', '/api/v1/tokens');
    assert.deepEqual((listed.json as { items: unknown[] }).items, []);
    assert.equal((await basic('GET', '/api/v1/operators')).text.includes('eve'), false);

    const wrong = await session.api('POST', CONFIRM, { password: 'guess' });
    assert.deepEqual([wrong.status, codeOf(wrong)], [400, 'validation']);
    assert.match(wrong.text, /present-password/);
    for (const body of [{}, { password: ADMIN.password, code: '123456' }])
      assert.match((await session.api('POST', CONFIRM, body)).text, /"one-of"/);
    assert.match((await session.api('POST', CONFIRM, { code: '123456' })).text, /one-time-code/);
    assert.equal(codeOf(await session.api('POST', '/api/v1/tokens', token)), 'confirmation-required');
    assert.equal((await session.api('POST', CONFIRM, { password: ADMIN.password })).status, 200);
    assert.equal((await session.api('POST', '/api/v1/tokens', token)).status, 201);
    assert.equal((await session.api('GET', '/api/v1/backup')).status, 200);
    assert.equal((await session.api('PATCH', kim, { isEnabled: true })).status, 200);
    await eventually(async () => assert.equal(await untilOf(session), null), 20_000);
    assert.equal(codeOf(await session.api('POST', '/api/v1/tokens', token)), 'confirmation-required');
  });

  it('a token makes nothing that outlasts it, whatever its scopes', async () => {
    const all = ['accounts:read', 'accounts:write', 'settings:read', 'settings:write', 'audit:read'];
    const made = await basic('POST', '/api/v1/tokens', { name: 'all', scopes: all });
    const headers = { authorization: `Bearer ${(made.json as { secret: string }).secret}` };
    for (const [method, path, body] of [...acts, ['POST', CONFIRM, { password: ADMIN.password }] as const]) {
      const answer = await fetchFrom(daemon, method, path, headers, body);
      assert.deepEqual([answer.status, codeOf(answer)], [403, 'wrong-scope'], `${method} ${path}`);
    }
  });

  it('a one-time code confirms, too, and wrong ones count as failed logins', async () => {
    const session = await signIn(daemon, { username: 'kim', password: PASSWORD });
    const offered = (await session.api('POST', '/api/v1/session/totp')).json as { secret: string };
    const code = totpCodes(fromBase32(offered.secret));
    assert.equal((await session.api('PUT', '/api/v1/session/totp', { code: code(0) })).status, 200);
    await eventually(async () => assert.equal(await untilOf(session), null));
    assert.equal((await session.api('POST', CONFIRM, { code: code(1) })).status, 200);
    assert.notEqual(await untilOf(session), null);
    assert.equal((await session.api('POST', CONFIRM, { code: code(1) })).status, 400, 'each code once');
  });

  it('a new password revokes the tokens with it, unless they are to be kept', async () => {
    let password = PASSWORD;
    const tokenOf = async () => {
      const own = await signIn(daemon, { username: 'max', password });
      const created = await own.api('POST', '/api/v1/tokens', token);
      return { own, headers: { authorization: `Bearer ${(created.json as { secret: string }).secret}` } };
    };
    const statusOf = async (headers: Record<string, string>) =>
      (await fetchFrom(daemon, 'GET', '/api/v1/accounts', headers)).status;
    const ways = [
      (own: Console, next: string, more: object) =>
        own.api('PUT', '/api/v1/settings/admin-password', { current: password, next, ...more }),
      (_own: Console, next: string, more: object) => basic('PATCH', max, { password: next, ...more }),
    ];
    for (const [index, change] of ways.entries()) {
      const { own, headers } = await tokenOf();
      const kept = await change(own, `password-kept-${index}`, { revokeTokens: false });
      assert.ok(kept.status < 300, kept.text);
      assert.equal(await statusOf(headers), 200, 'kept');
      password = `password-kept-${index}`;
      const ended = await tokenOf();
      assert.ok((await change(ended.own, `password-${index}`, {})).status < 300);
      assert.deepEqual([await statusOf(headers), await statusOf(ended.headers)], [401, 401]);
      password = `password-${index}`;
      const audit = await basic('GET', '/api/v1/audit?limit=1');
      assert.match(audit.text, /"tokens":"revoked"/);
    }
    const { headers } = await tokenOf();
    await basic('PATCH', max, { role: 'viewer' });
    assert.equal(await statusOf(headers), 200, 'another change keeps the tokens');
  });

  it('guesses of one-time codes are limited per user over all sources, but not at a source of a recent sign-in', async () => {
    const from = (source: string) => ({ 'x-forwarded-for': source });
    const enrol = async (username: string, source: string) => {
      const session = await signIn(daemon, { username, password: PASSWORD }, from(source));
      const offered = await session.api('POST', '/api/v1/session/totp', undefined, from(source));
      const code = totpCodes(fromBase32((offered.json as { secret: string }).secret));
      const body = { code: code(0) };
      const on = await session.api('PUT', '/api/v1/session/totp', body, from(source));
      assert.equal(on.status, 200, on.text);
      return { session, code, recovery: (on.json as { codes: string[] }).codes };
    };
    const ann = await enrol('ann', '2001:db8:0:1::1');
    const lee = await enrol('lee', '2001:db8:0:2::1');
    const attempt = (username: string, code: string, source: string) =>
      fetchFrom(daemon, 'POST', '/api/v1/session', from(source), { username, password: PASSWORD, code });
    const right = [-1, 0, 1, 2, 3].map(ann.code);
    const wrong =
      ['000000', '000001', '000002', '000003', '000004'].find((code) => !right.includes(code)) ?? '';
    const other = (n: number) => `2001:db8:1:${n}::1`;
    // Wrong codes of a known source count there alone.
    assert.equal((await attempt('ann', wrong, '2001:db8:0:1::9')).status, 401);
    const guesses = await Promise.all(Array.from({ length: 6 }, (_, n) => attempt('ann', wrong, other(n))));
    assert.deepEqual(
      guesses.map(({ status }) => status),
      [401, 401, 401, 401, 401, 401],
    );
    const refused = await attempt('ann', ann.code(1), other(100));
    assert.deepEqual([refused.status, codeOf(refused)], [429, 'too-many-requests']);
    assert.match(refused.text, /too-many-codes/);
    assert.ok(Number(refused.headers.get('retry-after')) > 3_500);
    const stolen = await ann.session.api('POST', CONFIRM, { code: ann.code(1) }, from(other(101)));
    assert.match(stolen.text, /too-many-codes/, 'also with a stolen session');
    assert.equal((await attempt('lee', lee.code(1), other(102))).status, 200, 'another user');
    assert.equal((await attempt('ann', ann.code(1), '2001:db8:0:1::2')).status, 200, 'a known source');
    assert.equal((await attempt('ann', ann.recovery[0] ?? '', other(103))).status, 200, 'a recovery code');
    const again = await attempt('ann', ann.code(1), other(103));
    assert.equal(again.status, 401, 'now a known source, too: the code, which is used up, is compared');
    const block = await daemon.waitForLine(
      ({ msg }) => msg === 'one-time codes refused: too many wrong ones',
    );
    assert.equal(block['username'], 'ann');
  });
});
