// Checks that the SQLite file exists, has not been replaced, and is writable; and scans it for damage once a day.
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Knex } from 'knex';
import {
  codeOf,
  faultOf,
  QueryTooSlowError,
  type StorageFault,
  type StorageProblem,
  storageProblemOf,
  withStorageProblem,
} from '../../core/errors.js';
import { writeApplicationId } from './connect.js';
import type { Access } from './knex-client.js';

/** The first bytes of every SQLite file (https://www.sqlite.org/fileformat2.html#magic_header_string). */
const MAGIC = Buffer.from('SQLite format 3\0');

/** Problems that the next check finds by itself, if they have not ended. */
const FOUND_BY_CHECK: ReadonlySet<StorageProblem> = new Set([
  'database-locked',
  'database-gone',
  'database-replaced',
]);

/** A query of knex. `__knexTxId` is set in a transaction; `changed`: the number of rows, or with `returning` the rows. */
interface Ran {
  readonly method?: string;
  readonly __knexTxId?: string;
}

/**
 * @param access refuses writes while another file, or none, is at the path of the open file; and once the file is known to be damaged,
 *   because nobody knows whether it keeps what it accepts
 */
export async function createSqliteCheck(
  { db, reads }: { readonly db: Knex; readonly reads: Knex },
  file: string,
  access: Access,
) {
  const handle = await open(file, 'r');
  const opened = await handle.stat();
  /** The first fault of a query since the last check. */
  let queryFault: StorageFault | null = null;
  const recordFault = (error: unknown): void => {
    const problem = storageProblemOf(error);
    if (!problem || FOUND_BY_CHECK.has(problem)) return;
    if (problem === 'database-corrupt') access.refusal = problem;
    if (problem === 'database-corrupt' || queryFault === null) queryFault = { problem, error };
  };
  for (const connections of [db, reads]) connections.on('query-error', recordFault);
  /** A row was written since the last check, and committed: it takes the place of the write of the check. */
  let isProven = false;
  db.on('query-response', (changed: number | readonly unknown[], { method, __knexTxId }: Ran) => {
    if (method !== 'update' || __knexTxId !== undefined) return;
    if ((typeof changed === 'number' ? changed : changed.length) > 0) isProven = true;
  });
  const scan = createSqliteScan(reads, recordFault);

  async function checkPlace(): Promise<StorageFault | null> {
    try {
      const found = await stat(file);
      const isSame = found.dev === opened.dev && found.ino === opened.ino;
      return isSame ? null : { problem: 'database-replaced', error: undefined };
    } catch (error) {
      return { problem: codeOf(error) === 'ENOENT' ? 'database-gone' : 'database-failing', error };
    }
  }

  return {
    /** Returns the problem of the file; null: none. Call it one at a time. Never rejects. */
    async run(): Promise<StorageFault | null> {
      const misplaced = await checkPlace();
      const isDamaged = queryFault?.problem === 'database-corrupt' || !(await hasSqliteHeader(handle));
      access.refusal = isDamaged ? 'database-corrupt' : null;
      if (misplaced && misplaced.problem !== 'database-failing') access.refusal = misplaced.problem;
      if (misplaced) return misplaced;
      if (isDamaged) return queryFault ?? { problem: 'database-corrupt', error: undefined };
      scan.begin();
      const isNeeded = !isProven || queryFault !== null;
      isProven = false;
      const failed = isNeeded ? await writeApplicationId(db).then(() => null, faultOf) : null;
      const fault = failed ?? queryFault;
      // Damage is permanent. Any other fault has ended when a write succeeds and no query has failed since.
      if (queryFault?.problem !== 'database-corrupt') queryFault = null;
      return fault;
    },
    /** Call it after the database is closed, because closing a file drops every lock that the process has on it. */
    async close(): Promise<void> {
      await scan.close();
      await handle.close();
    },
  };
}

async function hasSqliteHeader(handle: FileHandle): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
  return buffer.equals(MAGIC);
}

/** Time between two scans of the whole file, in ms. */
const SCAN_EVERY_MS = 24 * 3_600_000;

/**
 * @param reads read-only connections. Each table is one query, with the time limit of these connections, so that other queries do
 *   not wait long.
 * @param onDamage called at most once per scan, with the first finding or error of SQLite
 */
function createSqliteScan(reads: Knex, onDamage: (error: Error) => void) {
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
    /** Starts a scan when one is due; the first call starts one immediately. Never throws. */
    begin(): void {
      const at = performance.now();
      if (isClosed || at < dueAt) return;
      dueAt = at + SCAN_EVERY_MS;
      // The check above listens for errors of queries.
      running = scan().catch(() => undefined);
    },
    /** Starts no further scan, and resolves when none is running. */
    close(): Promise<void> {
      isClosed = true;
      return running;
    },
  };
}
