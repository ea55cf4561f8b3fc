// A part: accepts and stores webhook runs as the daemon does, without HTTP requests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createQueueLimit } from '../../../src/agents/context.js';
import { createIntake } from '../../../src/agents/intake.js';
import { createOrderedIds } from '../../../src/core/ids.js';
import { openStore } from '../../../src/store/store.js';
import { hookSettings } from '../../helpers/hooks.js';
import { sqliteClient } from '../../helpers/sqlite-client.js';
import { servePart } from './parts.js';

export interface IntakeJob {
  readonly callers: number;
  readonly count: number;
  readonly message: string;
}

const folder = mkdtempSync(join(tmpdir(), 'pulsegate-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const store = await openStore({ dataDir: folder, client: sqliteClient, busyTimeoutMs: 5000 });
const newId = createOrderedIds(Date.now);
const webhooks = hookSettings({ queue: { total: 10_000_000, perAgent: 10_000_000 } });
const intake = createIntake(
  {
    runs: store.runs,
    node: 'bench',
    otherNodesAgents: [],
    webhooks,
    queueLimit: createQueueLimit(webhooks.queue),
    now: Date.now,
  },
  { adopted: Promise.resolve(), doubt() {} },
  { enqueue() {} },
);

servePart<IntakeJob>(async ({ callers, count, message }) => {
  const startedAt = performance.now();
  let started = 0;
  const caller = async (): Promise<void> => {
    while (started < count) {
      started += 1;
      const session = `hook:${newId()}`;
      const run = {
        kind: 'message',
        agent: 'a',
        session,
        message,
        origin: 'webhook',
        rerunOf: null,
      } as const;
      const result = await intake.accept({ run, idempotency: null, answer: () => ({}) });
      if (result.outcome !== 'stored') throw new Error(result.outcome);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { perSecond: count / ((performance.now() - startedAt) / 1000) };
});
