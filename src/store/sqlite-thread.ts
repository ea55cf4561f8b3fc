// The worker thread of one connection (sqlite-threaded.ts): opens the file with its client, and executes one call after another.
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

export interface SqliteThreadData {
  readonly client: 'better-sqlite3' | 'node:sqlite';
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
  /** Only of node:sqlite: returns integers as bigint. */
  setReadBigInts?(isOn: boolean): void;
  all(...bindings: unknown[]): Record<string, unknown>[];
  run(...bindings: unknown[]): { lastInsertRowid: number | bigint; changes: number | bigint };
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** The primary result codes (https://www.sqlite.org/rescode.html) by number, because node:sqlite reports only numbers. */
const CODES =
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'.split(
    ' ',
  );

const { client, file } = workerData as SqliteThreadData;
const port = parentPort;
if (!port) throw new Error('sqlite-thread.ts must run in a worker thread');
// Suppresses the warning that node:sqlite is experimental.
process.removeAllListeners('warning');

let database: Database | null = null;
answer(() => {
  database = openFile();
  return {};
});
port.on('message', (call: SqliteCall) => {
  answer(() => execute(call));
  if (call.do === 'close') port.close();
});

function openFile(): Database {
  const load = createRequire(import.meta.url);
  if (client === 'better-sqlite3') return new (load(client))(file, { timeout: 0 });
  const { DatabaseSync } = load(client);
  return new DatabaseSync(file);
}

function execute({ do: what, sql, bindings = [] }: SqliteCall): SqliteAnswer {
  if (!database) throw new Error('the file is not open');
  if (what === 'close') database.close();
  if (what === 'close') return {};
  if (what === 'exec') database.exec(sql);
  if (what === 'exec') return {};
  const statement = database.prepare(sql);
  const values = bindings.map(toBinding);
  if (statement.reader ?? what === 'all') return { rows: readRows(statement, values) };
  const { lastInsertRowid, changes } = statement.run(...values);
  return { rows: [], lastID: Number(lastInsertRowid), changes: Number(changes) };
}

/** Returns integers above 2^53 rounded, as the other clients do: node:sqlite would throw. */
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

/** Converts a value as the sqlite3 package does. node:sqlite would bind every number as REAL. */
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
    return { error: { code: primaryCode(code, errcode), text: message } };
  }
}

/** The primary code of an extended one: SQLITE_BUSY for SQLITE_BUSY_SNAPSHOT. */
function primaryCode(code: string | undefined, errcode: number | undefined): string {
  const found = errcode === undefined ? undefined : CODES[errcode & 0xff];
  if (found) return `SQLITE_${found}`;
  const named = /^SQLITE_[A-Z]+/.exec(code ?? '')?.[0];
  return named ?? (database ? 'SQLITE_MISUSE' : 'SQLITE_CANTOPEN');
}
