// kill -9 at any moment: every change that was answered is there, and none is there by half.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { openStore } from '../../src/store/store.js';
import type { Line, Operation } from './crash-child.js';
import { connectBeside, tempDir } from './helpers.js';

const ROUNDS = 50;
const CHILD = join(import.meta.dirname, 'crash-child.js');

interface Expected {
  remarks: string | null;
  entries: number;
}

test(`${ROUNDS} rounds of kill -9 lose no answered change and leave nothing half done`, async (t) => {
  const dataDir = await tempDir(t);
  const expected = new Map<string, Expected>();
  let unanswered = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const child = spawn(process.execPath, [CHILD, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pending = await killAfter(child, 1 + Math.floor(Math.random() * 40), expected);
    if (pending) unanswered++;

    const store = await openStore({ dataDir, client: 'sqlite3', busyTimeoutMs: 1000 });
    const accounts = new Map((await store.accounts.all()).map((each) => [each.id, each]));
    const totals = new Map((await store.heartbeats.totals()).map((each) => [each.accountId, each.count]));
    await store.close();
    // The one change that was under way when the child died is there or not, but whole.
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
    `${unanswered} of ${ROUNDS} kills hit a change under way; ${expected.size} accounts at the end`,
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

/** Lets the child answer `changes` changes, kills it at once, and returns the change it had begun, if any. */
async function killAfter(
  child: ChildProcess,
  changes: number,
  expected: Map<string, Expected>,
): Promise<Operation | null> {
  assert.ok(child.stdout);
  const closed = once(child, 'close');
  let pending: Operation | null = null;
  let answered = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    const line: Line = JSON.parse(text);
    if ('begin' in line) {
      pending = line.begin;
      continue;
    }
    assert.ok(pending);
    const after = apply(expected.get(pending.id), pending);
    if (after) expected.set(pending.id, after);
    else expected.delete(pending.id);
    pending = null;
    if (++answered === changes) child.kill('SIGKILL');
  }
  assert.deepEqual(await closed, [null, 'SIGKILL'], 'the child was killed, and did not end by itself');
  return pending;
}

function apply(before: Expected | undefined, operation: Operation): Expected | undefined {
  if (operation.do === 'add') return { remarks: null, entries: 0 };
  if (!before || operation.do === 'remove') return undefined;
  if (operation.do === 'update') return { ...before, remarks: operation.remarks };
  return { ...before, entries: Math.min(50, before.entries + operation.entries) };
}
