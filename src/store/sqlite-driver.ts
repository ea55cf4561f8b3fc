// Selects the package for the SQLite file, and adapts it to the interface of the sqlite3 package, which knex uses.
import { createRequire, isBuiltin } from 'node:module';
import { codeOf, StartError } from '../core/errors.js';
import { PROGRAM_FOLDER } from '../program.js';
import { ThreadedConnection } from './sqlite-threaded.js';

export type SqliteClientName = 'sqlite3' | 'better-sqlite3' | 'node:sqlite';

/** https://www.sqlite.org/c3ref/c_open_autoproxy.html; the threaded clients always create. */
const OPEN_READWRITE = 0x02;
const OPEN_CREATE = 0x04;

type Load = (name: string) => unknown;

/**
 * Loads the client and its compiled part. The error of knex would only say that the package must be installed, even if it is.
 * @returns the driver, as knex calls it
 * @throws StartError `database-client-unusable`, with the problem and the command that fixes it
 */
export function loadDriver(
  client: SqliteClientName,
  load: Load = createRequire(import.meta.url),
  hasBuiltin: (name: string) => boolean = isBuiltin,
): unknown {
  if (client === 'node:sqlite') {
    if (!hasBuiltin(client)) throw unusable(client, new Error('it has no module node:sqlite'));
    return threaded(client);
  }
  try {
    const loaded = load(client);
    if (client === 'sqlite3') return loaded;
    // better-sqlite3 loads its compiled part with the first connection.
    new (loaded as new (file: string) => { close(): void })(':memory:').close();
    return threaded(client);
  } catch (error) {
    throw unusable(client, error);
  }
}

function threaded(client: Exclude<SqliteClientName, 'sqlite3'>) {
  class Database extends ThreadedConnection {
    constructor(file: string, _flags: number, done: (error: Error | null) => void) {
      super(client, file, done);
    }
  }
  return { OPEN_READWRITE, OPEN_CREATE, Database };
}

/** @param error the error of loading the client */
function unusable(client: SqliteClientName, error: unknown): StartError {
  const on = `Node ${process.versions.node} on ${process.platform}-${process.arch}`;
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split(/[.\s]*Tried:|\n/);
  const refusal = (text: string) => new StartError('database-client-unusable', text, { cause: error });
  if (client === 'node:sqlite') {
    return refusal(
      `${on} has no module node:sqlite. To fix: install Node 22.13 or newer, or choose another database.client`,
    );
  }
  const isMissing = codeOf(error) === 'MODULE_NOT_FOUND' && reason.includes(`'${client}'`);
  if (!isMissing) {
    // `bindings` found no compiled addon, or the system could not load it.
    return refusal(
      `The compiled part of the package ${client} cannot be loaded by ${on} (${reason}). To fix: ` +
        `cd ${PROGRAM_FOLDER} && npm rebuild ${client} --ignore-scripts=false --foreground-scripts`,
    );
  }
  const install =
    client === 'sqlite3'
      ? 'npm install --omit=dev'
      : `npm install --no-save --save-prod --omit=dev ${client}`;
  return refusal(`The package ${client} is not installed. To fix: cd ${PROGRAM_FOLDER} && ${install}`);
}
