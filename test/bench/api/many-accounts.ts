// Daemons with many accounts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../src/store/store.js';
import { ADMIN, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { basic } from '../../helpers/http.js';
import { sqliteClient } from '../../helpers/sqlite-client.js';
import type { Scope } from '../../helpers/suite.js';
import { inScope } from './measure.js';

export const AUTHORIZED = { Authorization: basic(ADMIN.username, ADMIN.password) };
/** Entries per insert into the log of logins. */
const LOGINS_AT_ONCE = 10_000;

/**
 * Starts a daemon whose database has `count` accounts. Another daemon imports them, because garbage of an import costs time.
 * @param logins number of entries in the log of logins
 */
export async function startWith(t: Scope, count: number, logins = 0): Promise<TestDaemon> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pulsegate-bench-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  await inScope(async (importScope) => {
    const daemon = await startTestDaemon(importScope, { dataDir });
    await importAccounts(daemon, count);
    daemon.signal('SIGTERM');
    await daemon.exited();
  });
  if (logins > 0) await addLogins(dataDir, logins);
  return await startTestDaemon(t, { dataDir, config: { controlPlaneNice: 5 } });
}

/** Imports a CSV file over /api/v1. */
export async function importAccounts(
  daemon: TestDaemon,
  count: number,
  existing: 'skip' | 'replace' = 'skip',
): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) => `player${String(i).padStart(6, '0')},secret\n`);
  const url = `${daemon.adminUrl}/api/v1/accounts/import?format=csv&existing=${existing}`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...AUTHORIZED, 'content-type': 'text/csv' },
    body: `username,password\n${lines.join('')}`,
  });
  const report = (await response.json()) as { added?: number; replaced?: number };
  if ((existing === 'skip' ? report.added : report.replaced) !== count)
    throw new Error(`the import of ${count}: ${JSON.stringify(report).slice(0, 500)}`);
}

/** Adds entries to the database while no daemon runs. */
async function addLogins(dataDir: string, count: number): Promise<void> {
  const store = await openStore({ client: sqliteClient, busyTimeoutMs: 5000, dataDir });
  const now = Date.now();
  for (let from = 0; from < count; from += LOGINS_AT_ONCE) {
    const entries = Array.from({ length: Math.min(LOGINS_AT_ONCE, count - from) }, (_, i) => ({
      at: now - count + from + i,
      accountId: null,
      username: `player${from + i}`,
      client: `198.51.${(from + i) & 255}.${i & 255}`,
      outcome: 'unknown-user' as const,
      times: 1,
    }));
    await store.logins.add(entries);
  }
  await store.close();
}
