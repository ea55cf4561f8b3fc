// `pulsegate backup` and `pulsegate restore`: copies the database to a file and back.
import { randomUUID } from 'node:crypto';
import { mkdtemp, open, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Loaded } from '../config.js';
import { StartError } from '../core/errors.js';
import type { Keep, RestoredContents } from '../store/restored-contents.js';
import type { Restored } from '../store/sqlite/restore.js';
import { type AddCommands, CommandError, type CommandIo, load, printLine } from './shared/command.js';
import { cannotWrite } from './shared/output-file.js';
import { confirm, isYes } from './shared/prompt.js';
import { STDIO, writeToStdout } from './shared/stdio.js';
import { withCore } from './shared/store.js';

export const addBackup: AddCommands = (program, io) => {
  program
    .command('backup')
    .argument('<file>', 'new file to write (-: stdout); it contains password hashes and gets mode 0600')
    .description('back up the database; works while the daemon runs')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate backup monday.db\n  pulsegate backup - | gzip > monday.db.gz',
    )
    .action(async (file: string, _options, command) => {
      const loaded = await load(command, io);
      if (loaded.config.database.client === 'pg') throw new CommandError(BACKUP_WITH_PG, 2);
      if (file === STDIO) return backupToStdout(loaded, io);
      const target = resolve(file);
      await withCore(loaded, (core) =>
        core.store.backup(target).catch((error: unknown) => failed(target, error)),
      );
      printLine(io.stdout, `Backup written to ${target}`);
    });
};

export const addRestore: AddCommands = (program, io) => {
  program
    .command('restore')
    .argument('<file>', 'backup file (-: stdin)')
    .description('replace the database with a backup; stop the daemon first')
    .option('--keep-tokens', 'also restore API tokens; tokens revoked since the backup become valid again')
    .option(
      '--keep-runs',
      'also restore unfinished runs and undelivered replies; runs finished since the backup run again',
    )
    .option(
      '--yes',
      'skip the questions; restores neither tokens nor runs unless the options above are given',
    )
    .addHelpText('after', '\nConsole sessions are never restored: all users must sign in again.')
    .action(async (file: string, options: RestoreFlags, command) => {
      const { config } = await load(command, io);
      const { client } = config.database;
      if (client === 'pg') throw new CommandError(RESTORE_WITH_PG, 2);
      await confirm(io, options.yes, `The database in ${config.dataDir} will be replaced.`);
      const { restoreStore } = await import('../store/sqlite/restore.js');
      const keep = (found: RestoredContents) => choosePartsToRestore(io, options, found);
      const restore = (from: string) =>
        restoreStore({ client, dataDir: config.dataDir, from, now: Date.now, keep });
      const restored = file === STDIO ? await restoreStdin(io, restore) : await restore(resolve(file));
      printRestored(io, restored);
    });
};

const BACKUP_WITH_PG =
  'database.client is pg: back up a PostgreSQL database with pg_dump: pg_dump -Fc -f FILE postgres://USER@HOST/NAME';
const RESTORE_WITH_PG =
  'database.client is pg: restore a PostgreSQL database with pg_restore. Stop all daemons that use it, then run: ' +
  'pg_restore --clean --if-exists -d postgres://USER@HOST/NAME FILE (FILE is the output of pg_dump -Fc).';

interface RestoreFlags {
  readonly keepTokens?: true;
  readonly keepRuns?: true;
  readonly yes?: true;
}

/** Without a flag, asks on a terminal. Without a terminal, or with `--yes`, drops the part. */
async function choosePartsToRestore(
  io: CommandIo,
  { keepTokens, keepRuns, yes }: RestoreFlags,
  found: RestoredContents,
): Promise<Keep> {
  const mayAsk = !yes && io.stdin.isTTY === true;
  const decide = async (isKept: boolean | undefined, count: number, question: string) =>
    isKept ?? (mayAsk && count > 0 && (await isYes(io, question)));
  return {
    tokens: await decide(
      keepTokens,
      found.tokens,
      `The backup contains API tokens (${found.tokens}). Tokens revoked since the backup would become valid again. Restore them?`,
    ),
    runs: await decide(
      keepRuns,
      found.runs,
      `The backup contains unfinished runs (${found.runs}). Runs finished since the backup would run again. Restore them?`,
    ),
  };
}

function printRestored({ stdout }: CommandIo, { replaced, setAside, found, kept }: Restored): void {
  printLine(stdout, replaced ? `Restored. The previous database is in ${replaced}` : 'Restored.');
  if (setAside) printLine(stdout, `The write-ahead log of the file before that is in ${setAside}`);
  if (found.tokens > 0 && !kept.tokens)
    printLine(stdout, `API tokens not restored: ${found.tokens}. Use --keep-tokens to restore them.`);
  if (found.runs > 0 && !kept.runs)
    printLine(stdout, `Unfinished runs cancelled: ${found.runs}. Use --keep-runs to run them.`);
}

/** SQLite cannot back up to a stream, so this writes a temporary file in the data folder and unlinks it before reading. */
async function backupToStdout(loaded: Loaded, io: CommandIo): Promise<void> {
  if (io.stdout.isTTY)
    throw new CommandError('A backup is binary data. Write it to a file: pulsegate backup FILE', 2);
  const path = join(loaded.config.dataDir, `backup-${randomUUID()}.tmp`);
  await withCore(loaded, (core) => core.store.backup(path).catch((error: unknown) => failed(path, error)));
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

function failed(file: string, error: unknown): never {
  if (error instanceof StartError) throw error;
  throw cannotWrite('backup', file, error);
}
