// Checks the SQLite file for damage while it is in use, table by table. Otherwise a damaged page would be noticed only when it is
// read.
import type { Knex } from 'knex';
import { QueryTooSlowError } from '../../core/errors.js';
import { withStorageProblem } from '../../core/storage.js';

/** Time between two scans of the whole file, in ms. */
const SCAN_EVERY_MS = 24 * 3_600_000;

export interface SqliteScan {
  /** Starts a scan when one is due; the first call starts one immediately. Never throws. */
  begin(): void;
  /** Starts no further scan, and resolves when none is running. */
  close(): Promise<void>;
}

/**
 * @param reads read-only connections. Each table is one query, with the time limit of these connections, so that other queries do
 *   not wait long.
 * @param onDamage called at most once per scan, with the first finding or error of SQLite
 */
export function createSqliteScan(reads: Knex, onDamage: (error: Error) => void): SqliteScan {
  let dueAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let running: Promise<void> = Promise.resolve();

  async function scan(): Promise<void> {
    const tables: { name: string }[] = await reads.raw("select name from sqlite_master where type = 'table'");
    for (const { name } of tables) {
      if (isClosed) return;
      const finding = await check(name);
      if (finding) return onDamage(finding);
    }
  }

  async function check(table: string): Promise<Error | null> {
    try {
      const rows: Record<string, string>[] = await reads.raw(`pragma quick_check('${table}')`);
      const finding = Object.values(rows[0] ?? {})[0] ?? 'ok';
      return finding === 'ok' ? null : withStorageProblem(new Error(finding), 'database-corrupt');
    } catch (error) {
      // A table whose check exceeds the time limit of a query is skipped.
      if (error instanceof QueryTooSlowError) return null;
      throw error;
    }
  }

  return {
    begin() {
      const at = performance.now();
      if (isClosed || at < dueAt) return;
      dueAt = at + SCAN_EVERY_MS;
      // check.ts listens for errors of queries.
      running = scan().catch(() => undefined);
    },
    close() {
      isClosed = true;
      return running;
    },
  };
}
