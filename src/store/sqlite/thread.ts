// The worker thread of one connection (threaded.ts): opens the file with its database package, and executes one call after another.
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';

/** The packages whose calls block. */
export type ThreadedPackageName = 'node:sqlite' | '@photostructure/sqlite' | 'better-sqlite3';

export interface SqliteThreadData {
  readonly name: ThreadedPackageName;
  readonly file: string;
}

export interface SqliteCall {
  readonly do: 'exec' | 'all' | 'run' | 'close';
  readonly sql: string;
  readonly bindings?: readonly unknown[] | undefined;
}

export interface SqliteAnswer {
  readonly rows?: unknown[] | undefined;
  readonly lastID?: number | undefined;
  readonly changes?: number | undefined;
  readonly error?: { readonly code: string; readonly text: string } | undefined;
}

interface Statement {
  /** Only of better-sqlite3: whether the statement returns rows, so that `all` can be called. */
  readonly reader?: boolean;
  /** Not of better-sqlite3: returns integers as bigint. */
  setReadBigInts?(isOn: boolean): void;
  /** The columns of the rows that the statement returns. Not in node:sqlite before Node 22.16; throws in better-sqlite3 for no rows. */
  columns?(): unknown[];
  all(...bindings: unknown[]): Record<string, unknown>[];
  run(...bindings: unknown[]): { lastInsertRowid: number | bigint; changes: number | bigint };
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** The primary result codes (https://www.sqlite.org/rescode.html) by number, because node:sqlite and @photostructure/sqlite report only numbers. */
const CODES =
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'.split(
    ' ',
  );

/** The texts of codes (sqlite3_errstr), for `all` of @photostructure/sqlite, whose errors have no number. */
const CODES_BY_TEXT: readonly (readonly [RegExp, string])[] = [
  [/^database (table )?is locked/, 'BUSY'],
  [/constraint failed/, 'CONSTRAINT'],
  [/^database or disk is full/, 'FULL'],
  [/^disk I\/O error/, 'IOERR'],
  [/^attempt to write a readonly database/, 'READONLY'],
  [/^database disk image is malformed/, 'CORRUPT'],
  [/^file is not a database/, 'NOTADB'],
  [/^unable to open database file/, 'CANTOPEN'],
];

const { name, file } = workerData as SqliteThreadData;
const port = parentPort;
if (!port) throw new Error('sqlite-thread.ts must run in a worker thread');
// Suppresses the warning that node:sqlite is experimental.
process.removeAllListeners('warning');

interface Prepared {
  readonly statement: Statement;
  readonly hasRows: boolean | undefined;
}

/** Prepared statements by their SQL. Without it, statements that are not yet collected would take hundreds of MB. */
const statements = new LRUCache<string, Prepared>({
  maxSize: 512 * 1024,
  sizeCalculation: (_, sql) => sql.length,
});

let database: Database | null = null;
answer(() => {
  database = openFile();
  return {};
});
port.on('message', async (call: SqliteCall) => {
  if (call.do === 'close') await freeStatements();
  answer(() => execute(call));
  if (call.do === 'close') port.close();
});

/** @photostructure/sqlite finalizes statements only when they are collected, and a statement that is left keeps the file open. */
async function freeStatements(): Promise<void> {
  statements.clear();
  if (name !== '@photostructure/sqlite') return;
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  // Finalizers run after the collection.
  await setImmediate();
  await setImmediate();
}

function openFile(): Database {
  const load = createRequire(import.meta.url);
  if (name === 'better-sqlite3') return new (load(name))(file, { timeout: 0 });
  const { DatabaseSync } = load(name);
  return new DatabaseSync(file);
}

function execute({ do: what, sql, bindings = [] }: SqliteCall): SqliteAnswer {
  if (!database) throw new Error('the file is not open');
  if (what === 'close') database.close();
  if (what === 'close') return {};
  if (what === 'exec') database.exec(sql);
  if (what === 'exec') return {};
  const { statement, hasRows } = prepared(database, sql);
  const values = bindings.map(toBinding);
  if (hasRows ?? what === 'all') return { rows: readRows(statement, values) };
  const { lastInsertRowid, changes } = statement.run(...values);
  return { rows: [], lastID: Number(lastInsertRowid), changes: Number(changes) };
}

/** Returns the statement for `sql`, with whether it returns rows; undefined: unknown. */
function prepared(from: Database, sql: string): Prepared {
  const known = statements.get(sql);
  if (known) return known;
  const statement = from.prepare(sql);
  const entry = { statement, hasRows: statement.reader ?? hasColumns(statement) };
  statements.set(sql, entry);
  return entry;
}

/** Not `all` without rows: that of @photostructure/sqlite reports no code with its errors, but `run` does. */
function hasColumns(statement: Statement): boolean | undefined {
  const columns = statement.columns?.();
  return columns && columns.length > 0;
}

/** Returns integers above 2^53 rounded, as sqlite3 and better-sqlite3 do: the others would throw. */
function readRows(statement: Statement, values: readonly unknown[]): Record<string, unknown>[] {
  if (!statement.setReadBigInts) return statement.all(...values);
  statement.setReadBigInts(true);
  const rows = statement.all(...values);
  for (const row of rows) {
    for (const name in row) {
      const value = row[name];
      if (typeof value === 'bigint') row[name] = Number(value);
    }
  }
  return rows;
}

/** Converts a value as the sqlite3 package does. The others would bind every number as REAL. */
function toBinding(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'boolean') return BigInt(value);
  if (value instanceof Date) return BigInt(value.getTime());
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  return value;
}

/** Sends the result. The first answer is the result of opening the file. */
function answer(work: () => SqliteAnswer): void {
  port?.postMessage(attempt(work));
}

function attempt(work: () => SqliteAnswer): SqliteAnswer {
  try {
    return work();
  } catch (error) {
    const { message = String(error), code, errcode } = error as Error & { code?: string; errcode?: number };
    return { error: { code: primaryCode(code, errcode, message), text: message } };
  }
}

/** The primary code of an extended one: SQLITE_BUSY for SQLITE_BUSY_SNAPSHOT. */
function primaryCode(code: string | undefined, errcode: number | undefined, text: string): string {
  const found =
    errcode === undefined
      ? CODES_BY_TEXT.find(([pattern]) => code === 'ERR_SQLITE_ERROR' && pattern.test(text))?.[1]
      : CODES[errcode & 0xff];
  if (found) return `SQLITE_${found}`;
  const named = /^SQLITE_[A-Z]+/.exec(code ?? '')?.[0];
  return named ?? (database ? 'SQLITE_MISUSE' : 'SQLITE_CANTOPEN');
}
