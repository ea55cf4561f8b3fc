// Selects the database package for the SQLite file, and adapts it to the interface of the sqlite3 package, which knex uses.
import { createRequire, isBuiltin } from 'node:module';
import { codeOf, StartError } from '../../core/errors.js';
import { getOrAdd } from '../../core/maps.js';
import { PROGRAM_FOLDER } from '../../program.js';
import type { ThreadedPackageName } from './thread.js';
import { ThreadedConnection } from './threaded.js';

type SqlitePackageName = 'sqlite3' | ThreadedPackageName;

/** `database.client` of a SQLite file. `auto`: the first package of AUTOMATIC that loads. */
export type SqlitePackageChoice = 'auto' | SqlitePackageName;

/** sqlite3 is installed where it can be built; the third brings its compiled parts, for platforms and versions of Node without the others. */
const AUTOMATIC: readonly SqlitePackageName[] = ['sqlite3', 'node:sqlite', '@photostructure/sqlite'];

/** https://www.sqlite.org/c3ref/c_open_autoproxy.html; the threaded packages always create. */
const OPEN_READWRITE = 0x02;
const OPEN_CREATE = 0x04;

type Load = (name: string) => unknown;

export interface SqlitePackage {
  readonly name: SqlitePackageName;
  /** The package, as knex calls it. */
  readonly loaded: unknown;
  /** The packages that `auto` tried before, each with the reason why it cannot be used. */
  readonly unusable: Readonly<Record<string, string>>;
}

const found = new Map<SqlitePackageChoice, SqlitePackage>();

/**
 * Like `findSqlitePackage`, but the same one each time: two packages in one process would release each other's locks
 * (https://www.sqlite.org/howtocorrupt.html, section 2.2.1).
 */
export const sqlitePackage = (choice: SqlitePackageChoice): SqlitePackage =>
  getOrAdd(found, choice, () => findSqlitePackage(choice));

/**
 * Loads the package and its compiled part. The error of knex would only say that the package must be installed, even if it is.
 * @throws StartError `database-client-unusable`, with the problem and the command that fixes it
 */
export function findSqlitePackage(
  choice: SqlitePackageChoice,
  load: Load = createRequire(import.meta.url),
  hasBuiltin: (name: string) => boolean = isBuiltin,
): SqlitePackage {
  if (choice !== 'auto') return { name: choice, loaded: loadPackage(choice, load, hasBuiltin), unusable: {} };
  const unusable: Record<string, string> = {};
  for (const name of AUTOMATIC) {
    try {
      return { name, loaded: loadPackage(name, load, hasBuiltin), unusable };
    } catch (error) {
      unusable[name] = reasonOf(name, error instanceof StartError ? error.cause : error);
    }
  }
  const reasons = Object.entries(unusable).map(([name, reason]) => `${name}: ${reason}`);
  throw new StartError(
    'database-client-unusable',
    `No package for SQLite can be used by ${HERE} (${reasons.join('; ')}). ` +
      `To fix: cd ${PROGRAM_FOLDER} && npm install --omit=dev --include=optional, or install Node 22.13 or newer`,
  );
}

const HERE = `Node ${process.versions.node} on ${process.platform}-${process.arch}`;

function loadPackage(name: SqlitePackageName, load: Load, hasBuiltin: (name: string) => boolean): unknown {
  try {
    if (name === 'node:sqlite') {
      if (!hasBuiltin(name)) throw new Error('needs Node 22.13 or newer');
      return threaded(name);
    }
    const loaded = load(name) as Record<string, new (file: string) => { close(): void }>;
    if (name === 'sqlite3') return loaded;
    // The others load their compiled part with the first connection.
    const Database = name === 'better-sqlite3' ? (loaded as never) : loaded['DatabaseSync'];
    new (Database as new (file: string) => { close(): void })(':memory:').close();
    return threaded(name);
  } catch (error) {
    throw unusable(name, error);
  }
}

function threaded(name: ThreadedPackageName) {
  class Database extends ThreadedConnection {
    constructor(file: string, _flags: number, done: (error: Error | null) => void) {
      super(name, file, done);
    }
  }
  return { OPEN_READWRITE, OPEN_CREATE, Database };
}

/** Why a package cannot be loaded, in one line. */
function reasonOf(name: SqlitePackageName, error: unknown): string {
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split(/[.\s]*Tried:|\n/);
  const isMissing = codeOf(error) === 'MODULE_NOT_FOUND' && reason.includes(`'${name}'`);
  return isMissing ? NOT_INSTALLED : reason;
}

const NOT_INSTALLED = 'not installed';

function unusable(name: SqlitePackageName, error: unknown): StartError {
  const refusal = (text: string) => new StartError('database-client-unusable', text, { cause: error });
  if (name === 'node:sqlite') {
    return refusal(
      `${HERE} has no module node:sqlite. To fix: install Node 22.13 or newer, or choose another database.client`,
    );
  }
  const reason = reasonOf(name, error);
  if (reason !== NOT_INSTALLED) {
    // `bindings` found no compiled addon, or the system could not load it.
    return refusal(
      `The compiled part of the package ${name} cannot be loaded by ${HERE} (${reason}). To fix: ` +
        `cd ${PROGRAM_FOLDER} && npm rebuild ${name} --ignore-scripts=false --foreground-scripts, or set database.client to auto`,
    );
  }
  const install =
    name === 'better-sqlite3'
      ? `npm install --no-save --save-prod --omit=dev ${name}`
      : 'npm install --omit=dev --include=optional';
  return refusal(
    `The package ${name} is not installed. To fix: cd ${PROGRAM_FOLDER} && ${install}, or set database.client to auto`,
  );
}
