// A part: the heartbeat pool, its writer and the database of the daemon, without sessions. Real sessions would need
// more clients than one machine can run.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../../src/config.js';
import { AccountDirectory } from '../../../src/core/accounts/directory.js';
import { DAEMON } from '../../../src/core/audit/audit.js';
import type { Heartbeat } from '../../../src/core/heartbeats/heartbeat.js';
import { HeartbeatPool } from '../../../src/core/heartbeats/heartbeat-pool.js';
import { createHeartbeatWriter } from '../../../src/core/heartbeats/heartbeat-writer.js';
import { nodeTimers } from '../../../src/core/time/timers.js';
import { openStore } from '../../../src/store/store.js';
import { account } from '../../helpers/account.js';
import { sqliteClient } from '../../helpers/sqlite-client.js';
import type { Numbers } from '../load.js';
import { servePart } from './parts.js';

export type HeartbeatJob =
  /** Entries at a constant rate, while the writer writes as in the daemon. */
  | { readonly kind: 'paced'; readonly perSecond: number; readonly seconds: number }
  /** As many entries as the disk accepts. */
  | { readonly kind: 'flat-out'; readonly count: number };

const ACCOUNTS = 1000;
const TICK_MS = 10;
const DAY_MS = 86_400_000;

const { heartbeats: settings } = (await loadConfig({ file: undefined, env: {}, flags: [] })).config;
const folder = mkdtempSync(join(tmpdir(), 'pulsegate-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const store = await openStore({ dataDir: folder, client: sqliteClient, busyTimeoutMs: 5000 });
const accounts = Array.from({ length: ACCOUNTS }, (_, i) =>
  account({ username: `player${i}`, createdAt: Date.now() }),
);
await store.accounts.addMany(accounts, DAEMON);

const pool = new HeartbeatPool({
  maxPending: settings.maxPending,
  maxPerAccount: settings.retention.perAccount,
});
/** Milliseconds from the oldest entry of each batch to its write to the disk. */
let behindMs: number[] = [];
const problems: string[] = [];
let recorded = 0;
const writer = createHeartbeatWriter({
  pool,
  directory: new AccountDirectory(),
  heartbeats: {
    ...store.heartbeats,
    async append(batch, retention) {
      const totals = await store.heartbeats.append(batch, retention);
      behindMs.push(Date.now() - (batch[0]?.at ?? Number.NaN));
      return totals;
    },
  },
  accounts: store.accounts,
  traffic: { flush: async () => {} },
  records: { flush: async () => {} },
  retention: { maxAgeMs: settings.retention.days * DAY_MS, maxPerAccount: settings.retention.perAccount },
  flushIntervalMs: settings.flushIntervalMs,
  trimIntervalMs: DAY_MS,
  now: Date.now,
  timers: nodeTimers,
  log: {
    debug() {},
    info() {},
    warn: (_, message) => problems.push(message),
    error: (_, message) => problems.push(message),
  },
});
writer.start();

servePart<HeartbeatJob>((job) => (job.kind === 'paced' ? paced(job) : flatOut(job)));

async function paced({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<Numbers> {
  behindMs = [];
  const startedAt = performance.now();
  const first = recorded;
  let rssAtFirst = 0;
  let pending = 0;
  for (let elapsedMs = 0; elapsedMs < seconds * 1000; elapsedMs = performance.now() - startedAt) {
    while (recorded - first < (elapsedMs / 1000) * perSecond) record();
    pending = Math.max(pending, pool.pendingSize);
    if (rssAtFirst === 0 && elapsedMs > (seconds * 1000) / 3) rssAtFirst = process.memoryUsage().rss;
    await sleep(TICK_MS);
  }
  const rss = process.memoryUsage().rss;
  const count = recorded - first;
  const tookMs = performance.now() - startedAt;
  await writer.flush();
  if (pool.dropped > 0 || problems.length > 0)
    throw new Error(`${pool.dropped} dropped, ${problems.join(', ')}`);
  return {
    perSecond: count / (tookMs / 1000),
    behindMs: Math.max(...behindMs),
    pending,
    grownMiB: (rss - rssAtFirst) / 1024 / 1024,
  };
}

async function flatOut({ count }: { count: number }): Promise<Numbers> {
  const batchSize = settings.maxPending / 2;
  const first = recorded;
  const startedAt = performance.now();
  let recordingMs = 0;
  while (recorded - first < count) {
    const from = performance.now();
    for (let i = pool.pendingSize; i < batchSize && recorded - first < count; i += 1) record();
    recordingMs += performance.now() - from;
    await writer.flush();
  }
  const tookMs = performance.now() - startedAt;
  return { perSecond: count / (tookMs / 1000), recordedPerSecond: count / (recordingMs / 1000) };
}

function record(): void {
  const account = accounts[recorded % ACCOUNTS];
  recorded += 1;
  if (!account) return;
  const isGame = recorded % 10 === 0;
  const entry: Heartbeat = {
    at: Date.now(),
    accountId: account.id,
    username: account.username,
    sessionId: account.id,
    client: '127.0.0.1',
    destination: 'game.example:7000',
    protocol: 'udp',
    bytesUp: 1200,
    bytesDown: 3400,
    kind: isGame ? 'game' : 'beat',
    gameId: isGame ? 'example' : null,
  };
  pool.record(entry);
}
