// Console sessions end with the credentials that opened them, and stay ended.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ConsoleSession,
  type ConsoleSessionStore,
  createConsoleSessions,
} from '../../../src/core/auth/console-sessions.js';

const OPERATOR = { id: 'id', name: 'o', role: 'operator' } as const;

function setUp() {
  const rows = new Map<string, ConsoleSession>();
  const put = async (session: ConsoleSession) => void rows.set(session.hash, session);
  /** Called between a read of the database and its answer. */
  const reads = { before: async () => {} };
  const answered = async <Value>(value: Value): Promise<Value> => {
    await reads.before();
    return value;
  };
  const store: ConsoleSessionStore = {
    all: () => answered([...rows.values()]),
    get: (hash) => answered(rows.get(hash) ?? null),
    add: async (session) => {
      await put(session);
      return true;
    },
    renew: put,
    used: async () => {},
    confirmed: async () => {},
    remove: async (hashes) => hashes.forEach((hash) => void rows.delete(hash)),
  };
  const state = { credentials: 'old' as string | null };
  const sessions = createConsoleSessions({
    ...{
      store,
      now: () => 1,
      idleMs: 10,
      maxAgeMs: 10,
      maxSessions: 5,
      confirmForMs: 5,
      onError: assert.ifError,
    },
    credentials: () => state.credentials,
  });
  return { state, sessions, rows, reads };
}

test('a change of credentials keeps the session that made it', async () => {
  const { state, sessions } = setUp();
  const value = (await sessions.open('o', OPERATOR, '::1', 'old')) ?? '';
  const hash = sessions.find(value)?.hash ?? '';
  state.credentials = 'new';
  await sessions.keepOnly('id', { hash, credentials: 'old' });
  assert.ok(sessions.find(value));
});

test('a change of credentials does not restore a session that an earlier change ended', async () => {
  const { state, sessions, rows } = setUp();
  const value = (await sessions.open('o', OPERATOR, '::1', 'old')) ?? '';
  const hash = sessions.find(value)?.hash ?? '';
  state.credentials = 'newest';
  rows.clear();
  await sessions.keepOnly('id', { hash, credentials: 'new' });
  assert.equal(sessions.find(value), null);
  assert.equal(rows.size, 0);
});

test('ended sessions stay ended after the old credentials return', async () => {
  const { state, sessions, rows } = setUp();
  const value = (await sessions.open('o', OPERATOR, '::1', 'old')) ?? '';
  state.credentials = null;
  // The store removes them with the change.
  rows.clear();
  assert.equal(sessions.sweep(), 1);
  await sessions.keepOnly('id', null);
  state.credentials = 'old';
  assert.equal(sessions.find(value), null);
  assert.equal(await sessions.read(value), null);
});

test('no session is opened if the credentials changed after the check of the password', async () => {
  const { state, sessions, rows } = setUp();
  state.credentials = 'new';
  assert.equal(await sessions.open('o', OPERATOR, '::1', 'old'), null);
  assert.equal(rows.size, 0);
});

test('a session that another process ends during a read stays ended when the credentials return', async () => {
  const { state, sessions, rows, reads } = setUp();
  const value = (await sessions.open('o', OPERATOR, '::1', 'old')) ?? '';
  let isEnded = false;
  reads.before = async () => {
    if (isEnded) return;
    isEnded = true;
    rows.clear();
    await sessions.reload();
  };
  assert.equal(await sessions.read(value), null);
  assert.ok(isEnded);
  state.credentials = 'old';
  assert.equal(sessions.find(value), null);
});

for (const [what, readAgain] of [
  ['a reload', ({ sessions }: ReturnType<typeof setUp>) => sessions.reload()],
  ['a request', ({ sessions }: ReturnType<typeof setUp>, value: string) => sessions.read(value)],
] as const) {
  test(`a session that is closed while ${what} reads it stays closed`, async () => {
    const world = setUp();
    const { sessions, reads } = world;
    const value = (await sessions.open('o', OPERATOR, '::1', 'old')) ?? '';
    const hash = sessions.find(value)?.hash ?? '';
    let isClosed = false;
    reads.before = async () => {
      if (isClosed) return;
      isClosed = true;
      await sessions.close(hash);
    };
    await readAgain(world, value);
    assert.ok(isClosed);
    assert.equal(sessions.find(value), null);
  });
}
