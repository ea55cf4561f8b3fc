// `pulsegate backup`, `restore` and `database copy`: copies the database to a file and back, and to a database of the other kind.
import { randomUUID } from 'node:crypto';
import { mkdtemp, open, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config.js';
import { StartError } from '../core/errors.js';
import type { CopyOptions } from '../store/copy.js';
import type { Keep, Restored, RestoredContents } from '../store/sqlite/restore.js';
import { type CommandIo, cannotWrite, STDIO, writeToStdout, wrongUsage } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { param } from './shared/params.js';
import { isYes } from './shared/prompt.js';
import type { Run } from './shared/run.js';
import { printTable } from './shared/table.js';

export const addBackup: AddCommands = (program) =>
  program
    .command('backup', 'back up the database; works while the daemon runs', {
      file: '<file>  new file to write (-: stdout); it contains password hashes and gets mode 0600',
    })
    .examples('backup monday.db', 'backup - | gzip > monday.db.gz')
    .runs(async (run, { file }) => {
      const { database, dataDir } = (await run.load()).config;
      if (database.client === 'pg') throw wrongUsage(BACKUP_WITH_PG);
      if (file === STDIO) return backupToStdout(run, dataDir);
      const target = resolve(file);
      await backupTo(run, target);
      return `Backup written to ${target}`;
    });

export const addRestore: AddCommands = (program) =>
  program
    .command('restore', 'replace the database with a backup; stop the daemon first', {
      file: '<file>  backup file (-: stdin)',
      keep: {
        tokens: '--keep-tokens  also restore API tokens; tokens revoked since the backup become valid again',
        runs: '--keep-runs  also restore unfinished runs and undelivered replies; runs finished since the backup run again',
      },
      yes: '--yes  skip the questions; restores neither tokens nor runs unless the options above are given',
    })
    .help('\nConsole sessions are never restored: all users must sign in again.')
    .runs(async (run, { file, keep: given = {} }) => {
      const { dataDir, database } = (await run.load()).config;
      const { client } = database;
      if (client === 'pg') throw wrongUsage(RESTORE_WITH_PG);
      await run.confirm(`The database in ${dataDir} will be replaced.`);
      const { restoreStore } = await import('../store/sqlite/restore.js');
      const keep = (found: RestoredContents) => choosePartsToRestore(run, given, found);
      const restore = (from: string) => restoreStore({ client, dataDir, from, now: Date.now, keep });
      return restoredText(
        file === STDIO ? await restoreStdin(run.io, restore) : await restore(resolve(file)),
      );
    });

const BACKUP_WITH_PG =
  'database.client is pg: back up a PostgreSQL database with pg_dump: pg_dump -Fc -f FILE postgres://USER@HOST/NAME';
const RESTORE_WITH_PG =
  'database.client is pg: restore a PostgreSQL database with pg_restore. Stop all daemons that use it, then run: ' +
  'pg_restore --clean --if-exists -d postgres://USER@HOST/NAME FILE (FILE is the output of pg_dump -Fc).';

const PARTS = {
  tokens: ['API tokens', 'Tokens revoked since the backup would become valid again.'],
  runs: ['unfinished runs', 'Runs finished since the backup would run again.'],
} as const;

/** Without a flag, asks on a terminal. Without a terminal, or with `--yes`, drops the part. */
async function choosePartsToRestore(
  { io, yes }: Run,
  given: Partial<Keep>,
  found: RestoredContents,
): Promise<Keep> {
  const decide = async (part: keyof typeof PARTS): Promise<boolean> => {
    const [what, risk] = PARTS[part];
    const question = `The backup contains ${what} (${found[part]}). ${risk} Restore them?`;
    const mayAsk = !yes && io.stdin.isTTY === true && found[part] > 0;
    return given[part] ?? (mayAsk && (await isYes(io, question)));
  };
  return { tokens: await decide('tokens'), runs: await decide('runs') };
}

function restoredText({ replaced, setAside, found, kept }: Restored): string {
  const lines = [
    replaced ? `Restored. The previous database is in ${replaced}` : 'Restored.',
    setAside && `The write-ahead log of the file before that is in ${setAside}`,
    !kept.tokens &&
      found.tokens > 0 &&
      `API tokens not restored: ${found.tokens}. Use --keep-tokens to restore them.`,
    !kept.runs && found.runs > 0 && `Unfinished runs cancelled: ${found.runs}. Use --keep-runs to run them.`,
  ];
  return lines.filter(Boolean).join('\n');
}

async function backupTo({ core }: Run, file: string): Promise<void> {
  const { store } = await core();
  await store.backup(file).catch((error: unknown) => {
    throw error instanceof StartError ? error : cannotWrite('backup', file, error);
  });
}

/** SQLite cannot back up to a stream, so this writes a temporary file in the data folder and unlinks it before reading. */
async function backupToStdout(run: Run, dataDir: string): Promise<undefined> {
  const { io } = run;
  if (io.stdout.isTTY) throw wrongUsage('A backup is binary data. Write it to a file: pulsegate backup FILE');
  const path = join(dataDir, `backup-${randomUUID()}.tmp`);
  await backupTo(run, path);
  const handle = await open(path);
  await unlink(path);
  try {
    // If the reader closes the pipe early, the process exits with 1: the backup is incomplete.
    process.exitCode = 1;
    await writeToStdout(handle.createReadStream({ autoClose: false }), io);
    process.exitCode = 0;
  } finally {
    await handle.close();
  }
}

/** Copies stdin to a file in a temporary folder that only this user can access. */
async function restoreStdin<T>({ stdin }: CommandIo, restore: (from: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-restore-'));
  try {
    const file = join(folder, 'stdin');
    await writeFile(file, stdin, { mode: 0o600 });
    return await restore(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export const addDatabaseCommands: AddCommands = (program) =>
  program
    .group('database', 'move the database between SQLite and PostgreSQL')
    .command(
      'copy',
      'copy the database of the configuration to a new one, and compare them; stop the daemon first',
      {
        to: param(
          '--to <target>  postgres://USER@HOST:5432/NAME of an empty database, or the data folder of a new SQLite database',
        ).required(),
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

async function copy(config: Config, to: string, io: CommandIo): Promise<string> {
  const { storeOptions } = await import('../parts/database/database.js');
  const { copyStore } = await import('../store/copy.js');
  const source = storeOptions(config);
  const { busyTimeoutMs, poolSize } = config.database;
  const toPg = { client: 'pg', dataDir: config.dataDir, poolSize } as const;
  const options: CopyOptions =
    source.client === 'pg'
      ? {
          pg: source,
          sqlite: { client: 'auto', dataDir: await dataFolderOf(to), busyTimeoutMs },
          to: 'sqlite3',
        }
      : { sqlite: source, pg: { ...toPg, connection: connectionOf(to) }, to: 'pg' };
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
  throw wrongUsage(
    'The database of the configuration is SQLite, so --to is postgres://USER@HOST:5432/NAME. For a copy in SQLite use: pulsegate backup FILE',
  );
}

async function dataFolderOf(to: string): Promise<string> {
  if (/^[a-z]+:\/\//i.test(to)) {
    throw wrongUsage(
      'The database of the configuration is PostgreSQL, so --to is a data folder. For a copy in PostgreSQL use: pg_dump -Fc',
    );
  }
  const path = resolve(to);
  if (basename(path) === 'pulsegate.db') return dirname(path);
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() || (!found && !/\.\w+$/.test(basename(path)))) return path;
  throw wrongUsage(`--to ${to} is not a data folder. The SQLite database is the file pulsegate.db in it.`);
}

/** Shows progress in one line on a terminal, and nothing elsewhere. */
function createProgress({ stderr }: CommandIo) {
  const write = (text: string) => (stderr.isTTY ? stderr.write(`\r\x1b[K${text}`) : undefined);
  return {
    show: (table: string, rows: number) => void write(`${table}: ${rows} rows`),
    clear: () => void write(''),
  };
}
