// `Idempotency-Key`: a repeated request answers what the first did and changes nothing, also at once and when its answer was not kept.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type ApiAnswer, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { suiteScope } from '../../helpers/suite.js';

type Json = Record<string, unknown>;
type Call = (method: string, path: string, body?: Json, key?: string) => Promise<ApiAnswer>;
interface Named {
  readonly id: string;
  readonly username: string;
  readonly expiresAt: string;
}

const MAX_KEYS = 6;
const DAY_MS = 86_400_000;
const REPLAYED = 'idempotency-replayed';

/** Asserts that the second answer is the first one, repeated. */
function assertRepeated(first: ApiAnswer, second: ApiAnswer): void {
  assert.equal(first.headers.get(REPLAYED), null);
  assert.equal(second.headers.get(REPLAYED), 'true', second.text);
  assert.deepEqual([second.status, second.text], [first.status, first.text]);
  for (const name of ['etag', 'location', 'content-type'])
    assert.equal(second.headers.get(name), first.headers.get(name), name);
}

const codeOf = ({ json }: ApiAnswer) => {
  const { code, reason } = json as { code: string; reason?: { code: string } };
  return reason?.code ?? code;
};

// The answers of the second daemon are never kept: they are as long as if it had been killed before it kept them.
for (const [title, idempotency] of [
  ['answers that are kept', { maxKeys: MAX_KEYS }],
  ['answers that are made again', { maxKeys: MAX_KEYS, maxAnswer: '1KiB' }],
] as const) {
  describe(title, () => {
    const t = suiteScope();
    let daemon: TestDaemon;
    before(async () => {
      const playerPage = { enabled: true };
      const agents = { repeat: { type: 'command', command: ['cat'] } };
      const admin = { idempotency, playerPage, maxTokens: 1000 };
      daemon = await startTestDaemon(t, { config: { admin, agents } });
    });

    /** Calls as a new token, which has used no keys. */
    async function newCaller(): Promise<Call & { readonly revoke: () => Promise<ApiAnswer> }> {
      const made = await daemon.api('POST', '/api/v1/tokens', {
        name: 'shop',
        scopes: ['accounts:read', 'accounts:write', 'agents:read', 'agents:write'],
      });
      const { secret, token } = made.json as { secret: string; token: { id: string } };
      const call: Call = (method, path, body, key) =>
        daemon.api(method, `/api/v1/${path}`, body, {
          authorization: `Bearer ${secret}`,
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        });
      return Object.assign(call, { revoke: () => daemon.api('DELETE', `/api/v1/tokens/${token.id}`) });
    }

    async function accountsNamed(call: Call, username: string): Promise<Named[]> {
      const { json } = await call('GET', `accounts?search=${username}`);
      return (json as { items: Named[] }).items;
    }

    async function newAccount(call: Call, username: string): Promise<string> {
      const made = await call('POST', 'accounts', { username, expiresAt: new Date(Date.now() + DAY_MS) });
      assert.equal(made.status, 201, made.text);
      return (made.json as { account: Named }).account.id;
    }

    test('a repeated purchase gets the first answer, with the same random password', async () => {
      const call = await newCaller();
      const buy = () => call('POST', 'accounts', { username: 'bought', subscription: true }, 'order-1');
      const first = await buy();
      assert.equal(first.status, 201);
      assertRepeated(first, await buy());
      assert.equal((await accountsNamed(call, 'bought')).length, 1);
      const { account, credentials } = first.json as { account: Named; credentials: { password: string } };
      const known = await call('POST', `accounts/${account.id}/link`, { password: credentials.password });
      assert.equal(known.status, 200);
    });

    test('a repeated renewal counts once, and another one again', async () => {
      const call = await newCaller();
      const id = await newAccount(call, 'renewed');
      const expiry = async () => Date.parse((await accountsNamed(call, 'renewed'))[0]?.expiresAt ?? '');
      const renew = (key: string) =>
        call(
          'POST',
          'accounts/bulk',
          { ids: [id], action: { type: 'extend', days: 30, from: 'expiry' }, dryRun: false },
          key,
        );
      const start = await expiry();
      const first = await renew('renewal-1');
      assert.equal(first.status, 200, first.text);
      assertRepeated(first, await renew('renewal-1'));
      assert.equal((await expiry()) - start, 30 * DAY_MS);
      assert.equal((await renew('renewal-2')).headers.get(REPLAYED), null);
      assert.equal((await expiry()) - start, 60 * DAY_MS);
    });

    test('what changes one account is repeated too: fields, limits, usage, password, link', async () => {
      const call = await newCaller();
      const id = await newAccount(call, 'changed');
      const requests: [string, string, Json | undefined][] = [
        ['PATCH', '', { remarks: 'paid' }],
        ['PATCH', '/limits', { maxSessions: 3 }],
        ['POST', '/usage/reset', undefined],
        ['POST', '/subscription', undefined],
        ['POST', '/password', { replaceSubscription: true }],
      ];
      for (const [method, path, body] of requests) {
        const send = () => call(method, `accounts/${id}${path}`, body, `change-${path}`);
        const first = await send();
        assert.ok(first.status < 300, first.text);
        assertRepeated(first, await send());
      }
    });

    test('twenty requests at once with one key make one account, and get one answer', async () => {
      const call = await newCaller();
      const buy = () => call('POST', 'accounts', { username: 'crowd' }, 'order-1');
      const answers = await Promise.all(Array.from({ length: 20 }, buy));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter(({ headers }) => headers.get(REPLAYED) === null).length, 1);
      assert.equal((await accountsNamed(call, 'crowd')).length, 1);
    });

    test('twenty renewals at once with one key count once', async () => {
      const call = await newCaller();
      const id = await newAccount(call, 'hasty');
      const body = { ids: [id], action: { type: 'extend', days: 30, from: 'expiry' }, dryRun: false };
      const before = Date.parse((await accountsNamed(call, 'hasty'))[0]?.expiresAt ?? '');
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => call('POST', 'accounts/bulk', body, 'renewal-1')),
      );
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      const after = Date.parse((await accountsNamed(call, 'hasty'))[0]?.expiresAt ?? '');
      assert.equal(after - before, 30 * DAY_MS);
    });

    test('a key with another body or path is 422, and of another caller a different key', async () => {
      const [call, other] = [await newCaller(), await newCaller()];
      const id = await newAccount(call, 'first');
      assert.equal((await call('POST', 'accounts', { username: 'second' }, 'order-1')).status, 201);
      for (const again of [
        await call('POST', 'accounts', { username: 'third' }, 'order-1'),
        await call('PATCH', `accounts/${id}`, { remarks: 'second' }, 'order-1'),
      ]) {
        assert.deepEqual([again.status, codeOf(again)], [422, 'key-reused'], again.text);
      }
      assert.equal((await other('POST', 'accounts', { username: 'third' }, 'order-1')).status, 201);
    });

    test('a refused request does not use up its key, and a revoked token gets no answer again', async () => {
      const call = await newCaller();
      const id = await newAccount(call, 'taken');
      const buy = () => call('POST', 'accounts', { username: 'taken' }, 'order-1');
      assert.equal((await buy()).status, 409);
      assert.equal((await call('DELETE', `accounts/${id}`)).status, 200);
      assert.equal((await buy()).status, 201);
      assert.equal((await buy()).headers.get(REPLAYED), 'true');
      await call.revoke();
      assert.equal((await buy()).status, 401);
    });

    test('a key has 1 to 255 visible ASCII characters', async () => {
      const call = await newCaller();
      const buy = (key: string) => call('POST', 'accounts', { username: 'long-key' }, key);
      for (const key of ['k'.repeat(256), 'two words', 'é']) assert.equal((await buy(key)).status, 400, key);
      assert.equal((await buy('k'.repeat(255))).status, 201);
    });

    test(`a caller has at most ${MAX_KEYS} keys; what they did is still repeated`, async () => {
      const call = await newCaller();
      const buy = (n: number) => call('POST', 'accounts', { username: `many-${n}` }, `order-${n}`);
      for (let n = 1; n <= MAX_KEYS; n++) assert.equal((await buy(n)).status, 201);
      const refused = await buy(MAX_KEYS + 1);
      assert.deepEqual([refused.status, codeOf(refused)], [429, 'too-many-keys']);
      assert.ok(Number(refused.headers.get('retry-after')) > 0);
      assert.equal((await buy(1)).headers.get(REPLAYED), 'true');
      assert.equal((await accountsNamed(call, `many-${MAX_KEYS + 1}`)).length, 0);
    });

    test('a repeated message, and a repeated second run of it, are one run each, also twenty at once', async () => {
      const call = await newCaller();
      const runs = async () => ((await call('GET', 'runs?limit=200')).json as { items: Json[] }).items.length;
      const before = await runs();
      const send = () => call('POST', 'agents/repeat/messages', { message: 'hello' }, 'send-1');
      const first = await send();
      assert.equal(first.status, 202, first.text);
      assertRepeated(first, await send());
      const path = `runs/${(first.json as { runId: string }).runId}/rerun`;
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => call('POST', path, undefined, 'rerun-1')),
      );
      assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1, answers[1]?.text);
      assert.equal(await runs(), before + 2);
      const other = await call('POST', 'agents/repeat/messages', { message: 'other' }, 'send-1');
      assert.equal(other.status, 422);
    });

    test('of many accounts nothing is made twice; without the answer a repeated request is 409', async () => {
      const call = await newCaller();
      const make = () => call('POST', 'accounts/batch', { pattern: 'batch{1-12}' }, 'batch-1');
      const first = await make();
      assert.equal(first.status, 200);
      const second = await make();
      if (idempotency.maxKeys === MAX_KEYS && 'maxAnswer' in idempotency)
        assert.deepEqual([second.status, codeOf(second)], [409, 'key-pending']);
      else assertRepeated(first, second);
    });
  });
}
