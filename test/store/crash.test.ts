// kill -9 at any moment: every finished change is stored, none is stored partly, and the next daemon can start.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { openDaemonStore } from '../../src/store/store.js';
import { scaled } from '../helpers/scale.js';
import { sqliteClient } from '../helpers/sqlite-client.js';
import { copySqliteTemplate } from '../helpers/sqlite-template.js';
import type { Line, Operation } from './crash-child.js';
import { connectBeside, tempDir } from './helpers.js';

const ROUNDS = scaled(6);
/** Most rounds kill during a removal, because it is the change with the most steps. */
const KINDS: readonly Operation['do'][] = ['remove', 'add', 'remove', 'append', 'remove', 'update'];
/** The kill follows the begin of a change after a random part of this time: about as long as a change takes. */
const LONGEST_CHANGE_MS = 3;
const CHILD = join(import.meta.dirname, 'crash-child.js');

interface Expected {
  remarks: string | null;
  entries: number;
}

test(`${ROUNDS} rounds of kill -9 lose no finished change and store none partly`, async (t) => {
  const dataDir = await tempDir(t);
  await copySqliteTemplate(dataDir);
  const expected = new Map<string, Expected>();
  let interrupted = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const kind = KINDS[round % KINDS.length] ?? 'remove';
    const child = spawn(process.execPath, [CHILD, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pending = await killDuring(child, kind, 1 + Math.floor(Math.random() * 20), expected);
    if (pending) interrupted++;

    const store = await openDaemonStore({
      dataDir,
      client: sqliteClient,
      busyTimeoutMs: 1000,
      onMigration() {},
    });
    const accounts = new Map((await store.accounts.all()).map((each) => [each.id, each]));
    const totals = new Map((await store.heartbeats.totals()).map((each) => [each.accountId, each.count]));
    await store.close();
    // The change in progress at the kill is stored completely or not at all.
    if (pending) {
      const now = accounts.get(pending.id);
      const found = now && { remarks: now.remarks, entries: totals.get(pending.id) ?? 0 };
      const before = expected.get(pending.id);
      const after = apply(before, pending);
      assert.ok(
        [before, after].some((each) => each?.remarks === found?.remarks && each?.entries === found?.entries),
        `${JSON.stringify(pending)}: ${JSON.stringify({ before, after, found })}`,
      );
      if (found) expected.set(pending.id, found);
      else expected.delete(pending.id);
    }
    assert.deepEqual(new Set(accounts.keys()), new Set(expected.keys()));
    for (const [id, { remarks, entries }] of expected) {
      assert.equal(accounts.get(id)?.remarks, remarks);
      assert.equal(totals.get(id) ?? 0, entries);
    }
  }
  t.diagnostic(
    `${interrupted} of ${ROUNDS} kills hit a change in progress; ${expected.size} accounts at the end`,
  );

  const db = connectBeside(t, join(dataDir, 'pulsegate.db'));
  assert.deepEqual(await db.raw('pragma foreign_key_check'), []);
  assert.deepEqual(
    await db('heartbeats')
      .groupBy('account_id')
      .select('account_id')
      .count({ count: '*' })
      .orderBy('account_id'),
    await db('heartbeat_totals').select('account_id', 'count').orderBy('account_id'),
  );
});

/**
 * Lets the child finish `changes` changes, kills it during the next one of that kind (or just after), and returns the change that
 * it had begun and not finished, if any.
 */
async function killDuring(
  child: ChildProcess,
  kind: Operation['do'],
  changes: number,
  expected: Map<string, Expected>,
): Promise<Operation | null> {
  assert.ok(child.stdout);
  const closed = once(child, 'close');
  let pending: Operation | null = null;
  let finished = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    const line: Line = JSON.parse(text);
    if ('begin' in line) {
      pending = line.begin;
      if (finished >= changes && pending.do === kind) {
        spin(Math.random() * LONGEST_CHANGE_MS);
        child.kill('SIGKILL');
      }
      continue;
    }
    assert.ok(pending);
    const after = apply(expected.get(pending.id), pending);
    if (after) expected.set(pending.id, after);
    else expected.delete(pending.id);
    pending = null;
    finished++;
  }
  assert.deepEqual(await closed, [null, 'SIGKILL'], 'the child was killed, and did not end by itself');
  return pending;
}

/** Timers are too coarse to hit one statement of a transaction. */
function spin(forMs: number): void {
  const until = performance.now() + forMs;
  while (performance.now() < until);
}

function apply(before: Expected | undefined, operation: Operation): Expected | undefined {
  if (operation.do === 'add') return { remarks: null, entries: 0 };
  if (!before || operation.do === 'remove') return undefined;
  if (operation.do === 'update') return { ...before, remarks: operation.remarks };
  return { ...before, entries: Math.min(50, before.entries + operation.entries) };
}
