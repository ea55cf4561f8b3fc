// `pulsegate database copy`: moves the database between SQLite and PostgreSQL.
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Config } from '../config.js';
import type { CopyOptions } from '../store/copy.js';
import { CommandError, type CommandIo } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { printTable } from './shared/table.js';

export const addDatabaseCommands: AddCommands = (program) => {
  program
    .group('database', 'move the database between SQLite and PostgreSQL')
    .command(
      'copy',
      'copy the database of the configuration to a new one, and compare them; stop the daemon first',
      {
        '--to <target>': {
          help: 'postgres://USER@HOST:5432/NAME of an empty database, or the data folder of a new SQLite database',
          isRequired: true,
        },
      },
    )
    .help(
      `
The target must be empty. A copy that was interrupted leaves nothing behind: run the command again.
Set PGPASSWORD or use ~/.pgpass to keep the password out of the process list.`,
    )
    .examples(
      'database copy --to postgres://pulsegate@db.example:5432/pulsegate',
      'database copy --to /var/lib/pulsegate --config /etc/pulsegate/fleet.yaml',
    )
    .runs(async ({ io, load }, { to }) => copy((await load()).config, to, io));
};

async function copy(config: Config, to: string, io: CommandIo): Promise<string> {
  const { storeOptions } = await import('../parts/database/database.js');
  const { copyStore } = await import('../store/copy.js');
  const source = storeOptions(config);
  const { busyTimeoutMs, poolSize } = config.database;
  const options: CopyOptions =
    source.client === 'pg'
      ? {
          pg: source,
          sqlite: { client: 'auto', dataDir: await dataFolderOf(to), busyTimeoutMs },
          to: 'sqlite3',
        }
      : {
          sqlite: source,
          pg: { client: 'pg', dataDir: config.dataDir, connection: connectionOf(to), poolSize },
          to: 'pg',
        };
  const progress = createProgress(io);
  const copied = await copyStore({ ...options, onProgress: progress.show }).finally(progress.clear);
  printTable(io, copied, [{ TABLE: 'table', ROWS: 'rows', SUM: 'sum', CHECKSUM: 'checksum' }]);
  const rows = copied.reduce((total, table) => total + table.rows, 0);
  const next =
    source.client === 'pg'
      ? 'set dataDir to the new folder, remove the section database, and start the daemon.'
      : 'set database.client to pg and database.connectionFile, and start the daemon.';
  return `Copied ${rows} rows. Read back, both databases are equal. The source is unchanged.\nNext: ${next}`;
}

/** Returns the connection string. Never print it: it may contain a password. */
function connectionOf(to: string): string {
  if (/^postgres(ql)?:\/\//.test(to)) return to;
  throw new CommandError(
    'The database of the configuration is SQLite, so --to is postgres://USER@HOST:5432/NAME. For a copy in SQLite use: pulsegate backup FILE',
    2,
  );
}

async function dataFolderOf(to: string): Promise<string> {
  if (/^[a-z]+:\/\//i.test(to)) {
    throw new CommandError(
      'The database of the configuration is PostgreSQL, so --to is a data folder. For a copy in PostgreSQL use: pg_dump -Fc',
      2,
    );
  }
  const path = resolve(to);
  if (basename(path) === 'pulsegate.db') return dirname(path);
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() || (!found && !/\.\w+$/.test(basename(path)))) return path;
  throw new CommandError(
    `--to ${to} is not a data folder. The SQLite database is the file pulsegate.db in it.`,
    2,
  );
}

/** Shows progress in one line on a terminal, and nothing elsewhere. */
function createProgress({ stderr }: CommandIo) {
  const write = (text: string) => (stderr.isTTY ? stderr.write(`\r\x1b[K${text}`) : undefined);
  return {
    show: (table: string, rows: number) => void write(`${table}: ${rows} rows`),
    clear: () => void write(''),
  };
}
