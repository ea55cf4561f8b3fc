// API tokens in memory and in the database, while another daemon changes them too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../../../src/core/audit/audit.js';
import { type ApiToken, type ApiTokenStore, createApiTokens } from '../../../src/core/auth/api-tokens.js';

const INPUT = { name: 'n', scopes: [], expiresAt: null, operatorId: null };

function setUp() {
  const rows = new Map<string, ApiToken>();
  /** Resolves before a read of the database is answered. */
  const reads = { held: Promise.resolve() };
  const store: ApiTokenStore = {
    async all() {
      const found = [...rows.values()];
      await reads.held;
      return found;
    },
    async add(token) {
      rows.set(token.id, token);
      return true;
    },
    remove: async (id) => void rows.delete(id),
    used: async () => {},
  };
  let ids = 0;
  const tokens = createApiTokens({
    ...{ store, maxTokens: 5, now: () => 1, newId: () => `id-${++ids}`, onError: assert.ifError },
  });
  return { tokens, reads };
}

test('a token that is made or revoked during a reload stays so', async () => {
  const { tokens, reads } = setUp();
  const old = await tokens.create(INPUT, DAEMON);
  assert.ok(old);
  let answer = (): void => {};
  reads.held = new Promise((resolve) => {
    answer = resolve;
  });
  const reloaded = tokens.reload();
  const made = tokens.create(INPUT, DAEMON);
  const revoked = tokens.revoke(old.token.id, DAEMON);
  // Both have been written if they do not wait for the reload.
  for (let turn = 0; turn < 10; turn++) await new Promise((done) => setImmediate(done));
  answer();
  await Promise.all([reloaded, made, revoked]);
  const fresh = await made;
  assert.ok(fresh);
  assert.deepEqual(
    [tokens.find(old.secret, '::1'), tokens.find(fresh.secret, '::1')?.id],
    [null, fresh.token.id],
  );
});
