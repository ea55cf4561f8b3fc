// Looks for damage inside the SQLite file while it is in use, table by table: a page that nobody reads is otherwise noticed
// when it is needed.
import type { Knex } from 'knex';
import { QueryTooSlowError } from '../core/errors.js';

/** Time between two scans of the whole file, in ms. */
const SCAN_EVERY_MS = 24 * 3_600_000;

export interface SqliteScan {
  /** Begins a scan when one is due; the first call begins one at once. Never throws. */
  begin(): void;
  /** Resolves when no scan is under way; none begins any more. */
  close(): Promise<void>;
}

/**
 * @param reads connections that only read: each table is one query there, given up when it takes too long, so that nobody
 *   else waits for it
 * @param onDamage called once a scan, with SQLite's first finding or its error
 */
export function createSqliteScan(
  reads: Knex,
  onDamage: (error: Error) => void,
  monotonicNow: () => number = () => performance.now(),
): SqliteScan {
  let dueAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let underWay: Promise<void> = Promise.resolve();

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
      return finding === 'ok' ? null : Object.assign(new Error(finding), { code: 'SQLITE_CORRUPT' });
    } catch (error) {
      // A table that takes longer than a query may take is not checked.
      if (error instanceof QueryTooSlowError) return null;
      throw error;
    }
  }

  return {
    begin() {
      const at = monotonicNow();
      if (isClosed || at < dueAt) return;
      dueAt = at + SCAN_EVERY_MS;
      // sqlite-check.ts listens for errors of queries.
      underWay = scan().catch(() => undefined);
    },
    close() {
      isClosed = true;
      return underWay;
    },
  };
}
