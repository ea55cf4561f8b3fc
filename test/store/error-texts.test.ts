// The error of a failed query contains its SQL, never a value: otherwise hashes, secrets and messages would be in the log.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Knex } from 'knex';
import { createLogger } from '../../src/log.js';
import type { Store } from '../../src/store/store.js';
import { opener } from './databases.js';
import { connectBeside, openTestStore } from './helpers.js';

/** Stands for every secret: each text argument of a repository contains it. */
const SECRET = 'do-not-print-4711';
const N = 47_114_711;

const by = { name: SECRET, via: 'cli', address: SECRET };
const object = { type: 'account', id: SECRET, name: SECRET };
const audit = { by, action: SECRET, object, before: { a: SECRET }, after: { a: SECRET } };
const limits = { maxSessions: N, quotaPeriod: 'day', egressClass: SECRET };
const change = { isEnabled: true, remarks: SECRET, expiresAt: N, passwordHash: SECRET, limits };
const quotaReset = { at: N, totalBytes: N };
const account = { ...change, id: SECRET, username: SECRET, createdAt: N, lastLoginAt: N, quotaReset };
const entry = {
  ...{ at: N, accountId: SECRET, username: SECRET, sessionId: SECRET, client: SECRET, destination: SECRET },
  ...{ protocol: 'tcp', bytesUp: N, bytesDown: N, kind: 'game', gameId: SECRET },
};
const login = { at: N, accountId: SECRET, username: SECRET, client: SECRET, outcome: SECRET, times: N };
const traffic = { accountId: SECRET, day: N, bytesUp: N, bytesDown: N, sessions: N };
const nodeClaim = { name: SECRET, folderId: SECRET, process: SECRET, version: SECRET, leaseMs: N };
const consoleSession = {
  ...{ hash: SECRET, username: SECRET, address: SECRET, createdAt: N, usedAt: N },
  ...{ credentials: SECRET },
};
const token = {
  ...{ id: SECRET, name: SECRET, prefix: SECRET, hash: SECRET, scopes: [SECRET], createdAt: N },
  ...{ expiresAt: N, lastUsedAt: N, lastUsedFrom: SECRET },
};
const notice = {
  ...{ id: SECRET, key: SECRET, type: SECRET, at: N, data: { a: SECRET }, channel: SECRET },
  ...{ recipient: SECRET, accountId: SECRET, keepUntil: N, dueAt: N, tries: N },
};
const sample = {
  ...{ sessions: N, playersOnline: N, bytesUp: N, bytesDown: N },
  ...{ logins: N, failures: N, heartbeats: N, runs: N },
};
const run = {
  ...{ id: SECRET, kind: 'message', agent: SECRET, session: SECRET, message: SECRET },
  ...{ origin: { source: SECRET }, rerunOf: SECRET, acceptedAt: N },
};
const idempotency = { key: SECRET, digest: SECRET, answer: SECRET, expiresAt: N };
const end = { status: 'succeeded', finishedAt: N, reply: SECRET, error: SECRET, deliver: true };
const delivery = {
  ...{ runId: SECRET, try: N, at: N, ok: false, detail: SECRET, channel: SECRET, durationMs: N },
};
const history = { maxMessages: N, maxBytes: N };
const filter = {
  accountId: SECRET,
  search: SECRET,
  agent: SECRET,
  gameId: SECRET,
  objectId: SECRET,
  limit: 9,
};

/** Arguments of the methods of every repository. */
const CALLS: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  accounts: {
    all: [],
    getMany: [[SECRET]],
    addMany: [[account], by, [traffic]],
    changeMany: [
      [
        {
          id: SECRET,
          after: (stored: object) => ({ ...stored, ...change, quotaReset }),
          trafficOf: () => [traffic],
        },
      ],
      by,
    ],
    removeMany: [[SECRET], by],
    saveLogins: [[{ id: SECRET, at: N }]],
    rehash: [SECRET, SECRET, SECRET],
  },
  heartbeats: {
    totals: [],
    append: [[entry], { maxAgeMs: N, maxPerAccount: 1 }],
    trim: [N, 10],
    list: [filter, N, 10],
  },
  settings: { get: [SECRET], set: [SECRET, SECRET, audit] },
  traffic: { add: [[traffic]], days: [SECRET, N], sums: [N, [SECRET]] },
  audit: { add: [[audit]], list: [filter, SECRET, 10], count: [filter], trim: [N, 10] },
  nodes: {
    claim: [nodeClaim],
    renew: [nodeClaim, { addresses: {}, load: {} }],
    release: [nodeClaim],
    setDrained: [SECRET, true, audit],
  },
  consoleSessions: {
    all: [],
    get: [SECRET],
    renew: [consoleSession],
    add: [consoleSession, null],
    used: [SECRET, N],
    remove: [[SECRET]],
  },
  apiTokens: { all: [], add: [token, 1, audit], remove: [SECRET, audit], used: [SECRET, N, SECRET] },
  logins: {
    add: [[login]],
    repeated: [[{ place: N, times: N }]],
    list: [filter, N, 10],
    count: [filter],
    trim: [N, 10, 10],
  },
  notices: {
    add: [[notice]],
    due: [SECRET, N, 10],
    nextDueAt: [SECRET],
    triedBetween: [SECRET, N, N],
    claim: [notice, N, N],
    release: [notice],
    tried: [SECRET, { state: SECRET, dueAt: N, detail: SECRET }],
    list: [{ state: SECRET, channel: SECRET, accountId: SECRET, before: SECRET, since: N, limit: 10 }],
    retry: [SECRET, N],
    failedRuns: [N, 10],
    trim: [N, N],
  },
  samples: {
    add: [{ minute: N, hour: N, day: N, month: N }, sample],
    list: ['minute', N],
    trim: ['minute', N],
    runs: [N],
    trafficSince: [N],
  },
  heartbeatSums: {
    add: [new Map([[60, N]]), [{ accountId: SECRET, gameId: SECRET, count: N, bytesUp: N, bytesDown: N }], 9],
    largest: [60, N, 'game', 10],
    series: [60, N, 'account', [SECRET]],
    totals: [60, N],
    trim: [60, N],
  },
  runs: {
    add: [[{ run, node: SECRET, idempotency }], N],
    findAnswer: [SECRET, SECRET, N],
    get: [SECRET],
    list: [filter],
    countQueued: [],
    lastActive: [SECRET],
    renewLease: [{ id: SECRET, host: SECRET, pid: N, pidStart: SECRET, seenAt: N }],
    runners: [],
    runningOf: [SECRET],
    release: [SECRET, 3, SECRET, N],
    adopt: [SECRET, 10],
    claim: [[SECRET], SECRET, N],
    finish: [[{ id: SECRET, end }], SECRET, history],
    cancelQueued: [SECRET, N, true],
    trim: [N, N, 10],
  },
  deliveries: {
    due: [SECRET, N, 10],
    nextDueAt: [SECRET],
    record: [delivery, N],
    dismiss: [SECRET],
    ofRun: [SECRET],
  },
  agentSessions: { list: [filter], get: [SECRET], messages: [SECRET], remove: [SECRET], trim: [N] },
  changes: { next: [] },
};

/** Arguments for methods that CALLS does not list yet. */
const ANY = [SECRET, SECRET, SECRET];

/** Ways to make queries fail: before anything is bound, and once a row is to be written. */
const FAILURES: readonly (readonly [what: string, apply: (db: Knex, table: string) => Promise<unknown>])[] = [
  [
    'a row is refused',
    async (db, table) => {
      for (const what of ['insert', 'update', 'delete'])
        await db.raw(
          `create trigger refuse_${what}_${table} before ${what} on ${table} begin select raise(abort, 'refused'); end`,
        );
    },
  ],
  ['a table is missing', (db, table) => db.raw(`alter table ${table} rename to gone_${table}`)],
];

for (const [what, apply] of FAILURES) {
  test(`no error text and no log line has a bound value when ${what}`, async (t: TestContext) => {
    const { store, file } = await openTestStore(t);
    const db = connectBeside(t, file);
    const tables: string[] = await db('sqlite_master')
      .where({ type: 'table' })
      .whereNot('name', 'like', 'sqlite_%')
      .whereNot('name', 'like', 'logins_%')
      .pluck('name');
    for (const table of tables) await apply(db, table);
    await assertNoValues(t, store, what);
  });
}

test('no error text and no log line has a bound value when a table of PostgreSQL is missing', async (t) => {
  const { store, connect } = await opener(t, 'pg')();
  const db = connect();
  const tables: { name: string }[] = await db('pg_tables')
    .where({ schemaname: 'public' })
    .select({ name: 'tablename' });
  for (const { name } of tables) await db.raw('alter table ?? rename to ??', [name, `gone_${name}`]);
  await assertNoValues(t, store, 'a table is missing');
});

/** Calls every method, most of which fail, and asserts that neither an error nor its log line has a bound value. */
async function assertNoValues(t: TestContext, store: Store, what: string): Promise<void> {
  let log = '';
  const logger = createLogger({ level: 'trace', destination: { write: (line: string) => (log += line) } });
  let failed = 0;
  for (const [name, repository] of Object.entries(store)) {
    // Repositories that SQLite does not have are null.
    if (typeof repository !== 'object' || repository === null) continue;
    const methods = repository as unknown as Readonly<
      Record<string, (...args: readonly unknown[]) => Promise<unknown>>
    >;
    const calls = CALLS[name] ?? {};
    assert.deepEqual(
      Object.keys(calls).filter((method) => !(method in methods)),
      [],
    );
    for (const [method, call] of Object.entries(methods)) {
      // It makes no query, and connects again and again until it is stopped.
      if (method === 'listen') continue;
      const error = await Promise.resolve()
        .then(() => call(...(calls[method] ?? ANY)))
        .then(
          () => null,
          (reason: unknown) => reason,
        );
      const mustFail = what === 'a table is missing' && method in calls;
      if (mustFail) assert.ok(error instanceof Error, `${name}.${method} did not fail`);
      if (!(error instanceof Error)) continue;
      failed += 1;
      logger.error({ err: error }, 'failed');
      const text = `${error.message} ${error.stack} ${JSON.stringify(error)}`;
      assert.ok(!text.includes(SECRET) && !text.includes(String(N)), `${name}.${method}: ${text}`);
    }
  }
  t.diagnostic(`${failed} failed`);
  assert.ok(failed > 10, `${failed} failed`);
  assert.ok(log.includes('failed') && !log.includes(SECRET) && !log.includes(String(N)), log);
}
