// Expiry dates outside the representable range: every interface refuses them, and shows stored ones as the nearest date.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectSqlite } from '../../../src/store/sqlite/connect.js';
import { startTestAdmin, type TestAdmin } from '../../helpers/admin.js';
import { sqliteClient } from '../../helpers/sqlite-client.js';

type Json = Record<string, unknown>;

const YEAR_10000 = Date.parse('+010000-01-01T00:00:00Z');
const YEAR_0 = Date.parse('0000-12-31T23:59:59Z');

/** Each date, and the stored one in UTC; null when it is refused. */
const EDGES: [text: string, stored: string | null][] = [
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0001-01-01T00:00:00+00:01', null],
  ['0000-12-31T23:59:59Z', null],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31T23:59:59+01:00', '9999-12-31T22:59:59.000Z'],
  ['9999-12-31T23:59:59-00:01', null],
];

async function post(admin: TestAdmin, path: string, json: unknown) {
  return admin.api('POST', `/api/v1/${path}`, { json });
}

test('every interface accepts and refuses the same expiry dates', async (t) => {
  const admin = await startTestAdmin(t);
  const id = await admin.addAccount('a');
  for (const [text, stored] of EDGES) {
    const bulk = { ids: [id], dryRun: false, action: { type: 'set-expiry', expiresAt: text } };
    const answers = [
      await admin.api('PATCH', `/api/v1/accounts/${id}`, { json: { expiresAt: text } }),
      await post(admin, 'accounts', { username: `b${text}`, expiresAt: text }),
      await post(admin, 'accounts/batch', { list: [{ username: `c${text}` }], expiresAt: text }),
      await post(admin, 'accounts/bulk', bulk),
      await post(admin, 'tokens', { name: 't', scopes: ['accounts:read'], expiresAt: text }),
      await admin.api('GET', `/api/v1/audit?from=${encodeURIComponent(text)}`),
      await admin.api('GET', `/api/v1/heartbeats?to=${encodeURIComponent(text)}`),
    ];
    for (const answer of answers) {
      const isRefused = /0001-01-01T00:00:00 to 9999-12-31T23:59:59 \(UTC\)/.test(answer.text);
      assert.equal(isRefused, stored === null, `${text}: ${answer.text}`);
      if (isRefused) assert.equal(answer.status, 400);
    }
    const shown = (await admin.api('GET', `/api/v1/accounts/${id}`)).json as Json;
    if (stored !== null) assert.equal(shown['expiresAt'], stored);
    const update = { AID: id, ExpiresAt: text };
    const updated = await admin.api('POST', '/ProxyAccount/UpdateProxyAccount', { json: update });
    assert.equal(updated.status, stored === null ? 400 : 200, updated.text);
    const imported = await admin.api('POST', '/api/v1/accounts/import?existing=replace', {
      headers: { 'content-type': 'text/csv' },
      body: `username,expiresAt\na,${text}\n`,
    });
    assert.equal((imported.json as Json)['replaced'], stored === null ? 0 : 1, imported.text);
  }
});

test('adding or subtracting days never leaves the representable range', async (t) => {
  const admin = await startTestAdmin(t);
  const id = await admin.addAccount('a', { ExpiresAt: '9999-12-31T00:00:00' });
  const extend = async (days: number) => {
    const action = { type: 'extend', days, from: 'expiry' };
    const answer = await post(admin, 'accounts/bulk', { ids: [id], dryRun: false, action });
    return (answer.json as Json)['count'];
  };
  assert.deepEqual([await extend(1), await extend(-1), await extend(1), await extend(1)], [0, 1, 1, 0]);
});

test('the account service refuses dates outside the range from every caller, and changes nothing', async (t) => {
  const { accounts, store, addAccount } = await startTestAdmin(t);
  const id = await addAccount('a');
  const fields = { isEnabled: true, remarks: null };
  for (const expiresAt of [YEAR_10000, YEAR_0, Number.NaN]) {
    const wrong = { ...fields, expiresAt };
    const by = { name: 'test', via: 'cli', address: null } as const;
    const results = [
      await accounts.add({ ...wrong, username: 'b', password: 'b' }, by),
      await accounts.patch(id, () => wrong, by),
      await accounts.patch(id, () => ({ expiresAt }), by),
    ];
    for (const result of results) assert.deepEqual(result, { ok: false, reason: 'invalid-expiry' });
    const { refused } = await accounts.addMany([{ ...wrong, username: 'b', password: 'b' }], by);
    assert.deepEqual(refused, [{ index: 0, reason: 'invalid-expiry' }]);
    assert.deepEqual(await accounts.patchMany([{ id, changeOf: () => ({ expiresAt }) }], by), []);
  }
  assert.deepEqual(
    (await store.accounts.all()).map(({ username, expiresAt }) => [username, expiresAt]),
    [['a', null]],
  );
});

test('a stored expiry outside the range is shown as the nearest representable date', async (t) => {
  const admin = await startTestAdmin(t);
  const id = await admin.addAccount('a');
  const db = connectSqlite(sqliteClient, join(admin.dataDir, 'pulsegate.db'), 30_000);
  t.after(() => db.destroy());
  for (const [stored, shown, expired] of [
    [YEAR_10000, '9999-12-31T23:59:59', false],
    [YEAR_0, '0001-01-01T00:00:00', true],
    [9e15, '9999-12-31T23:59:59', false],
  ] as const) {
    await db('accounts').where({ id }).update({ expires_at: stored });
    await admin.accounts.refresh([id]);
    const list = await admin.api('GET', '/ProxyAccount/GetProxyAccountList');
    assert.equal(list.status, 200, list.text);
    assert.equal((list.json as Json[])[0]?.['ExpiresAt'], shown);
    const page = (await admin.api('GET', '/api/v1/accounts')).json as { items: Json[] };
    assert.equal(String(page.items[0]?.['expiresAt']).slice(0, 19), shown);
    assert.equal(page.items[0]?.['isExpired'], expired);
    for (const format of ['csv', 'json', 'ccproxy']) {
      const file = await admin.api('GET', `/api/v1/accounts/export?format=${format}`);
      assert.equal(file.status, 200);
      assert.ok(file.text.includes(shown.slice(0, 10)), file.text);
    }
  }
});
