// Tags, names and plans of accounts, changed by /api/v1 and the command line on one daemon.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { NO_PLAN_LIMITS } from '../../../src/core/accounts/plans/plans.js';
import { runCommand } from '../../helpers/command.js';
import { codeOf } from '../../helpers/console.js';
import { ADMIN, type ApiAnswer, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { basic } from '../../helpers/http.js';
import { connectThrough } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { echo, startTarget } from '../../helpers/targets.js';

type Json = Record<string, unknown>;
const ACCOUNTS = '/api/v1/accounts';

describe('tags, names and plans of accounts', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    daemon = await startTestDaemon(scope);
  });

  const succeed = (answer: ApiAnswer): Json => {
    assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
    return answer.json as Json;
  };
  const get = async (path: string) => succeed(await daemon.api('GET', path));
  const post = async (path: string, body: Json) => succeed(await daemon.api('POST', path, body));
  const cli = async (...args: string[]) => {
    const done = await runCommand(daemon.dataDir, [...args, '--config', daemon.configFile]);
    assert.equal(done.code, 0, done.stderr);
    return done.stdout;
  };
  const create = async (body: Json) => (await post(ACCOUNTS, body))['account'] as Json & { id: string };
  const usernames = async (query: string) =>
    ((await get(`${ACCOUNTS}?${query}`))['items'] as Json[]).map(({ username }) => username);

  it('tags can be set, changed in bulk with a preview, searched and exported; changes are audited; their number is limited', async () => {
    const one = await create({ username: 'tag-one', tags: ['vip', 'shop 2', 'vip'] });
    assert.deepEqual(one['tags'], ['shop 2', 'vip']);
    const many = await post(`${ACCOUNTS}/batch`, { pattern: 'tag-{1-3}', tags: ['monthly'] });
    assert.equal(many['count'], 3);
    assert.deepEqual(await usernames('tag=monthly'), ['tag-1', 'tag-2', 'tag-3']);
    assert.deepEqual(await usernames('search=SHOP'), ['tag-one']);
    assert.deepEqual(await usernames('tag=shop'), [], 'the filter compares whole tags');

    const action = { type: 'tag', add: ['vip', '月付'], remove: ['monthly'] };
    const bulk = (more: Json) =>
      daemon.api('POST', `${ACCOUNTS}/bulk`, { filter: { search: 'tag-' }, ...more });
    const preview = succeed(await bulk({ action, dryRun: true }));
    assert.deepEqual([preview['count'], preview['skippedCount']], [4, 0]);
    assert.deepEqual(
      (preview['changes'] as Json[])
        .filter(({ username }) => username === 'tag-1')
        .map(({ before: old, after }) => [old, after]),
      [[{ tags: ['monthly'] }, { tags: ['vip', '月付'] }]],
    );
    assert.deepEqual(await usernames('tag=monthly'), ['tag-1', 'tag-2', 'tag-3'], 'a preview writes nothing');
    succeed(await bulk({ action, dryRun: false, expectedCount: 4 }));
    assert.equal(succeed(await bulk({ action, dryRun: true }))['skippedCount'], 4);
    assert.deepEqual((await get(`${ACCOUNTS}/tags`))['items'], [
      { tag: 'shop 2', accounts: 1 },
      { tag: 'vip', accounts: 4 },
      { tag: '月付', accounts: 4 },
    ]);
    const csv = await daemon.api('GET', `${ACCOUNTS}/export?format=csv&tag=shop%202`);
    assert.match(csv.text, /^"tag-one",.*"shop 2, vip, 月付",,,"","",,,,,\r?$/m);
    assert.doesNotMatch(csv.text, /tag-1/);
    const log = (await get(`/api/v1/audit?objectId=${one.id}`))['items'] as Json[];
    assert.deepEqual(
      [log[0]?.['before'], log[0]?.['after']],
      [{ tags: 'shop 2, vip' }, { tags: 'shop 2, vip, 月付' }],
    );

    const tags = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);
    const set = (given: readonly string[]) => daemon.api('PATCH', `${ACCOUNTS}/${one.id}`, { tags: given });
    succeed(await set([...tags(15), 'x'.repeat(32)]));
    for (const wrong of [tags(17), ['x'.repeat(33)], ['a,b'], ['a；b'], [' a'], [''], ['a\u0007']])
      assert.deepEqual(codeOf(await set(wrong)), 'validation', JSON.stringify(wrong));
    const full = succeed(await bulk({ action: { type: 'tag', add: ['more'] }, dryRun: true }));
    assert.deepEqual(
      (full['skipped'] as Json[]).map(({ username, reason }) => [username, reason]),
      [['tag-one', 'too-many-tags']],
    );
    assert.equal((await bulk({ action: { type: 'tag', add: ['a;b'] }, dryRun: true })).status, 400);
  });

  it('the command line adds, removes, lists and exports tags, and files import them', async () => {
    await cli('account', 'add', 'cli-tagged', '--generate', '--tag', 'vip', '--tag', 'eu');
    await cli('account', 'update', 'cli-tagged', '--tag', 'asia', '--untag', 'eu');
    const listed = JSON.parse(
      await cli('account', 'list', '--tag', 'vip', '--tag', 'asia', '--json'),
    ) as Json[];
    assert.deepEqual(
      listed.map(({ username, tags }) => [username, tags]),
      [['cli-tagged', ['asia', 'vip']]],
    );
    await eventually(async () => assert.deepEqual(await usernames('tag=asia'), ['cli-tagged']));
    const exported = JSON.parse(
      await cli('account', 'export', '--format', 'json', '--tag', 'asia'),
    ) as Json[];
    assert.deepEqual(
      exported.map(({ username, tags }) => [username, tags]),
      [['cli-tagged', 'asia, vip']],
    );
    const file = `用户名,密码,标签\r\nfile-tagged,secret,"vip，月付"\r\nfile-bad,secret,${'x'.repeat(33)}`;
    const report = await fetch(`${daemon.adminUrl}${ACCOUNTS}/import`, {
      method: 'POST',
      headers: { authorization: basic(ADMIN.username, ADMIN.password), 'content-type': 'text/csv' },
      body: file,
    });
    const { added, lines } = (await report.json()) as { added: number; lines: Json[] };
    assert.equal(added, 1);
    assert.deepEqual(lines[0]?.['reason'], { code: 'tags', values: {} });
    assert.deepEqual(await usernames('tag=%E6%9C%88%E4%BB%98&search=file'), ['file-tagged']);
  });

  it('a renamed account keeps its id and history, its sessions end, and only the new name logs in; a taken name changes nothing', async (t) => {
    const target = await startTarget(t, echo);
    const id = await daemon.addAccount('old-name', 'secret');
    await daemon.addAccount('in-use', 'secret');
    const login = (username: string) => ({ port: daemon.socks.port, username, password: 'secret' });
    const player = await connectThrough(login('old-name'), '127.0.0.1', target.port);
    const closed = player.closed();
    const { etag } = await get(`${ACCOUNTS}/${id}`);
    const rename = (username: string) =>
      daemon.api('PATCH', `${ACCOUNTS}/${id}`, { username, remarks: username }, { 'if-match': String(etag) });
    const taken = await rename('in-use');
    assert.deepEqual([taken.status, codeOf(taken)], [409, 'username-taken']);
    for (const wrong of ['', '  ', 'a\u0007', '名'.repeat(86)])
      assert.equal((await rename(wrong)).status, 400);
    assert.equal((await get(`${ACCOUNTS}/${id}`))['remarks'], null, 'no part of a refused change is written');

    const renamed = succeed(await rename('new-name'));
    assert.deepEqual([renamed['id'], renamed['username'], renamed['remarks']], [id, 'new-name', 'new-name']);
    await closed;
    await daemon.waitForLine((line) => line['end'] === 'account-renamed' && line['account'] === 'old-name');
    await assert.rejects(connectThrough(login('old-name'), '127.0.0.1', target.port));
    (await connectThrough(login('new-name'), '127.0.0.1', target.port)).destroy();
    await eventually(async () => assert.ok(Number((await get(`${ACCOUNTS}/${id}`))['dataCount']) >= 2));
    assert.deepEqual(codeOf(await rename('third')), 'changed-meanwhile', 'the ETag changes with the name');
    const [entry] = (await get(`/api/v1/audit?objectId=${id}`))['items'] as Json[];
    assert.deepEqual(
      [entry?.['action'], entry?.['before'], entry?.['after']],
      [
        'account.update',
        { username: 'old-name', remarks: null },
        { username: 'new-name', remarks: 'new-name' },
      ],
    );

    assert.match(await cli('account', 'rename', 'new-name', 'cli-name'), /Renamed new-name to cli-name/);
    // A login before the daemon knows the name would count as a failure and block the client.
    await eventually(async () => assert.equal((await get(`${ACCOUNTS}/${id}`))['username'], 'cli-name'));
    (await connectThrough(login('cli-name'), '127.0.0.1', target.port)).destroy();
    const refused = await runCommand(daemon.dataDir, [
      ...['account', 'rename', 'cli-name', 'in-use', '--config', daemon.configFile],
    ]);
    assert.deepEqual([refused.code, /already/.test(refused.stderr)], [1, true], refused.stderr);
    await create({ username: 'old-name' });
  });

  const MONTH = {
    name: '月付 50 GB',
    days: 30,
    startsAtFirstLogin: false,
    limits: {
      ...{ maxSessions: null, maxClientAddresses: 2, bytesPerSecondUp: null, bytesPerSecondDown: 3_000_000 },
      ...{ quotaBytes: 50e9, quotaPeriod: 'month' },
    },
    exit: null,
  };
  /** A script of an earlier version does not give them. */
  const AS_CONFIGURED = {
    ...{ connectionsPerSecond: null, connectionsPerMinute: null, destinationsPerMinute: null },
    ...{ udpDestinationsPerSecond: null, failedConnectionsPerMinute: null, lookupsPerMinute: null },
    maxConnections: null,
  };
  const PACK = {
    ...{ name: 'pack', days: 10, startsAtFirstLogin: true },
    limits: { ...MONTH.limits, maxClientAddresses: 1, quotaBytes: 10e9, quotaPeriod: 'never' },
    exit: null,
  };
  const PLANS = '/api/v1/settings/plans';
  const days = (account: Json) => (Date.parse(String(account['expiresAt'])) - Date.now()) / 86_400_000;
  const assertNear = (value: number, wanted: number) =>
    assert.ok(Math.abs(value - wanted) < 0.01, `${value} days`);

  it('plans create, renew and upgrade one or many accounts, with every value in the preview', async () => {
    const put = (plans: readonly Json[], headers = {}) => daemon.api('PUT', PLANS, { plans }, headers);
    const empty = await daemon.api('GET', PLANS);
    succeed(await put([MONTH, PACK]));
    const stale = await put([], { 'if-match': empty.headers.get('etag') ?? '' });
    assert.deepEqual(codeOf(stale), 'changed-meanwhile');
    for (const wrong of [
      [MONTH, MONTH],
      [{ ...MONTH, days: 0 }],
      [{ ...MONTH, days: 3_651 }],
      [{ ...MONTH, name: ' x' }],
    ])
      assert.equal((await put(wrong)).status, 400);
    assert.deepEqual(
      (await get(PLANS))['plans'],
      [MONTH, PACK].map((plan) => ({ ...plan, limits: { ...plan.limits, ...AS_CONFIGURED } })),
    );

    const one = await create({ username: 'planned', plan: MONTH.name });
    assertNear(days(one), 30);
    assert.deepEqual(
      [one['plan'], one['limits']],
      [MONTH.name, { ...MONTH.limits, ...AS_CONFIGURED, egressClass: null }],
    );
    assert.equal((await daemon.api('POST', ACCOUNTS, { username: 'x', plan: 'none' })).status, 400);
    await post(`${ACCOUNTS}/batch`, { pattern: 'planned-{1-2}', plan: PACK.name });
    const bulk = async (ids: readonly string[], action: Json, dryRun = false) =>
      post(`${ACCOUNTS}/bulk`, { ids, action, dryRun });
    const renew = { type: 'plan', plan: null, use: 'renew' };
    const preview = await bulk([one.id], renew, true);
    const [change] = preview['changes'] as { before: Json; after: Json }[];
    assertNear(days(change?.after ?? {}), 60);
    assert.deepEqual(
      { ...change?.after, expiresAt: null },
      {
        ...{ plan: MONTH.name, exit: null, expiresAt: null, daysFromFirstLogin: null },
        ...{ ...MONTH.limits, ...AS_CONFIGURED, egressClass: null },
      },
    );
    await bulk([one.id], renew);
    assertNear(days(await get(`${ACCOUNTS}/${one.id}`)), 60);
    succeed(await daemon.api('PATCH', `${ACCOUNTS}/${one.id}`, { expiresAt: '2026-01-01T00:00:00Z' }));
    await bulk([one.id], renew);
    assertNear(days(await get(`${ACCOUNTS}/${one.id}`)), 30);

    await bulk([one.id], { type: 'plan', plan: PACK.name, use: 'upgrade' });
    const upgraded = await get(`${ACCOUNTS}/${one.id}`);
    assertNear(days(upgraded), 30);
    assert.deepEqual([upgraded['plan'], (upgraded['limits'] as Json)['quotaBytes']], ['pack', 10e9]);
    await bulk([one.id], renew);
    const topped = await get(`${ACCOUNTS}/${one.id}`);
    assertNear(days(topped), 40);
    assert.equal((topped['limits'] as Json)['quotaBytes'], 20e9, 'the unused quota is added');

    const none = await create({ username: 'planless' });
    const skipped = (await bulk([none.id], renew, true))['skipped'] as Json[];
    assert.deepEqual(
      skipped.map(({ reason }) => reason),
      ['no-plan'],
    );
    const unknown = { ids: [none.id], action: { ...renew, plan: 'gone' }, dryRun: true };
    assert.equal((await daemon.api('POST', `${ACCOUNTS}/bulk`, unknown)).status, 400);
    const [entry] = (await get('/api/v1/audit?limit=1&search=settings.plans'))['items'] as Json[];
    assert.deepEqual(Object.keys(entry?.['after'] as Json), [MONTH.name, 'pack']);
  });

  it('a plan can count its days from the first login, also on the command line', async (t) => {
    await cli('plan', 'set', 'trial', '--days', '3', '--from-first-login', '--max-sessions', '2');
    assert.match(await cli('plan', 'list'), /trial +3 +first login +2 sessions/);
    const { password } = JSON.parse(
      await cli('account', 'add', 'trier', '--generate', '--plan', 'trial', '--json'),
    ) as {
      password: string;
    };
    assert.match(
      await cli('account', 'renew', 'trier', '--dry-run'),
      /3 days from first login +6 days from first login/,
    );
    await cli('account', 'renew', 'trier', '--yes');
    const shown = async () => (await get(`${ACCOUNTS}?search=trier`))['items'] as (Json & { limits: Json })[];
    await eventually(async () => assert.equal((await shown())[0]?.['daysFromFirstLogin'], 6));
    const csv = await daemon.api('GET', `${ACCOUNTS}/export?format=csv&search=trier`);
    assert.match(csv.text, /"trial",6,"","",,,,,\r?$/m);
    const target = await startTarget(t, echo);
    const login = { port: daemon.socks.port, username: 'trier', password };
    (await connectThrough(login, '127.0.0.1', target.port)).destroy();
    await eventually(async () => {
      const [account = {} as Json & { limits: Json }] = await shown();
      assert.deepEqual([account['daysFromFirstLogin'], account['plan']], [null, 'trial']);
      assertNear(days(account), 6);
    });
    await cli('account', 'renew', 'trier', '--yes');
    await eventually(async () => assertNear(days((await shown())[0] ?? {}), 9));
    await cli('plan', 'remove', 'trial', '--yes');
    const refused = await runCommand(daemon.dataDir, [
      'account',
      'renew',
      'trier',
      '--config',
      daemon.configFile,
    ]);
    assert.match(refused.stderr, /No such plan: "trial"/);
  });

  it('every error in a field has a code, values and an English text', async () => {
    const errorsOf = async (method: string, path: string, body?: Json) => {
      const answer = await daemon.api(method, path, body, { 'accept-language': 'zh-CN' });
      assert.deepEqual([answer.status, codeOf(answer)], [400, 'validation'], answer.text);
      return (answer.json as { errors: Json[] }).errors;
    };
    assert.deepEqual(
      await errorsOf('POST', ACCOUNTS, { remarks: 'x'.repeat(4_001), limits: { maxSessions: 0 } }),
      [
        { path: 'body.username', message: 'is missing', code: 'missing', values: {} },
        {
          ...{ path: 'body.remarks', message: 'must have at most 4000 characters' },
          ...{ code: 'too-long', values: { max: 4_000 } },
        },
        {
          path: 'body.limits.maxSessions',
          message: 'must be 1 or more',
          code: 'too-small',
          values: { min: 1 },
        },
      ],
    );
    const codes = async (...request: Parameters<typeof errorsOf>) =>
      (await errorsOf(...request)).map(({ code }) => code);
    assert.deepEqual(await codes('GET', `${ACCOUNTS}?sort=size&limit=5000&online=maybe`), [
      'option',
      'too-large',
      'option',
    ]);
    const bulk = { action: { type: 'extend', days: 1.5, from: 'now' }, dryRun: true };
    assert.deepEqual(await codes('POST', `${ACCOUNTS}/bulk`, { ...bulk, ids: [] }), ['too-few', 'type']);
    assert.deepEqual(await codes('POST', `${ACCOUNTS}/bulk`, { dryRun: true, action: { type: 'fly' } }), [
      'type',
    ]);
    assert.deepEqual(await errorsOf('POST', `${ACCOUNTS}/batch`, { pattern: 'none' }), [
      {
        ...{
          path: 'body.pattern',
          message: 'must be a pattern such as player{001-120}, with at most 10000 names',
        },
        ...{ code: 'pattern', values: { max: 10_000 } },
      },
    ]);
    const year = { username: 'x', expiresAt: '0000-01-01T00:00:00Z' };
    assert.deepEqual(await codes('POST', ACCOUNTS, year), ['time']);
  });

  it('a search finds contacts, every word must match, and plan and owner are filters', async () => {
    const contacts = { email: 'Kim.Lee@mail.example', telegram: '@kim_games' };
    const { id } = await create({ username: 'found-by-contact', remarks: 'pays by bank', contacts });
    await create({ username: 'found-otherwise', remarks: 'pays by card', tags: ['bank'] });
    for (const [search, names] of [
      ['kim.lee@MAIL', ['found-by-contact']],
      ['@KIM_g', ['found-by-contact']],
      ['found  BANK', ['found-by-contact', 'found-otherwise']],
      ['bank pays kim_', ['found-by-contact']],
      ['kim_ card', []],
      [`found ${id}`, ['found-by-contact']],
    ] as const)
      assert.deepEqual(await usernames(`search=${encodeURIComponent(search)}`), names, search);
    const plan = { name: 'by plan', days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS };
    succeed(await daemon.api('PUT', '/api/v1/settings/plans', { plans: [plan] }));
    await create({ username: 'found-by-plan', plan: 'by plan' });
    assert.deepEqual(await usernames('plan=by+plan'), ['found-by-plan']);
    const seller = await post('/api/v1/operators', { name: 'kim', role: 'seller', password: 'a password' });
    const handOver = { type: 'hand-over', owner: seller['id'] };
    await post(`${ACCOUNTS}/bulk`, { ids: [id], action: handOver, dryRun: false });
    assert.deepEqual(await usernames(`owner=${seller['id']}`), ['found-by-contact']);
    assert.deepEqual(await usernames('owner=none&search=found-'), ['found-by-plan', 'found-otherwise']);
    const byOwner = { filter: { owner: 'none', plan: 'by plan' }, action: { type: 'disable' }, dryRun: true };
    assert.equal((await post(`${ACCOUNTS}/bulk`, byOwner))['count'], 1);
    assert.equal((await daemon.api('GET', `${ACCOUNTS}?owner=nobody`)).status, 400);
  });

  it('a bulk action is one entry of the audit log, and its accounts are inside', async () => {
    const log = async (query = '') => (await get(`/api/v1/audit?limit=5${query}`))['items'] as Json[];
    await post(`${ACCOUNTS}/batch`, { pattern: 'audited-{1-300}' });
    const bulk = { filter: { search: 'audited-' }, action: { type: 'disable' } };
    await post(`${ACCOUNTS}/bulk`, { ...bulk, dryRun: true });
    await post(`${ACCOUNTS}/bulk`, { ...bulk, dryRun: false });
    const [disabled, created] = await log();
    assert.deepEqual(
      [disabled, created].map((entry) => [entry?.['action'], entry?.['after']]),
      [
        ['account.bulk', { bulk: 'disable', count: 300 }],
        ['account.bulk', { bulk: 'create', count: 300 }],
      ],
    );
    const inside = await get(`/api/v1/audit?importId=${disabled?.['id']}&limit=300`);
    assert.equal(inside['matched'], 300);
    const [part] = inside['items'] as (Json & { object: Json })[];
    assert.deepEqual(
      [part?.['action'], part?.['before'], part?.['after'], part?.['import']],
      [
        'account.update',
        { isEnabled: true },
        { isEnabled: false },
        { id: disabled?.['id'], action: 'account.bulk', name: null },
      ],
    );
    const ofOne = await log(`&objectId=${part?.object['id']}`);
    assert.deepEqual(
      ofOne.map(({ action }) => action),
      ['account.update', 'account.create'],
    );
    const one = { ids: [part?.object['id']], action: { type: 'enable' }, dryRun: false };
    await post(`${ACCOUNTS}/bulk`, one);
    assert.equal((await log())[0]?.['action'], 'account.update', 'a change of one account is no bulk action');
    await post(`${ACCOUNTS}/bulk`, { ...bulk, action: { type: 'delete' }, dryRun: false });
  });

  it('an account is suspended with words for its player until that is lifted, or until a time', async () => {
    const { id } = await create({ username: 'owing', password: 'secret' });
    const bulk = (action: Json) => post(`${ACCOUNTS}/bulk`, { ids: [id], action, dryRun: false });
    const state = async () => {
      const { suspendedUntil, suspendReason } = await get(`${ACCOUNTS}/${id}`);
      return [String(suspendedUntil), suspendReason] as const;
    };
    const login = { port: daemon.socks.port, username: 'owing', password: 'secret' };
    const player = await connectThrough(login, '127.0.0.1', (await startTarget(scope, echo)).port);
    assert.equal((await bulk({ type: 'suspend', reason: ' unpaid ' }))['sessionsEnded'], 1);
    await player.closed();
    const [until, reason] = await state();
    assert.ok(until >= '9', until);
    assert.equal(reason, 'unpaid');
    assert.match(await cli('account', 'show', 'owing'), /^state +suspended \(unpaid\)$/m);
    assert.equal((await bulk({ type: 'resume' }))['count'], 1);
    assert.deepEqual(await state(), ['null', null]);
    assert.equal((await bulk({ type: 'resume' }))['skippedCount'], 1);
    const day = '2031-05-06';
    const suspended = await cli('account', 'suspend', 'owing', '--reason', 'unpaid', '--until', day);
    assert.equal(suspended, 'Suspended owing.\n');
    assert.deepEqual(await state(), [`${day}T00:00:00.000Z`, 'unpaid']);
    assert.equal(await cli('account', 'resume', 'owing'), 'Resumed owing.\n');
    assert.deepEqual(await state(), ['null', null]);
    const past = { until: '2020-01-01T00:00:00Z' };
    for (const wrong of [{ reason: ' ' }, { reason: 'x'.repeat(201) }, { reason: 'x\0' }, past]) {
      const action = { type: 'suspend', reason: 'unpaid', ...wrong };
      const answer = await daemon.api('POST', `${ACCOUNTS}/bulk`, { ids: [id], action, dryRun: true });
      assert.equal(codeOf(answer), 'validation', JSON.stringify(wrong));
    }
    await bulk({ type: 'suspend', reason: 'x'.repeat(200) });
    assert.equal((await state())[1], 'x'.repeat(200));
    const { secret } = await post('/api/v1/tokens', { name: 'sells', scopes: ['accounts:write'] });
    for (const action of [{ type: 'resume', ofGuard: true }, { type: 'end-sessions' }]) {
      const body = { ids: [id], action, dryRun: true };
      const refused = await daemon.api('POST', `${ACCOUNTS}/bulk`, body, {
        authorization: `Bearer ${secret}`,
      });
      assert.equal(refused.status, 403, refused.text);
    }
  });

  it('the usage of many accounts is reset, and their sessions end', async () => {
    const target = await startTarget(scope, echo);
    for (const username of ['busy-1', 'busy-2', 'busy-3']) await create({ username, password: 'secret' });
    const players = await Promise.all(
      ['busy-1', 'busy-2'].map(async (username) => {
        const login = { port: daemon.socks.port, username, password: 'secret' };
        const player = await connectThrough(login, '127.0.0.1', target.port);
        player.send('x'.repeat(500));
        await player.read(500);
        return player;
      }),
    );
    const used = async () =>
      ((await get(`${ACCOUNTS}?search=busy-`))['items'] as { usage: { periodBytes: number } }[]).map(
        ({ usage }) => usage.periodBytes,
      );
    await eventually(async () => assert.deepEqual(await used(), [1_000, 1_000, 0]));
    const bulk = async (type: string, dryRun: boolean) => {
      const body = { filter: { search: 'busy-' }, action: { type }, dryRun };
      const { count, skippedCount, sessionsEnded } = await post(`${ACCOUNTS}/bulk`, body);
      return [count, skippedCount, sessionsEnded];
    };
    assert.deepEqual(await bulk('reset-usage', true), [2, 1, 0]);
    assert.deepEqual(await bulk('reset-usage', false), [2, 1, 0]);
    assert.deepEqual(await used(), [0, 0, 0]);
    assert.deepEqual(await bulk('end-sessions', true), [2, 1, 2]);
    assert.deepEqual(await bulk('end-sessions', false), [2, 1, 2]);
    for (const player of players) await player.closed();
    const [entry] = (await get('/api/v1/audit?limit=1'))['items'] as Json[];
    assert.deepEqual(entry?.['after'], { bulk: 'end-sessions', count: 2 });
    const inside = (await get(`/api/v1/audit?importId=${entry?.['id']}`))['items'] as Json[];
    assert.deepEqual(
      inside.map(({ action }) => action),
      ['session.end', 'session.end'],
    );
  });
});
