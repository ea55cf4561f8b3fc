// A seller uses its own accounts, within its budget, and gets no data of other accounts on any route.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { NO_PLAN_LIMITS } from '../../../src/core/accounts/plans/plans.js';
import { routes } from '../../../src/http/v1/routes.js';
import { type Console, codeOf, fetchFrom, signIn } from '../../helpers/console.js';
import { type ApiAnswer, startTestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { basic } from '../../helpers/http.js';
import { manyOperators, operatorsInTurn } from '../../helpers/operators.js';
import { connectThrough } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { echo, hold, startTarget } from '../../helpers/targets.js';

const PASSWORD = 'a-good-password';
const DAY_MS = 86_400_000;
/** Part of the name, the remarks and the tag of the account that the seller must not see. */
const SECRET = 'zz-hidden';

type Fields = Readonly<Record<string, unknown>>;

describe('a seller', async () => {
  const scope = suiteScope();
  const playerPage = { enabled: true, mayChange: ['password', 'authorizedAddresses'] };
  const daemon = await startTestDaemon(scope, {
    config: { heartbeats: { interval: '1s' }, admin: { playerPage } },
    operators: manyOperators('seller', 19, PASSWORD),
  });
  const nextOperator = operatorsInTurn(daemon.operators);
  const admin = await signIn(daemon);
  let foreignId = '';
  let foreignSession = '';
  let seller: Console;

  async function newSeller(budget?: Fields): Promise<{ id: string; name: string; console: Console }> {
    const { id, name } = nextOperator('seller');
    const console = await signIn(daemon, { username: name, password: PASSWORD });
    if (budget) {
      const bounded = await admin.api('PATCH', `/api/v1/operators/${id}`, { budget });
      assert.equal(bounded.status, 200, bounded.text);
    }
    return { id, name, console };
  }
  const create = (by: Console, fields: Fields = {}) =>
    by.api('POST', '/api/v1/accounts', { username: `p-${randomUUID()}`, ...fields });
  const idOf = (made: ApiAnswer): string => {
    assert.equal(made.status, 201, made.text);
    return (made.json as { account: { id: string } }).account.id;
  };
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
  const usedOf = async (by: Console) =>
    (
      (await by.api('GET', '/api/v1/me')).json as {
        budget: { used: { accounts: number; days: number; bytes: number } };
      }
    ).budget.used;

  before(async () => {
    const target = await startTarget(scope, hold);
    const made = await create(admin, {
      username: SECRET,
      password: 'secret',
      remarks: SECRET,
      tags: [SECRET],
    });
    foreignId = idOf(made);
    seller = (await newSeller()).console;
    const openSession = (username: string, password: string) =>
      connectThrough({ port: daemon.socks.port, username, password }, '127.0.0.1', target.port);
    const own = await create(seller, { username: 'own-player', password: 'secret', tags: ['own-tag'] });
    idOf(own);
    await Promise.all([openSession(SECRET, 'secret'), openSession('own-player', 'secret')]);
    await assert.rejects(openSession(SECRET, 'wrong'));
    await eventually(async () => {
      const sessions = await admin.api('GET', '/api/v1/sessions');
      const found = (sessions.json as { items: { id: string; username: string }[] }).items;
      foreignSession = found.find(({ username }) => username === SECRET)?.id ?? '';
      assert.equal(found.length, 2);
      assert.ok((await admin.api('GET', '/api/v1/logins?failed=true')).text.includes(SECRET));
      assert.ok((await admin.api('GET', '/api/v1/heartbeats')).text.includes(SECRET));
    });
  });

  it('is refused by every route, or gets and changes no data of the accounts of others', async () => {
    // The bodies for routes that take one. A new route needs an entry.
    const bodies: Readonly<Record<string, () => Fields>> = {
      createAccount: () => ({ username: SECRET, password: 'x' }),
      createAccounts: () => ({ list: [{ username: SECRET }], dryRun: true }),
      changeAccounts: () => ({ ids: [foreignId], action: { type: 'delete' }, dryRun: false }),
      changeAccount: () => ({ remarks: 'changed', isEnabled: false }),
      resetPassword: () => ({ password: 'taken-over' }),
      getCredentials: () => ({ password: 'secret' }),
      changeAccountLimits: () => ({ maxSessions: 1 }),
      endSessions: () => ({ accountId: foreignId }),
      signIn: () => ({ username: 'x', password: 'x' }),
      confirmSession: () => ({ password: PASSWORD }),
      sendContactCode: () => ({ channel: 'email' }),
      handOver: () => ({ sendBy: 'email' }),
      confirmContact: () => ({ channel: 'email', code: 'aaaaa-aaaaa' }),
      confirmTotp: () => ({ code: '123456' }),
      disableTotp: () => ({ code: '123456' }),
      renewRecoveryCodes: () => ({ code: '123456' }),
      addEventReceiver: () => ({ url: 'https://example.com/', types: ['account.created'] }),
      changeEventReceiver: () => ({ isEnabled: false }),
      createToken: () => ({ name: 't', scopes: ['accounts:read'] }),
      setAdminPassword: () => ({ current: 'x', next: 'another-password' }),
    };
    // Other tests cover these routes: they end or lock the session of the request, or their responses do not end.
    const excluded = ['signOut', 'signIn', 'streamEvents', 'enrolTotp'];
    const unchanged = (await admin.api('GET', `/api/v1/accounts/${foreignId}`)).json as Fields;
    for (const route of routes.filter(({ operationId }) => !excluded.includes(operationId))) {
      const { method, path, operationId, request } = route;
      const id = path.includes('/sessions/') ? foreignSession : foreignId;
      const filters =
        request.query && 'accountId' in request.query.shape ? [`accountId=${foreignId}`, ''] : [''];
      for (const search of filters) {
        const body = bodies[operationId]?.();
        checkAnswer(route, body, await seller.api(method, `${path.replace(/\{\w+\}/g, id)}?${search}`, body));
      }
    }
    const after = (await admin.api('GET', `/api/v1/accounts/${foreignId}`)).json as Fields;
    assert.equal(after['etag'], unchanged['etag']);
    assert.ok(
      (await admin.api('GET', '/api/v1/sessions')).text.includes(foreignSession),
      'the session of the other account continues',
    );
  });

  function checkAnswer(
    { operationId, path, access, request }: (typeof routes)[number],
    body: unknown,
    answer: ApiAnswer,
  ) {
    const message = `${operationId}: ${answer.status} ${answer.text.slice(0, 300)}`;
    if (answer.status === 403) return assert.equal(codeOf(answer), 'wrong-role', message);
    assert.notEqual(access, 'administrator', message);
    assert.ok(!request.body || body, `${operationId} takes a body: add one to \`bodies\``);
    assert.ok(answer.status < 500, message);
    // When the request names SECRET, the answer may repeat it: a user name is either taken or free.
    if (!JSON.stringify(body ?? null).includes(SECRET)) assert.ok(!answer.text.includes(SECRET), message);
    if (!body) assert.ok(!answer.text.includes(foreignId), message);
    if (path.includes('{')) assert.equal(answer.status, 404, message);
  }

  it('sees in a preview what a change needs of its budget, and whether enough is left', async () => {
    const { console: shop } = await newSeller({ accounts: 3, days: 100, bytes: null });
    const name = randomUUID();
    const previewOf = async (path: string, body: Fields) => {
      const answer = await shop.api('POST', path, { ...body, dryRun: true });
      assert.equal(answer.status, 200, answer.text);
      const { budget } = answer.json as { budget: { isShort: boolean; parts: Fields[] } };
      const parts = budget.parts.map(({ what, left, needed, isShort }) => [what, left, needed, isShort]);
      return { isShort: budget.isShort, parts };
    };
    const batch = (pattern: string, expiresAt: string | null) => ({
      pattern: `${name}-${pattern}`,
      expiresAt,
    });
    const path = '/api/v1/accounts/batch';
    assert.deepEqual(await previewOf(path, batch('{1-2}', inDays(30))), {
      isShort: false,
      parts: [
        ['accounts', 3, 2, false],
        ['days', 100, 60, false],
        ['bytes', null, null, false],
      ],
    });
    assert.deepEqual(await previewOf(path, batch('{1-4}', null)), {
      isShort: true,
      parts: [
        ['accounts', 3, 4, true],
        ['days', 100, null, true],
        ['bytes', null, null, false],
      ],
    });
    assert.equal((await shop.api('POST', path, batch('{1-2}', inDays(30)))).status, 200);
    const extend = (days: number) => ({
      filter: { search: name },
      action: { type: 'extend', days, from: 'later' },
    });
    const bulk = '/api/v1/accounts/bulk';
    assert.equal((await previewOf(bulk, extend(20))).isShort, false);
    const { isShort, parts } = await previewOf(bulk, extend(30));
    assert.deepEqual([isShort, parts[1]?.slice(2), parts[0]], [true, [60, true], ['accounts', 1, 0, false]]);
    assert.equal(codeOf(await shop.api('POST', bulk, { ...extend(30), dryRun: false })), 'over-budget');
    // The preview of a file follows the same rule. Existing accounts cost only what they gain.
    const importOf = (usernames: readonly string[], days: number, dryRun: boolean) => {
      const lines = usernames.map((username) => `${name}-${username},word,${inDays(days)}`);
      const file = ['username,password,expiresAt', ...lines, ''].join('\n');
      const to = `/api/v1/accounts/import?existing=replace&dryRun=${dryRun}`;
      return shop.api('POST', to, file, { 'content-type': 'text/csv' });
    };
    const previewOfFile = async (usernames: readonly string[], days: number) => {
      const answer = await importOf(usernames, days, true);
      assert.equal(answer.status, 200, answer.text);
      const { budget } = answer.json as { budget: { isShort: boolean; parts: Fields[] } };
      return [
        budget.isShort,
        ...budget.parts.map(({ what, left, needed, isShort: isLess }) => [what, left, needed, isLess]),
      ];
    };
    assert.deepEqual(await previewOfFile(['1', '2'], 20), [
      false,
      ['accounts', 1, 0, false],
      ['days', 40, 0, false],
      ['bytes', null, 0, false],
    ]);
    const [isTooMuch, accounts] = await previewOfFile(['1', 'a', 'b'], 40);
    assert.deepEqual([isTooMuch, accounts], [true, ['accounts', 1, 2, true]]);
    assert.equal(codeOf(await importOf(['a', 'b'], 40, false)), 'over-budget');
    assert.equal((await previewOfFile(['a'], 39))[0], false);
    const imported = (await importOf(['a'], 39, false)).json as Fields;
    assert.deepEqual([imported['added'], imported['budget']], [1, null]);
    const toAll = { ...extend(1), filter: { search: 'own-player' }, dryRun: true };
    assert.equal(((await admin.api('POST', bulk, toAll)).json as Fields)['budget'], null);
  });

  it('gets the reason for each line of an import that exceeds the budget', async () => {
    const { console: shop } = await newSeller({ accounts: 201, days: null, bytes: null });
    const name = randomUUID();
    // 200 lines are written together: the second part needs 200 accounts where one is left, the third needs that one.
    const lines = Array.from({ length: 401 }, (_, i) => `${name}-${i},word`);
    const file = ['username,password', ...lines, ''].join('\n');
    const path = '/api/v1/accounts/import?dryRun=false';
    const answer = await shop.api('POST', path, file, { 'content-type': 'text/csv' });
    assert.equal(answer.status, 200, answer.text);
    const report = answer.json as {
      added: number;
      failed: number;
      lines: { outcome: string; message: string; reason: { code: string; values: Fields } }[];
    };
    assert.deepEqual([report.added, report.failed], [201, 200]);
    const failed = report.lines.filter(({ outcome }) => outcome === 'failed');
    assert.equal(failed.length, 200);
    for (const { reason, message } of failed) {
      assert.deepEqual(reason, { code: 'over-budget-accounts', values: { left: '1' } });
      assert.match(message, /more than the 1 accounts left in the budget/);
    }
    assert.equal((await usedOf(shop)).accounts, 201);
  });

  it('gets at sign-in the number of its own accounts, and the limit of no authorized address', async () => {
    const { name } = await newSeller();
    const signedIn = await fetchFrom(
      daemon,
      'POST',
      '/api/v1/session',
      {},
      { username: name, password: PASSWORD },
    );
    const { accounts, maxAuthorizedAddresses } = signedIn.json as Fields;
    assert.deepEqual([accounts, maxAuthorizedAddresses], [0, 0]);
  });

  it('sees its own accounts, sessions, logins, heartbeats, tags, exports and audit entries', async () => {
    for (const path of [
      '/accounts',
      '/sessions',
      '/logins',
      '/heartbeats',
      '/accounts/export?format=csv',
      '/accounts/export?format=json',
      '/audit',
    ]) {
      assert.match((await seller.api('GET', `/api/v1${path}`)).text, /own-player/, path);
    }
    assert.match((await seller.api('GET', '/api/v1/accounts/tags')).text, /own-tag/);
    const sums = await seller.api('GET', '/api/v1/heartbeats/sums?by=account');
    assert.ok(!sums.text.includes(foreignId));
    const page = (await seller.api('GET', '/api/v1/sessions')).json as { matched: number; total: number };
    assert.deepEqual([page.matched, page.total], [1, 1]);
    const me = (await seller.api('GET', '/api/v1/me')).json as { accounts: number; role: string };
    assert.deepEqual([me.accounts, me.role], [1, 'seller']);
  });

  it('changes only its own accounts by a bulk action without a filter or by an import', async () => {
    const { console: shop } = await newSeller();
    idOf(await create(shop));
    const bulk = await shop.api('POST', '/api/v1/accounts/bulk', {
      filter: {},
      action: { type: 'disable' },
      dryRun: false,
    });
    assert.equal((bulk.json as { count: number }).count, 1);
    const file = JSON.stringify([
      { username: SECRET, password: 'taken-over' },
      { id: foreignId, username: `imported-${randomUUID()}`, password: 'p' },
    ]);
    for (const dryRun of [true, false]) {
      const path = `/api/v1/accounts/import?format=json&existing=replace&dryRun=${dryRun}`;
      const done = await shop.api('POST', path, file, { 'content-type': 'application/json' });
      const report = done.json as { added: number; failed: number };
      assert.deepEqual([report.added, report.failed], [1, 1], done.text);
    }
    const foreign = (await admin.api('GET', `/api/v1/accounts/${foreignId}`)).json as Fields;
    assert.equal(foreign['username'], SECRET);
    assert.equal(foreign['isEnabled'], true);
  });

  it('may set neither authorized addresses nor egress classes', async () => {
    const addresses = await create(seller, { authorizedAddresses: ['203.0.113.7'] });
    assert.deepEqual([addresses.status, codeOf(addresses)], [400, 'validation']);
    const egress = await create(seller, { limits: { egressClass: 'x' } });
    assert.deepEqual([egress.status, codeOf(egress)], [403, 'wrong-role']);
  });

  it('may not change limits of the guard, and gets them from a plan', async () => {
    const GUARD = {
      ...{ connectionsPerSecond: 61, connectionsPerMinute: 62, destinationsPerMinute: 63 },
      ...{ udpDestinationsPerSecond: 64, failedConnectionsPerMinute: 65, lookupsPerMinute: 66 },
      maxConnections: 67,
    };
    const limits = { ...NO_PLAN_LIMITS, ...GUARD };
    const plan = { name: 'guarded', days: 1, startsAtFirstLogin: false, limits, exit: null };
    assert.equal((await admin.api('PUT', '/api/v1/settings/plans', { plans: [plan] })).status, 200);
    const made = await create(seller, { plan: 'guarded', limits: { lookupsPerMinute: null } });
    assert.equal(
      (made.json as { account: { limits: Fields } }).account.limits['connectionsPerMinute'],
      GUARD.connectionsPerMinute,
    );
    const path = `/api/v1/accounts/${idOf(made)}`;
    for (const name of Object.keys(GUARD)) {
      const action = { type: 'set-limits', limits: { [name]: 0 } };
      for (const refused of [
        await create(seller, { limits: { [name]: 0 } }),
        await seller.api('PATCH', path, { limits: { [name]: 0 } }),
        await seller.api('PATCH', `${path}/limits`, { [name]: 0 }),
        await seller.api('POST', '/api/v1/accounts/bulk', { ids: [idOf(made)], action, dryRun: true }),
      ])
        assert.deepEqual([refused.status, codeOf(refused)], [403, 'wrong-role'], name);
    }
    // The same value is no change.
    assert.equal(
      (await seller.api('PATCH', path, { limits: { ...GUARD, lookupsPerMinute: null } })).status,
      200,
    );
    await admin.api('PUT', '/api/v1/settings/plans', { plans: [] });
  });

  it("cannot have authorized addresses set by its accounts' player pages", async () => {
    const pageOf = async (by: Console) => {
      const made = await by.api('POST', `/api/v1/accounts/${idOf(await create(by))}/subscription`);
      return new URL((made.json as { url: string }).url).pathname;
    };
    const changeable = async (page: string) =>
      ((await fetchFrom(daemon, 'GET', `${page}/status`, {})).json as Fields)['mayChange'];
    const own = await pageOf(seller);
    assert.deepEqual(await changeable(own), ['password']);
    for (const [path, body] of [
      ['addresses', {}],
      ['addresses/remove', { address: '203.0.113.7' }],
    ] as const) {
      assert.equal((await fetchFrom(daemon, 'POST', `${own}/${path}`, {}, body)).status, 403, path);
    }
    assert.deepEqual(await changeable(await pageOf(admin)), playerPage.mayChange);
  });

  it('imports accounts under new ids, so that none has the id of a deleted account', async () => {
    const importOne = async (by: Console, id: string) => {
      const username = `imported-${randomUUID()}`;
      const path = '/api/v1/accounts/import?format=json&dryRun=false';
      const file = JSON.stringify([{ id, username, password: 'p' }]);
      const done = await by.api('POST', path, file, { 'content-type': 'application/json' });
      assert.equal((done.json as { added: number }).added, 1, done.text);
      const found = await by.api('GET', `/api/v1/accounts?search=${username}`);
      return (found.json as { items: { id: string }[] }).items[0]?.id;
    };
    const deleted = idOf(await create(admin));
    await admin.api('DELETE', `/api/v1/accounts/${deleted}`);
    const imported = await importOne((await newSeller()).console, deleted);
    assert.ok(imported !== undefined && imported !== deleted);
    assert.equal(await importOne(admin, deleted), deleted, 'the administrator restores the id');
  });

  it('sees only its own accounts in the account API', async () => {
    const { name, console: shop } = await newSeller({ accounts: 1, days: null, bytes: null });
    const ask = (method: string, path: string, body?: unknown) =>
      fetchFrom(daemon, method, `/ProxyAccount/${path}`, { authorization: basic(name, PASSWORD) }, body);
    assert.deepEqual((await ask('GET', 'GetProxyAccountList')).json, []);
    const add = () => ask('POST', 'AddProxyAccount', { Username: `w-${randomUUID()}`, Password: 'p' });
    assert.equal((await add()).json, '添加账号成功');
    const over = await add();
    assert.deepEqual([over.status, over.json], [400, '额度不足']);
    assert.equal(over.headers.get('x-error-detail'), 'the budget has 0 accounts left');
    assert.equal(((await ask('GET', 'GetProxyAccountList')).json as unknown[]).length, 1);
    assert.equal((await ask('GET', `GetProxyAccountByID?AID=${foreignId}`)).status, 404);
    const change = await ask('POST', 'UpdateProxyAccount', { AID: foreignId, Password: 'taken-over' });
    assert.deepEqual([change.status, change.json], [400, '账号不存在']);
    assert.equal((await ask('POST', `DeleteProxyAccount?AID=${foreignId}`)).status, 400);
    assert.equal((await usedOf(shop)).accounts, 1);
  });

  it('gets events of only its own accounts', async () => {
    const { console: shop } = await newSeller();
    const events = await fetch(`${daemon.adminUrl}/api/v1/events`, { headers: { cookie: shop.cookie } });
    let text = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of events.body ?? [])
        text += decoder.decode(chunk as Uint8Array, { stream: true });
    })();
    await eventually(() => assert.match(text, /retry/));
    await admin.api('PATCH', `/api/v1/accounts/${foreignId}`, { remarks: `${SECRET} again` });
    const own = idOf(await create(shop));
    await eventually(() => assert.match(text, /"topic":"accounts"/));
    assert.ok(!text.includes(foreignId));
    assert.ok(!text.includes('event: overview'));
    await shop.api('PATCH', `/api/v1/accounts/${own}`, { remarks: 'own' });
    await eventually(() => assert.ok(text.includes(own)));
    await shop.api('DELETE', '/api/v1/session');
    await reading;
  });

  it('gets accounts that the administrator hands over, and loses them when it is removed', async () => {
    const { id, name, console: shop } = await newSeller({ accounts: 0, days: 0, bytes: 0 });
    const accounts = [idOf(await create(admin)), idOf(await create(admin))];
    const [first = '', second = ''] = accounts;
    const handed = await admin.api('PATCH', `/api/v1/accounts/${first}`, { owner: id });
    assert.deepEqual((handed.json as Fields)['owner'], { id, name });
    const action = { type: 'hand-over', owner: id };
    const log = (await admin.api('GET', `/api/v1/audit?objectId=${first}&limit=1`)).json as {
      items: Fields[];
    };
    assert.deepEqual(log.items[0]?.['after'], { owner: name }, 'the log names the seller');
    const bulk = await admin.api('POST', '/api/v1/accounts/bulk', { ids: accounts, action, dryRun: false });
    assert.equal((bulk.json as { count: number }).count, 1, bulk.text);
    const list = async (by: Console, query = '') =>
      ((await by.api('GET', `/api/v1/accounts${query}`)).json as { items: { id: string }[] }).items
        .map((one) => one.id)
        .sort();
    assert.deepEqual(await list(shop), [...accounts].sort());
    assert.deepEqual(await list(admin, `?owner=${id}`), [...accounts].sort());
    assert.deepEqual(
      await usedOf(shop),
      { accounts: 0, days: 0, bytes: 0 },
      'accounts that are handed over cost nothing',
    );
    assert.equal((await shop.api('PATCH', `/api/v1/accounts/${first}`, { remarks: 'own' })).status, 200);
    const handedBack = await shop.api('PATCH', `/api/v1/accounts/${first}`, { owner: null });
    assert.deepEqual([handedBack.status, codeOf(handedBack)], [403, 'wrong-role']);
    const toNobody = await admin.api('PATCH', `/api/v1/accounts/${first}`, { owner: randomUUID() });
    assert.deepEqual([toNobody.status, codeOf(toNobody)], [400, 'validation']);
    await admin.api('DELETE', `/api/v1/operators/${id}`);
    const orphan = (await admin.api('GET', `/api/v1/accounts/${second}`)).json as Fields;
    assert.equal(orphan['owner'], null);
  });

  it('leaves no valid player link when the owner of an account changes', async () => {
    const { id, console: shop } = await newSeller();
    const accounts = [idOf(await create(shop)), idOf(await create(shop))];
    const [first = '', second = ''] = accounts;
    const link = (id: string) => `/api/v1/accounts/${id}/subscription`;
    for (const account of accounts) assert.equal((await shop.api('POST', link(account))).status, 201);
    await shop.api('PATCH', `/api/v1/accounts/${first}`, { remarks: 'own' });
    const revoke = async (account: string) => (await admin.api('DELETE', link(account))).status;
    await admin.api('PATCH', `/api/v1/accounts/${first}`, { owner: (await newSeller()).id });
    assert.equal(await revoke(first), 404, 'handed over');
    await admin.api('DELETE', `/api/v1/operators/${id}`);
    assert.equal(await revoke(second), 404, 'its seller was removed');
  });

  it('is charged for all days of an import that counts them from the first login again', async () => {
    const { console: shop } = await newSeller({ accounts: null, days: 15, bytes: null });
    const username = `p-${randomUUID()}`;
    idOf(await create(shop, { username, expiresAt: inDays(10) }));
    const importDays = (days: number) =>
      shop.api(
        'POST',
        '/api/v1/accounts/import?format=json&existing=replace&dryRun=false',
        JSON.stringify([{ username, daysFromFirstLogin: days }]),
        { 'content-type': 'application/json' },
      );
    assert.equal(codeOf(await importDays(10)), 'over-budget');
    assert.equal((await importDays(4)).status, 200);
    assert.ok(Math.abs((await usedOf(shop)).days - 14) < 0.1);
  });

  it('creates five accounts of a budget of five by twenty concurrent requests', async () => {
    const { console: shop } = await newSeller({ accounts: 5, days: null, bytes: null });
    const made = await Promise.all(Array.from({ length: 20 }, () => create(shop)));
    const refused = made.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 15);
    for (const answer of refused) {
      assert.deepEqual([answer.status, codeOf(answer)], [409, 'over-budget']);
      assert.equal((answer.json as { detail: string }).detail, 'the budget has 0 accounts left');
    }
    assert.equal((await usedOf(shop)).accounts, 5);
    const [one] = made.filter(({ status }) => status === 201);
    await shop.api('DELETE', `/api/v1/accounts/${one ? idOf(one) : ''}`);
    assert.equal((await create(shop)).status, 409, 'a deleted account is not refunded');
    const batch = await shop.api('POST', '/api/v1/accounts/batch', { pattern: 'b{1-3}' });
    assert.deepEqual([batch.status, codeOf(batch)], [409, 'over-budget']);
  });

  it('is charged for days exactly at creation, extension and renewal', async () => {
    const { console: shop } = await newSeller({ accounts: null, days: 40, bytes: null });
    const endless = await create(shop);
    assert.deepEqual(
      [endless.status, codeOf(endless)],
      [409, 'over-budget'],
      'an account without an expiry has no bounded cost',
    );
    const id = idOf(await create(shop, { expiresAt: inDays(10) }));
    assert.ok(Math.abs((await usedOf(shop)).days - 10) < 0.1);
    const extend = (days: number) =>
      shop.api('POST', '/api/v1/accounts/bulk', {
        ids: [id],
        action: { type: 'extend', days, from: 'later' },
        dryRun: false,
      });
    assert.equal((await extend(25)).status, 200);
    const over = await extend(6);
    assert.equal(over.status, 409);
    assert.match(over.text, /the budget has 5(\.\d+)? days left/);
    assert.equal((await extend(5)).status, 200);
    await extend(-20);
    assert.ok((await usedOf(shop)).days > 39.9, 'days taken away are not refunded');
    assert.equal(
      (await shop.api('PATCH', `/api/v1/accounts/${id}`, { remarks: 'x', isEnabled: false })).status,
      200,
    );
    assert.equal((await shop.api('PATCH', `/api/v1/accounts/${id}`, { expiresAt: null })).status, 409);
    const before = (await admin.api('GET', `/api/v1/accounts/${id}`)).json as Fields;
    await admin.api('PATCH', `/api/v1/accounts/${id}`, { expiresAt: inDays(100) });
    assert.notEqual(
      ((await admin.api('GET', `/api/v1/accounts/${id}`)).json as Fields)['expiresAt'],
      before['expiresAt'],
    );
    assert.ok((await usedOf(shop)).days < 40.1, 'days that the administrator gives cost nothing');
  });

  it('is charged for the quota of every period, and for a reset', async () => {
    const { console: shop } = await newSeller({ accounts: null, days: null, bytes: 10_000 });
    const quota = (quotaBytes: number | null, quotaPeriod: string) => ({
      limits: { quotaBytes, quotaPeriod },
    });
    assert.equal((await create(shop)).status, 409, 'an account without a quota has no bounded cost');
    assert.equal(
      (await create(shop, quota(10, 'day'))).status,
      409,
      'nor has a daily quota without an expiry',
    );
    const id = idOf(await create(shop, quota(4_000, 'never')));
    assert.equal((await usedOf(shop)).bytes, 4_000);
    const midnight = new Date(Math.floor(Date.now() / DAY_MS + 10) * DAY_MS).toISOString();
    idOf(await create(shop, { ...quota(100, 'day'), expiresAt: midnight }));
    assert.equal((await usedOf(shop)).bytes, 5_000);
    const patch = (limits: Fields) => shop.api('PATCH', `/api/v1/accounts/${id}/limits`, limits);
    assert.equal((await patch({ quotaBytes: 6_000 })).status, 200);
    assert.equal((await usedOf(shop)).bytes, 7_000);
    assert.equal((await patch({ quotaBytes: null })).status, 409);
    const reset = () => shop.api('POST', `/api/v1/accounts/${id}/usage/reset`);
    assert.equal((await reset()).status, 409, '6,000 are more than the 3,000 left');
    assert.equal((await patch({ quotaBytes: 3_000 })).status, 200);
    assert.equal((await reset()).status, 200);
    assert.equal((await usedOf(shop)).bytes, 10_000);
  });

  it('is charged for traffic that was used when a change grants it again', async () => {
    const { console: shop } = await newSeller({ accounts: null, days: null, bytes: 20_000 });
    const target = await startTarget(scope, echo);
    const terms = (quotaBytes: number, quotaPeriod: string, days: number) => ({
      limits: { quotaBytes, quotaPeriod },
      expiresAt: inDays(days),
    });
    const username = `p-${randomUUID()}`;
    const first = { username, password: 'secret', ...terms(10_000, 'never', 5) };
    const id = idOf(await create(shop, first));
    const socket = await connectThrough(
      { port: daemon.socks.port, username, password: 'secret' },
      '127.0.0.1',
      target.port,
    );
    socket.send(Buffer.alloc(4_000));
    await socket.read(4_000);
    socket.destroy();
    await eventually(async () => {
      const shown = (await shop.api('GET', `/api/v1/accounts/${id}/limits`)).json as {
        usage: { periodBytes: number };
      };
      assert.equal(shown.usage.periodBytes, 8_000);
    });
    const path = `/api/v1/accounts/${id}`;
    const daily = terms(1_000, 'day', 5);
    const preview = await shop.api('POST', '/api/v1/accounts/bulk', {
      ...{ ids: [id], dryRun: true },
      action: { type: 'set-limits', limits: daily.limits },
    });
    const { parts } = (preview.json as { budget: { parts: Fields[] } }).budget;
    const needed = parts.find(({ what }) => what === 'bytes')?.['needed'];
    assert.equal(needed, 3_000, 'five days after today, less the 2,000 that were left');
    assert.equal((await shop.api('PATCH', `${path}/limits`, daily.limits)).status, 200);
    assert.equal((await usedOf(shop)).bytes, 13_000);
    // All of five days in one, and back.
    assert.equal((await shop.api('PATCH', path, { expiresAt: inDays(0) })).status, 200);
    assert.equal(codeOf(await shop.api('PATCH', path, { expiresAt: inDays(8) })), 'over-budget');
    assert.equal((await shop.api('PATCH', path, { expiresAt: inDays(5) })).status, 200);
    assert.equal((await usedOf(shop)).bytes, 18_000);
  });

  it('cannot let a player wait for a first login who is connected', async () => {
    const { console: shop } = await newSeller({ accounts: null, days: 20, bytes: null });
    const target = await startTarget(scope, hold);
    const username = `p-${randomUUID()}`;
    const id = idOf(await create(shop, { username, password: 'secret', expiresAt: inDays(5) }));
    await connectThrough({ port: daemon.socks.port, username, password: 'secret' }, '127.0.0.1', target.port);
    const imported = await shop.api(
      'POST',
      '/api/v1/accounts/import?format=json&existing=replace&dryRun=false',
      JSON.stringify([{ username, daysFromFirstLogin: 10 }]),
      { 'content-type': 'application/json' },
    );
    assert.equal(imported.status, 200, imported.text);
    await eventually(async () => {
      const shown = (await shop.api('GET', `/api/v1/accounts/${id}`)).json as { account?: Fields } & Fields;
      const expiresAt = String((shown.account ?? shown)['expiresAt']);
      assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 10 * DAY_MS) < 60_000, expiresAt);
    });
  });

  it('uses only the exits that it has been given: in accounts, bulk actions, imports and plans', async () => {
    const { id: sellerId, console: shop } = await newSeller();
    const addExit = async (name: string, sellers: readonly string[], status = 201) => {
      const added = await admin.api('POST', '/api/v1/exits', { name, addresses: ['127.0.0.9'], sellers });
      assert.equal(added.status, status, added.text);
    };
    await addExit('given', [sellerId]);
    await addExit('hidden', []);
    await addExit('nobodys', [randomUUID()], 400);
    assert.deepEqual(((await shop.api('GET', '/api/v1/me')).json as Fields)['exits'], ['given']);
    const id = idOf(await create(shop, { exit: 'given' }));
    assert.equal((await create(shop, { exit: 'hidden' })).status, 400);
    const path = `/api/v1/accounts/${id}`;
    const exitNow = async () => ((await admin.api('GET', path)).json as Fields)['exit'];
    assert.equal((await shop.api('PATCH', path, { exit: null })).status, 200);
    const refused = await shop.api('PATCH', path, { exit: 'hidden' });
    assert.match(refused.text, /body\.exit.*has been given/);
    const bulk = async (by: Console, action: Fields, status = 200) => {
      const done = await by.api('POST', '/api/v1/accounts/bulk', { ids: [id], action, dryRun: false });
      assert.equal(done.status, status, done.text);
      return (done.json as { skipped: { reason: string }[] }).skipped?.map(({ reason }) => reason);
    };
    await bulk(shop, { type: 'set-exit', exit: 'hidden' }, 400);
    assert.deepEqual(await bulk(admin, { type: 'set-exit', exit: 'hidden' }), ['no-exit']);
    assert.deepEqual(await bulk(shop, { type: 'set-exit', exit: 'given' }), []);
    assert.equal((await admin.api('PATCH', path, { exit: 'hidden' })).status, 400);

    const importWith = async (exit: string) => {
      const file = JSON.stringify([{ username: `p-${randomUUID()}`, password: 'secret', exit }]);
      const target = '/api/v1/accounts/import?format=json&dryRun=false';
      const answer = await shop.api('POST', target, file, { 'content-type': 'application/json' });
      return ((answer.json as Fields)['lines'] as { reason: { code: string } | null }[])[0]?.reason?.code;
    };
    assert.deepEqual([await importWith('given'), await importWith('hidden')], [undefined, 'no-exit']);

    const plan = (name: string) => ({
      name,
      days: 30,
      startsAtFirstLogin: false,
      limits: NO_PLAN_LIMITS,
      exit: name,
    });
    const before = (await admin.api('GET', '/api/v1/settings/plans')).json as { plans: Fields[] };
    const plans = [...before.plans, plan('given'), plan('hidden')];
    assert.equal((await admin.api('PUT', '/api/v1/settings/plans', { plans })).status, 200);
    idOf(await create(shop, { plan: 'given' }));
    assert.match((await create(shop, { plan: 'hidden' })).text, /body\.plan/);
    assert.deepEqual(await bulk(shop, { type: 'plan', plan: 'hidden', use: 'upgrade' }), ['no-exit']);
    await admin.api('PUT', '/api/v1/settings/plans', { plans: before.plans });

    // What is taken back stays with the accounts that have it.
    assert.equal((await admin.api('PATCH', '/api/v1/exits/given', { sellers: [] })).status, 200);
    assert.equal(await exitNow(), 'given');
    assert.equal((await create(shop, { exit: 'given' })).status, 400);
    assert.equal((await shop.api('PATCH', path, { exit: 'given', remarks: 'same' })).status, 200);
  });
});
