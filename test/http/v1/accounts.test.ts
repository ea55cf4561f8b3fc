// Accounts by /api/v1 on a real daemon: searched, created, changed, removed, one and many.
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { codeOf } from '../../helpers/console.js';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { connectThrough } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { echo, startTarget } from '../../helpers/targets.js';

type Json = Record<string, unknown>;
interface ListPage {
  items: (Json & { id: string; username: string; etag: string })[];
  matched: number;
  total: number;
  nextCursor: string | null;
}

const ACCOUNTS = '/api/v1/accounts';
const list = async (daemon: TestDaemon, query = ''): Promise<ListPage> => {
  const answer = await daemon.api('GET', `${ACCOUNTS}${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as ListPage;
};
const names = (page: ListPage) => page.items.map(({ username }) => username);

describe('accounts of one daemon', async () => {
  const daemon = await startTestDaemon(suiteScope());

  it('an account is created with credentials that are shown once, changed by its ETag, and removed', async () => {
    const created = await daemon.api('POST', ACCOUNTS, {
      username: 'a b/c',
      remarks: 'first',
      limits: { maxSessions: 3 },
    });
    assert.equal(created.status, 201, created.text);
    const { account, credentials } = created.json as {
      account: Json & { id: string; etag: string };
      credentials: Json;
    };
    const password = String(credentials['password']);
    assert.ok(password.length >= 20);
    assert.equal(
      credentials['link'],
      `socks5h://a%20b%2Fc:${password}@${daemon.socks.host}:${daemon.socks.port}`,
    );
    assert.equal(credentials['plain'], `${daemon.socks.host}:${daemon.socks.port}:a b/c:${password}`);
    assert.equal(created.headers.get('location'), `${ACCOUNTS}/${account.id}`);
    const linkFor = (given: string) =>
      daemon.api('POST', `${ACCOUNTS}/${account.id}/link`, { password: given });
    const again = await linkFor(password);
    assert.deepEqual(
      [again.status, again.json],
      [200, credentials],
      'the same credentials for the current password',
    );
    assert.deepEqual(
      (again.json as { formats: Json[] }).formats.map(({ format }) => format),
      ['link', 'plain', 'clash', 'sing-box', 'proxifier', 'shadowrocket'],
    );
    const wrong = await linkFor(`${password}x`);
    assert.deepEqual([wrong.status, codeOf(wrong)], [400, 'validation']);
    assert.equal((account['limits'] as Json)['maxSessions'], 3);

    const path = `${ACCOUNTS}/${account.id.toUpperCase()}`;
    const read = await daemon.api('GET', path);
    assert.ok(!read.text.includes(password));
    const etag = read.headers.get('etag') ?? '';
    assert.equal(etag, account.etag);
    const change = (body: Json, ifMatch: string) => daemon.api('PATCH', path, body, { 'if-match': ifMatch });
    const changed = await change({ expiresAt: '2099-01-01T08:00:00+08:00' }, etag);
    assert.equal(changed.status, 200, changed.text);
    assert.equal((changed.json as Json)['expiresAt'], '2099-01-01T00:00:00.000Z');
    assert.equal((changed.json as Json)['remarks'], 'first', 'fields that the change does not name are kept');
    const stale = await change({ isEnabled: false }, etag);
    assert.deepEqual([stale.status, codeOf(stale)], [412, 'changed-meanwhile']);
    assert.equal((await daemon.api('DELETE', path, undefined, { 'if-match': etag })).status, 412);
    assert.equal((await change({ isEnabled: false, limits: { maxSessions: null } }, '*')).status, 200);
    const limitsOnly = await change({ limits: { quotaBytes: 5 } }, '*');
    const changeIfAny = (tag: string) => change({ remarks: 'second' }, `"other", ${tag}`);
    assert.equal(
      (await changeIfAny(`W/${limitsOnly.headers.get('etag')}`)).status,
      412,
      'a weak tag never matches',
    );
    assert.equal(
      (await changeIfAny(limitsOnly.headers.get('etag') ?? '')).status,
      200,
      'one matching tag of the list is enough',
    );
    assert.notEqual(limitsOnly.headers.get('etag'), changed.headers.get('etag'));

    const twice = await daemon.api('POST', ACCOUNTS, { username: 'a b/c' });
    assert.deepEqual([twice.status, codeOf(twice)], [409, 'username-taken']);
    const noClass = await daemon.api('POST', ACCOUNTS, { username: 'x', limits: { egressClass: 'none' } });
    assert.equal(noClass.status, 400);
    assert.equal((await list(daemon, '?search=x')).matched, 0, 'nothing was created');

    const reset = await daemon.api('POST', `${path}/password`, { password: 'known' });
    assert.equal((reset.json as Json)['password'], 'known');
    assert.equal((await daemon.api('PATCH', path, { password: 'patched', remarks: 'both' })).status, 200);
    assert.equal((await linkFor('known')).status, 400);
    assert.equal((await linkFor('patched')).status, 200);
    const matched = async (query: string) => (await list(daemon, query)).matched;
    assert.deepEqual([await matched('?username=a%20b%2Fc'), await matched('?username=a%20b')], [1, 0]);
    const removed = await daemon.api('DELETE', path);
    assert.deepEqual(removed.json, { heartbeatsRemoved: 0, sessionsEnded: 0 });
    for (const answer of [
      await daemon.api('GET', path),
      await daemon.api('PATCH', path, {}),
      await daemon.api('DELETE', path),
    ]) {
      assert.deepEqual([answer.status, codeOf(answer)], [404, 'not-found']);
    }
  });

  it('an error names the wrong field, and no account is written', async () => {
    const { total } = await list(daemon);
    const cases: [Json, string][] = [
      [{}, 'body.username'],
      [{ username: '' }, 'body.username'],
      [{ username: 'x'.repeat(256) }, 'body.username'],
      [{ username: '口'.repeat(86) }, 'body.username'],
      [{ username: 'a\u0000' }, 'body.username'],
      [{ username: 'a', password: '' }, 'body.password'],
      [{ username: 'a', password: '口'.repeat(86) }, 'body.password'],
      [{ username: 'a', remarks: 'x'.repeat(4_001) }, 'body.remarks'],
      [{ username: 'a', remarks: '\u0000' }, 'body.remarks'],
      [{ username: 'a', expiresAt: '2030-01-01' }, 'body.expiresAt'],
      [{ username: 'a', isEnabled: 'yes' }, 'body.isEnabled'],
      [{ username: 'a', limits: { maxSessions: 0 } }, 'body.limits.maxSessions'],
    ];
    for (const [body, path] of cases) {
      const answer = await daemon.api('POST', ACCOUNTS, body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.headers.get('content-type'), 'application/problem+json; charset=utf-8');
      const { errors } = answer.json as { errors: { path: string }[] };
      assert.equal(errors[0]?.path, path);
    }
    assert.equal((await list(daemon)).total, total);
    for (const query of [
      'limit=0',
      'limit=1001',
      'online=yes',
      'sort=password',
      'cursor=x',
      'limit=1&limit=2',
      'expiringWithinDays=0',
    ]) {
      assert.equal((await daemon.api('GET', `${ACCOUNTS}?${query}`)).status, 400, query);
    }
    assert.equal((await daemon.api('GET', `${ACCOUNTS}/nonsense`)).status, 400);
  });

  it('many accounts are created from a pattern or a list, with a preview, and skipped ones have a reason', async () => {
    const { total } = await list(daemon);
    const batch = async (body: Json) => {
      const answer = await daemon.api('POST', `${ACCOUNTS}/batch`, body);
      assert.equal(answer.status, 200, answer.text);
      return answer.json as { count: number; created: Json[]; usernames: string[]; skipped: Json[] };
    };
    const preview = await batch({ pattern: 'player{001-120}', dryRun: true });
    assert.deepEqual(
      [preview.count, preview.usernames[0], preview.usernames[119]],
      [120, 'player001', 'player120'],
    );
    assert.equal((await list(daemon)).total, total);
    const made = await batch({ pattern: 'player{001-120}', remarks: 'lan', limits: { maxSessions: 2 } });
    assert.equal(new Set(made.created.map(({ password }) => password)).size, 120);
    const again = await batch({
      list: [
        { username: 'player001' },
        { username: 'new', password: 'given' },
        { username: 'new' },
        { username: 'bad\u0001' },
      ],
    });
    assert.deepEqual(
      again.skipped.map(({ username, reason }) => [username, reason]),
      [
        ['player001', 'username-taken'],
        ['new', 'username-twice'],
        ['bad\u0001', 'bad-username'],
      ],
    );
    assert.equal(again.created[0]?.['password'], 'given');
    assert.equal((await list(daemon)).total, total + 121);
    for (const body of [
      {},
      { pattern: 'a{1-2}', list: [{ username: 'x' }] },
      { pattern: 'no range' },
      { pattern: 'a{1-10001}' },
      { pattern: 'a{2-1}' },
    ]) {
      assert.equal((await daemon.api('POST', `${ACCOUNTS}/batch`, body)).status, 400, JSON.stringify(body));
    }
  });

  it('the audit log has every change of an account by every interface, and no password', async () => {
    const id = await daemon.addAccount('player', 'first-secret', { Remarks: 'a' });
    await daemon.api('PATCH', `${ACCOUNTS}/${id}`, { remarks: 'b' });
    await daemon.api('POST', `${ACCOUNTS}/${id}/password`, { password: 'second-secret' });
    await daemon.api('PATCH', `${ACCOUNTS}/${id}`, { remarks: 'b' });
    await daemon.api('POST', `${ACCOUNTS}/bulk`, { dryRun: false, ids: [id], action: { type: 'delete' } });
    const answer = await daemon.api('GET', `/api/v1/audit?objectId=${id}`);
    const { items, matched } = answer.json as { items: Json[]; matched: number };
    assert.deepEqual(
      items.map(({ action, actor, via, address, before, after }) => [
        action,
        actor,
        via,
        address,
        before,
        after,
      ]),
      [
        [
          'account.delete',
          'admin',
          'api',
          '127.0.0.1',
          { isEnabled: true, remarks: 'b', expiresAt: null },
          null,
        ],
        ['account.password', 'admin', 'api', '127.0.0.1', null, null],
        ['account.update', 'admin', 'api', '127.0.0.1', { remarks: 'a' }, { remarks: 'b' }],
        [
          'account.create',
          'admin',
          'api',
          '127.0.0.1',
          null,
          { isEnabled: true, remarks: 'a', expiresAt: null },
        ],
      ],
    );
    assert.equal(matched, 4, 'requests that changed nothing have no entry');
    assert.ok(!answer.text.includes('secret') && !answer.text.includes('sha256'));
    const page = await daemon.api('GET', `/api/v1/audit?objectId=${id}&limit=3`);
    const { nextCursor } = page.json as { nextCursor: string };
    const rest = await daemon.api('GET', `/api/v1/audit?objectId=${id}&limit=3&cursor=${nextCursor}`);
    assert.equal((rest.json as { items: Json[] }).items.length, 1);
  });
});

test('bulk changes extend, disable, limit, reset and delete accounts; outdated previews are refused', async (t) => {
  const daemon = await startTestDaemon(t);
  await daemon.api('POST', `${ACCOUNTS}/batch`, { pattern: 'p{1-5}' });
  const day = 86_400_000;
  const soon = new Date(Date.now() + 2 * day).toISOString();
  const bulk = async (body: Json, status = 200) => {
    const answer = await daemon.api('POST', `${ACCOUNTS}/bulk`, { dryRun: false, ...body });
    assert.equal(answer.status, status, answer.text);
    return answer.json as {
      count: number;
      skipped: Json[];
      skippedCount: number;
      changes: Json[];
      sessionsEnded: number;
      credentials: Json[];
    };
  };
  const { items } = await list(daemon);
  const [first, second] = items.map(({ id }) => id);
  await bulk({ ids: [first], action: { type: 'set-expiry', expiresAt: soon } });

  const extend = { filter: {}, action: { type: 'extend', days: 10, from: 'expiry' } };
  const preview = await bulk({ ...extend, dryRun: true });
  assert.deepEqual(
    [preview.count, preview.skippedCount, preview.skipped[0]?.['reason']],
    [1, 4, 'no-expiry'],
  );
  const expected = new Date(Date.parse(soon) + 10 * day).toISOString();
  assert.deepEqual(preview.changes, [
    { id: first, username: 'p1', before: { expiresAt: soon }, after: { expiresAt: expected } },
  ]);
  assert.equal((await list(daemon, '?expiringWithinDays=3')).matched, 1, 'nothing was written');
  await bulk({ ...extend, expectedCount: 2 }, 409);
  await bulk({ ...extend, expectedCount: 1 });
  assert.equal((await list(daemon, '?expiringWithinDays=3')).matched, 0);
  await bulk({ filter: { search: 'p2' }, action: { type: 'extend', days: 30, from: 'now' } });
  const [p2] = (await list(daemon, '?search=p2')).items;
  const remainingMs = Date.parse(String(p2?.['expiresAt'])) - Date.now();
  assert.ok(Math.abs(remainingMs - 30 * day) < 60_000);

  const target = await startTarget(t, echo);
  await daemon.api('POST', `${ACCOUNTS}/${first}/password`, { password: 'secret' });
  const player = await connectThrough(
    { port: daemon.socks.port, username: 'p1', password: 'secret' },
    '127.0.0.1',
    target.port,
  );
  assert.deepEqual(names(await list(daemon, '?online=true')), ['p1']);
  const disabled = await bulk({ ids: [first, second, first], action: { type: 'disable' } });
  assert.deepEqual([disabled.count, disabled.sessionsEnded], [2, 1]);
  await player.closed();
  const again = await bulk({ ids: [first], action: { type: 'disable' } });
  assert.deepEqual([again.count, again.skipped[0]?.['reason']], [0, 'already-so']);
  await bulk({ filter: {}, action: { type: 'set-limits', limits: { quotaBytes: 1000 } } });
  // expiresFrom is inclusive, expiresBefore is exclusive.
  const at = '2031-05-10T00:00:00Z';
  await bulk({ filter: { search: 'p3' }, action: { type: 'set-expiry', expiresAt: at } });
  const later = '2031-05-10T00:00:00.001Z';
  for (const [query, found] of [
    [`expiresFrom=${at}&expiresBefore=${later}`, ['p3']],
    [`expiresFrom=${later}`, []],
    [`expiresFrom=2031-01-01T00:00:00Z&expiresBefore=${at}`, []],
  ] as const) {
    assert.deepEqual(names(await list(daemon, `?${query}`)), found, query);
  }
  const reset = { filter: { expiresFrom: at }, action: { type: 'reset-password' } };
  assert.deepEqual((await bulk({ ...reset, dryRun: true })).credentials, []);
  const { credentials, changes } = await bulk(reset);
  assert.deepEqual(changes, [{ id: items[2]?.id, username: 'p3', before: {}, after: {} }]);
  const [{ username, password } = {}] = credentials;
  assert.deepEqual([credentials.length, username, String(password).length], [1, 'p3', 20]);
  const known = await daemon.api('POST', `${ACCOUNTS}/${items[2]?.id}/link`, { password });
  assert.deepEqual(known.json, { ...credentials[0], formats: (known.json as Json)['formats'] });
  const unknownId = '00000000-0000-4000-8000-000000000000';
  const removed = await bulk({ ids: [first, unknownId], action: { type: 'delete' } });
  assert.deepEqual([removed.count, removed.skipped[0]?.['reason']], [1, 'not-found']);
  assert.deepEqual(names(await list(daemon)), ['p2', 'p3', 'p4', 'p5']);
  for (const body of [
    { action: { type: 'enable' } },
    { ids: [first], filter: {}, action: { type: 'enable' } },
    { filter: {}, action: { type: 'explode' } },
  ]) {
    await bulk(body as Json, 400);
  }
});

const MANY = 1_200;

test(`the pages of ${MANY} accounts contain each account once in every order`, async (t) => {
  const daemon = await startTestDaemon(t);
  const made = await daemon.api('POST', `${ACCOUNTS}/batch`, {
    pattern: `player{00001-${String(MANY).padStart(5, '0')}}`,
    remarks: 'many',
  });
  assert.equal((made.json as { count: number }).count, MANY);
  for (const sort of ['username', '-username', 'createdAt', '-expiresAt', 'todayBytes', '-periodBytes']) {
    const seen = new Set<string>();
    let cursor: string | null = null;
    do {
      const page: ListPage = await list(
        daemon,
        `?limit=500&sort=${sort}${cursor ? `&cursor=${cursor}` : ''}`,
      );
      for (const { id } of page.items) seen.add(id);
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.equal(seen.size, MANY, sort);
  }
  const first = await list(daemon, '?search=PLAYER0099&limit=1000');
  assert.deepEqual([first.matched, first.total, first.items[0]?.username], [10, MANY, 'player00990']);
});
