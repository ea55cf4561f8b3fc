// Console sessions end with the credentials that opened them, and stay ended.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ConsoleSession,
  type ConsoleSessionStore,
  createConsoleSessions,
} from '../../../src/core/auth/console-sessions.js';

function openSessions() {
  const rows = new Map<string, ConsoleSession>();
  const put = async (session: ConsoleSession) => void rows.set(session.hash, session);
  const store: ConsoleSessionStore = {
    all: async () => [...rows.values()],
    get: async (hash) => rows.get(hash) ?? null,
    add: put,
    renew: put,
    used: async () => {},
    remove: async (hashes) => hashes.forEach((hash) => void rows.delete(hash)),
  };
  const state = { credentials: 'old' as string | null };
  const sessions = createConsoleSessions({
    ...{ store, now: () => 1, idleMs: 10, maxAgeMs: 10, maxSessions: 5, onError: assert.ifError },
    credentials: () => state.credentials,
  });
  return { state, sessions, rows };
}

test('keeps the session that made the change, when it was valid right before', async () => {
  const { state, sessions } = openSessions();
  const value = (await sessions.open('o', 'id', '::1', 'old')) ?? '';
  const hash = sessions.find(value)?.hash ?? '';
  state.credentials = 'new';
  await sessions.keepOnly('id', { hash, credentials: 'old' });
  assert.ok(sessions.find(value));
});

test('does not restore a session whose credentials were changed before', async () => {
  const { state, sessions, rows } = openSessions();
  const value = (await sessions.open('o', 'id', '::1', 'old')) ?? '';
  const hash = sessions.find(value)?.hash ?? '';
  state.credentials = 'newest';
  await sessions.keepOnly('id', { hash, credentials: 'new' });
  assert.equal(sessions.find(value), null);
  assert.equal(rows.size, 0);
});

test('ends sessions for good, also those that only the database has', async () => {
  const { state, sessions } = openSessions();
  const value = (await sessions.open('o', 'id', '::1', 'old')) ?? '';
  state.credentials = null;
  assert.equal(sessions.sweep(), 1);
  await sessions.keepOnly('id', null);
  state.credentials = 'old';
  assert.equal(await sessions.read(value), null);
});

test('opens no session with credentials that changed since the password was checked', async () => {
  const { state, sessions, rows } = openSessions();
  state.credentials = 'new';
  assert.equal(await sessions.open('o', 'id', '::1', 'old'), null);
  assert.equal(rows.size, 0);
});
