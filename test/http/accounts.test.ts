// Sequences of requests: accounts are created, changed and removed; their statistics and GetCurrentUser.
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { account } from '../helpers/account.js';
import { endOf } from '../helpers/account-end.js';
import { heartbeatOf, startTestAdmin, type TestAdmin } from '../helpers/admin.js';
import { send } from '../helpers/http.js';
import { accountOf } from '../helpers/stored-accounts.js';
import { newestOf } from '../helpers/stored-heartbeats.js';
import { suiteScope } from '../helpers/suite.js';

const NOW = Date.UTC(2030, 4, 6, 7, 8, 9, 999);

async function byId(admin: TestAdmin, id: string): Promise<unknown> {
  return (await admin.api('GET', `/ProxyAccount/GetProxyAccountByID?AID=${id}`)).json;
}

async function update(admin: TestAdmin, json: object): Promise<void> {
  const answer = await admin.api('POST', '/ProxyAccount/UpdateProxyAccount', { json });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.text, '"更新账号成功"');
}

const currentUser = (url: string, username: string) =>
  send(`${url}/proxyaccount/getcurrentuser`, { headers: { 'X-Socks5-Username': username } });

test('the list without accounts is an empty array', async (t) => {
  const admin = await startTestAdmin(t);
  const answer = await admin.api('GET', '/ProxyAccount/GetProxyAccountList');
  assert.equal(answer.status, 200);
  assert.equal(answer.text, '[]');
  assert.equal(answer.headers['cache-control'], 'no-store');
});

test('a new account has the defaults, and exactly the fields of the specification in their order', async (t) => {
  const admin = await startTestAdmin(t, { now: () => NOW });
  const added = await admin.api('POST', '/ProxyAccount/AddProxyAccount', {
    json: { Username: 'a', Password: 'b' },
  });
  assert.equal(added.status, 200);
  assert.equal(added.text, '"添加账号成功"');
  const list = await admin.api('GET', '/ProxyAccount/GetProxyAccountList');
  const AID = admin.accounts.getByUsername('a')?.account.id;
  const expected = {
    AID,
    Username: 'a',
    IsEnabled: true,
    Remarks: null,
    CreatedAt: '2030-05-06T07:08:09',
    LastLoginAt: null,
    ExpiresAt: null,
    DataCount: 0,
    LatestGameId: null,
  };
  assert.equal(list.text, JSON.stringify([expected]));
  assert.equal(
    (await admin.api('GET', `/ProxyAccount/GetProxyAccountByID?AID=${AID}`)).text,
    JSON.stringify(expected),
  );
  assert.match(String(AID), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

describe('accounts beside others', async () => {
  const admin = await startTestAdmin(suiteScope());

  it('an account is found by its id in upper case', async () => {
    const id = await admin.addAccount('found');
    assert.deepEqual(await byId(admin, id.toUpperCase()), await byId(admin, id));
  });

  it('an update without IsEnabled, Remarks and ExpiresAt resets them to their defaults', async () => {
    const fields = { IsEnabled: false, Remarks: 'note', ExpiresAt: '2031-01-01T00:00:00' };
    const AID = await admin.addAccount('reset', fields);
    assert.deepEqual(await byId(admin, AID), { ...((await byId(admin, AID)) as object), ...fields });
    await update(admin, { AID, Password: 'new' });
    const after = (await byId(admin, AID)) as Record<string, unknown>;
    assert.deepEqual([after['IsEnabled'], after['Remarks'], after['ExpiresAt']], [true, null, null]);
  });

  it('an update without a password keeps the password', async () => {
    const AID = await admin.addAccount('kept');
    const hash = () => admin.directory.byId(AID)?.passwordHash;
    const before = hash();
    for (const Password of [undefined, null, '', ' \t ']) {
      await update(admin, { AID, Password });
      assert.equal(hash(), before);
    }
    await update(admin, { AID, Password: 'other' });
    assert.notEqual(hash(), before);
    assert.match(String(hash()), /^sha256\$[0-9a-f]{32}\$[0-9a-f]{64}$/);
    assert.equal(
      (await accountOf(admin.store.accounts, AID))?.passwordHash,
      hash(),
      'memory and database agree',
    );
  });

  it('an update keeps name, creation and last login', async () => {
    const AID = await admin.addAccount('seen');
    admin.directory.loggedIn(AID, NOW);
    const before = (await byId(admin, AID)) as Record<string, unknown>;
    await update(admin, {
      AID,
      Username: 'renamed',
      CreatedAt: '2000-01-01',
      LastLoginAt: null,
      Remarks: 'r',
    });
    assert.deepEqual(await byId(admin, AID), { ...before, Remarks: 'r' });
    assert.equal(before['LastLoginAt'], '2030-05-06T07:08:09');
  });

  for (const [given, shown] of [
    ['2030-01-02T03:04:05', '2030-01-02T03:04:05'],
    ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05'],
    ['2030-01-02T03:04:05+08:00', '2030-01-01T19:04:05'],
    ['2030-01-02T03:04:05.9999999', '2030-01-02T03:04:05'],
    ['2030-01-02T03:04:05.123-05:30', '2030-01-02T08:34:05'],
    ['2030-01-02', '2030-01-02T00:00:00'],
    ['9999-12-31T23:59:59', '9999-12-31T23:59:59'],
    ['0001-01-01T00:00:00', '0001-01-01T00:00:00'],
    [null, null],
  ]) {
    it(`ExpiresAt ${given} is stored as ${shown}`, async () => {
      const AID = await admin.addAccount(`until ${given}`, { ExpiresAt: given });
      assert.equal(((await byId(admin, AID)) as Record<string, unknown>)['ExpiresAt'], shown);
      await update(admin, { AID, ExpiresAt: given });
      assert.equal(((await byId(admin, AID)) as Record<string, unknown>)['ExpiresAt'], shown);
    });
  }

  it('text in every script is returned unchanged', async () => {
    const Username = `用户 <script>"'\\ 🎮 é e\u0301`;
    const Remarks = '第一行\r\n\t第二行 \u202e </textarea> \u0001';
    const AID = await admin.addAccount(Username, { Remarks });
    const account = (await byId(admin, AID)) as Record<string, unknown>;
    assert.deepEqual([account['Username'], account['Remarks']], [Username, Remarks]);
    const stored = await accountOf(admin.store.accounts, AID);
    assert.deepEqual([stored?.username, stored?.remarks], [Username, Remarks]);
    const own = await currentUser(admin.url, Buffer.from(Username).toString('latin1'));
    assert.equal(own.status, 200);
    assert.equal((own.json as Record<string, unknown>)['Username'], Username);
  });
});

test('the list is in the order of creation', async (t) => {
  const admin = await startTestAdmin(t);
  for (const name of ['c', 'a', 'b']) await admin.addAccount(name);
  const list = (await admin.api('GET', '/ProxyAccount/GetProxyAccountList')).json as { Username: string }[];
  assert.deepEqual(
    list.map((each) => each.Username),
    ['c', 'a', 'b'],
  );
});

test('a user name is unique, also for concurrent requests; upper and lower case differ', async (t) => {
  const admin = await startTestAdmin(t);
  const json = { Username: 'twin', Password: 'x' };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => admin.api('POST', '/ProxyAccount/AddProxyAccount', { json })),
  );
  assert.deepEqual(answers.map((each) => each.status).sort(), [200, 400, 400, 400, 400, 400, 400, 400]);
  for (const each of answers) if (each.status === 400) assert.equal(each.text, '"该用户名已存在"');
  await admin.addAccount('Twin');
  assert.equal(admin.directory.size, 2);
});

test('heartbeat statistics are in the list, in the account and in GetCurrentUser', async (t) => {
  const admin = await startTestAdmin(t);
  const AID = await admin.addAccount('a');
  const account = { id: AID, username: 'a' };
  admin.pool.record(heartbeatOf(account, 'ARENA', 1_000));
  admin.pool.record(heartbeatOf(account, 'CHESS', 2_000));
  admin.pool.record(heartbeatOf(account, null, 3_000));
  const list = (await admin.api('GET', '/ProxyAccount/GetProxyAccountList')).json as unknown[];
  const own = (await currentUser(admin.url, 'a')).json;
  for (const view of [list[0], await byId(admin, AID), own] as Record<string, unknown>[]) {
    assert.deepEqual([view['DataCount'], view['LatestGameId']], [3, 'CHESS']);
  }
});

test('GetCurrentUser has exactly the fields of the specification, and reports expiry to the second', async (t) => {
  let now = NOW;
  const admin = await startTestAdmin(t, { now: () => now });
  await admin.addAccount('a', { ExpiresAt: '2030-05-06T07:08:10', Remarks: 'secret note', IsEnabled: false });
  const own = await currentUser(admin.url, 'a');
  assert.equal(
    own.text,
    JSON.stringify({
      Username: 'a',
      IsEnabled: false,
      CreatedAt: '2030-05-06T07:08:09',
      LastLoginAt: null,
      ExpiresAt: '2030-05-06T07:08:10',
      IsExpired: false,
      DataCount: 0,
      LatestGameId: null,
    }),
  );
  now = Date.UTC(2030, 4, 6, 7, 8, 10);
  assert.equal(((await currentUser(admin.url, 'a')).json as Record<string, unknown>)['IsExpired'], true);
});

test('a removed account is deleted from the API, the database and the pool, and its name is free again', async (t) => {
  const admin = await startTestAdmin(t);
  const AID = await admin.addAccount('a');
  const entry = heartbeatOf({ id: AID, username: 'a' }, 'ARENA');
  admin.pool.record(entry);
  await admin.store.heartbeats.append([entry], { maxAgeMs: 1e12, maxPerAccount: 10 });
  // The request needs no body, and a body is ignored.
  const removed = await admin.api('POST', `/ProxyAccount/DeleteProxyAccount?aid=${AID}`, {
    body: 'whatever',
  });
  assert.equal(removed.text, '"删除账号成功"');
  assert.equal((await admin.api('GET', `/ProxyAccount/GetProxyAccountByID?AID=${AID}`)).status, 404);
  assert.equal((await currentUser(admin.url, 'a')).text, '"用户不存在"');
  assert.equal(await accountOf(admin.store.accounts, AID), null);
  assert.deepEqual(await newestOf(admin.store, AID, 1), []);
  assert.equal(admin.pool.count(AID), 0);
  const again = await admin.api('POST', `/ProxyAccount/DeleteProxyAccount?AID=${AID}`);
  assert.deepEqual([again.status, again.text], [400, '"账号不存在"']);
  assert.notEqual(await admin.addAccount('a'), AID);
});

test('a change that ends live sessions ends them before the response', async (t) => {
  const admin = await startTestAdmin(t);
  const AID = await admin.addAccount('a');
  const ended: string[] = [];
  admin.directory.onChanged((changed) => ended.push(...endOf(changed)));
  await update(admin, { AID, Remarks: 'only a note' });
  assert.deepEqual(ended, []);
  await update(admin, { AID, Password: 'other' });
  await update(admin, { AID, IsEnabled: false });
  await admin.api('POST', `/ProxyAccount/DeleteProxyAccount?AID=${AID}`);
  assert.deepEqual(ended, ['a password-changed', 'a account-disabled', 'a account-removed']);
});

test('a failed write is 500 and changes nothing; the reason is only in the log', async (t) => {
  const admin = await startTestAdmin(t);
  const AID = await admin.addAccount('a', { Remarks: 'before' });
  const before = await byId(admin, AID);
  await admin.store.close();
  const changes: [string, object | undefined][] = [
    ['/ProxyAccount/AddProxyAccount', { Username: 'b', Password: 'x' }],
    ['/ProxyAccount/UpdateProxyAccount', { AID, Remarks: 'after', IsEnabled: false }],
    [`/ProxyAccount/DeleteProxyAccount?AID=${AID}`, undefined],
  ];
  for (const [path, json] of changes) {
    const answer = await admin.api('POST', path, { json });
    assert.deepEqual([answer.status, answer.text], [500, '"服务器内部错误"']);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(answer.headers['x-error-detail'], undefined);
  }
  assert.deepEqual(await byId(admin, AID), before, 'reads are still answered, from memory');
  assert.equal(admin.directory.size, 1);
  const errors = admin.lines.filter((line) => line['level'] === 'error');
  assert.deepEqual(
    errors.map((line) => line['path']),
    changes.map(([path]) => path.split('?')[0]),
  );
});

test('a list of 10,000 accounts contains each once', async (t) => {
  const admin = await startTestAdmin(t);
  const base = account({ createdAt: NOW });
  admin.directory.load(
    Array.from({ length: 10_000 }, (_, i) => ({
      ...base,
      id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      username: `player${i}`,
    })),
  );
  const list = (await admin.api('GET', '/ProxyAccount/GetProxyAccountList')).json as { AID: string }[];
  assert.equal(new Set(list.map((each) => each.AID)).size, 10_000);
});
