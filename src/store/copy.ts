// Copies a whole database between SQLite and PostgreSQL. The copy is one transaction of the target: a copy that ends early leaves
// no data, and the next one starts again.
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { codeOf, StartError } from '../core/errors.js';
import { COPIED_TABLES, type CopiedTable, type CopySide } from './copied-tables.js';
import { openPgCopy } from './pg/copy.js';
import type { PgOptions } from './pg/database.js';
import { explainPgError } from './pg/errors.js';
import { batches, countOf } from './sql.js';
import { openSqlite, type SqliteOptions } from './sqlite/database.js';
import { toStartError } from './sqlite/errors.js';
import { lockSqlite, sqliteFile } from './sqlite/files.js';

export interface CopyOptions {
  readonly sqlite: SqliteOptions;
  readonly pg: PgOptions;
  readonly to: 'sqlite3' | 'pg';
  /** Called after each batch with the number of the table's rows written so far. */
  readonly onProgress?: (table: string, rows: number) => void;
}

/** Summarizes the contents of a table. Equal contents have equal tallies, in whatever order the rows are read. */
interface Tally {
  readonly rows: number;
  /** Sum of all whole numbers in the table. */
  readonly sum: bigint;
  /** Checksum of all values in the table, in hexadecimal. */
  readonly checksum: string;
}

interface Copied extends Tally {
  readonly table: string;
}

/**
 * Copies every table, reads the copy back, and compares it before the commit.
 * @returns the tally of each table
 * @throws StartError `daemon-running` (a daemon uses one of the two databases), `copy-target-used` (the target is not empty),
 * `copy-differs`, and the errors of `openStore` for both databases
 */
export async function copyStore(options: CopyOptions): Promise<Copied[]> {
  const { sqlite, pg, to, onProgress = () => {} } = options;
  const openSqlite = () => openSqliteCopy({ ...sqlite, mayCreate: to === 'sqlite3' });
  const openPg = () => openPgCopy({ ...pg, mayCreate: to === 'pg' });
  try {
    const source = await (to === 'pg' ? openSqlite() : openPg());
    try {
      return await source.exclusively(async (from) => {
        // Opening creates a missing target: only when nothing else uses the source.
        const target = await (to === 'pg' ? openPg() : openSqlite());
        try {
          return await target.exclusively((into) => copyTables({ source, from, target, into, onProgress }));
        } finally {
          await target.close();
        }
      });
    } finally {
      await source.close();
    }
  } catch (error) {
    throw codeOf(error)?.startsWith('SQLITE_')
      ? toStartError(error, sqliteFile(sqlite.dataDir))
      : explainPgError(error, pg.connection);
  }
}

interface Copying {
  readonly source: CopySide;
  readonly from: Knex;
  readonly target: CopySide;
  readonly into: Knex;
  readonly onProgress: (table: string, rows: number) => void;
}

async function copyTables(copying: Copying): Promise<Copied[]> {
  await requireEmpty(copying);
  const copied: Copied[] = [];
  for (const table of COPIED_TABLES) copied.push({ table: table.name, ...(await copyTable(table, copying)) });
  await copying.target.finish(copying.into);
  for (const { table, ...expected } of copied) await compare(table, expected, copying);
  return copied;
}

async function requireEmpty({ target, into }: Copying): Promise<void> {
  for (const { name } of COPIED_TABLES) {
    if (!(await into(name).first(into.raw('1')))) continue;
    throw new StartError(
      'copy-target-used',
      `The target database ${target.where} is not empty (${name} has rows). Nothing was changed. Copy to a new one: ` +
        'an empty PostgreSQL database (createdb), or a data folder without pulsegate.db.',
    );
  }
}

async function copyTable(table: CopiedTable, copying: Copying): Promise<Tally> {
  const { source, from, target, into, onProgress } = copying;
  const types = await columnTypes(into, table.name);
  const counter = createTallyCounter();
  for await (const rows of batches(from, table, Object.keys(types))) {
    await into(table.name).insert(
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [column, target.toStored(value, types[column] ?? '')]),
        ),
      ),
    );
    for (const row of rows) counter.add(row);
    onProgress(table.name, counter.tally().rows);
  }
  const tally = counter.tally();
  const rows = await countOf(from(table.name));
  if (tally.rows !== rows) throw differs(table.name, source.where, `${rows} rows, ${tally.rows} were read`);
  return tally;
}

async function compare(name: string, expected: Tally, { from, target, into }: Copying): Promise<void> {
  const table = COPIED_TABLES.find((each) => each.name === name) as CopiedTable;
  const counter = createTallyCounter();
  for await (const rows of batches(into, table, Object.keys(await columnTypes(from, name))))
    for (const row of rows) counter.add(row);
  const { rows, sum, checksum } = counter.tally();
  if (rows !== expected.rows) throw differs(name, target.where, `${rows} rows, not ${expected.rows}`);
  if (sum !== expected.sum) throw differs(name, target.where, `the sum ${sum}, not ${expected.sum}`);
  if (checksum !== expected.checksum) throw differs(name, target.where, 'another checksum');
}

function differs(table: string, where: string, what: string): StartError {
  return new StartError(
    'copy-differs',
    `The copy differs from its source: ${table} of ${where} has ${what}. The copy was rolled back; the source is unchanged.`,
  );
}

async function columnTypes(db: Knex, name: string): Promise<Record<string, string>> {
  const found = Object.entries(await db(name).columnInfo());
  return Object.fromEntries(found.map(([column, { type }]) => [column, type]));
}

type Row = Readonly<Record<string, unknown>>;

const MODULUS = 1n << 64n;

/** Counts rows as both databases return them. */
function createTallyCounter() {
  let rows = 0;
  let sum = 0n;
  let checksum = 0n;
  return {
    add(row: Row): void {
      const values = Object.keys(row)
        .sort()
        .map((column) => comparable(row[column]));
      rows += 1;
      for (const value of values) if (Number.isInteger(value)) sum += BigInt(value as number);
      const hash = createHash('sha256').update(JSON.stringify(values)).digest();
      checksum = (checksum + hash.readBigUInt64BE()) % MODULUS;
    },
    tally: (): Tally => ({ rows, sum, checksum: checksum.toString(16).padStart(16, '0') }),
  };
}

/** SQLite stores booleans as 0 and 1, and PostgreSQL texts cannot contain NUL. */
function comparable(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}

/**
 * Locks the data folder, so that no daemon runs on it until `close`. @throws StartError `daemon-running`, and the errors of
 * `openStore`
 */
async function openSqliteCopy(options: SqliteOptions): Promise<CopySide> {
  const where = sqliteFile(options.dataDir);
  const { db, close } = await openSqlite(options, { is: 'command' });
  try {
    const lock = await lockSqlite(where, options.client);
    return {
      where,
      // SQLite has only one writing transaction at a time.
      exclusively: (work) => db.transaction(work),
      finish: async () => {},
      toStored: (value) => (typeof value === 'boolean' ? Number(value) : value),
      async close() {
        await close();
        await lock.release();
      },
    };
  } catch (error) {
    await close();
    if (codeOf(error) !== 'daemon-running') throw error;
    throw new StartError(
      'daemon-running',
      `A daemon uses the database ${where}. Stop it during the copy (systemctl stop pulsegate): its writes would be lost.`,
      { cause: error },
    );
  }
}
