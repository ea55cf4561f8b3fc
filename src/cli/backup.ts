// `pulsegate backup` and `pulsegate restore`: the whole database as one file.
import { randomUUID } from 'node:crypto';
import { mkdtemp, open, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Loaded } from '../config.js';
import { StartError } from '../core/errors.js';
import type { Keep, RestoredContents } from '../store/restored-contents.js';
import type { Restored } from '../store/sqlite-restore.js';
import { type AddCommands, CommandError, load, printLine, type Surroundings } from './command.js';
import { confirm, isYes } from './prompt.js';
import { STDIO, writeToStdout } from './stdio.js';
import { withCore } from './store.js';

export const addBackup: AddCommands = (program, around) => {
  program
    .command('backup')
    .argument(
      '<file>',
      'a new file; it holds password hashes, and is made readable for you alone; - for stdout',
    )
    .description('write a whole copy of the database, also while the daemon runs')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate backup monday.db\n  pulsegate backup - | gzip > monday.db.gz',
    )
    .action(async (file: string, _options, command) => {
      const loaded = await load(command, around);
      if (file === STDIO) return backupToStdout(loaded, around);
      const target = resolve(file);
      await withCore(loaded, (core) =>
        core.store.backup(target).catch((error: unknown) => failed(target, error)),
      );
      printLine(around.stdout, `The backup was written to ${target}`);
    });
};

export const addRestore: AddCommands = (program, around) => {
  program
    .command('restore')
    .argument('<file>', 'what backup wrote; - for stdin')
    .description('replace the database by a backup; the daemon must be stopped')
    .option('--keep-tokens', 'restore API tokens too; those revoked since the backup are valid again')
    .option(
      '--keep-runs',
      'restore unfinished runs and undelivered replies too; those done since the backup are done again',
    )
    .option('--yes', 'do not ask; without the two options above neither is restored')
    .addHelpText('after', '\nConsole sessions are never restored: everybody signs in again.')
    .action(async (file: string, options: RestoreFlags, command) => {
      const { config } = await load(command, around);
      const { client } = config.database;
      if (client === 'pg') throw new CommandError(RESTORE_WITH_PG);
      await confirm(around, options.yes ?? false, `The database in ${config.dataDir} will be replaced.`);
      const { restoreStore } = await import('../store/sqlite-restore.js');
      const keep = (found: RestoredContents) => chooseKept(around, options, found);
      const restore = (from: string) =>
        restoreStore({ client, dataDir: config.dataDir, from, now: Date.now, keep });
      const restored = file === STDIO ? await restoreStdin(around, restore) : await restore(resolve(file));
      printRestored(around, restored);
    });
};

const RESTORE_WITH_PG =
  "database.client is pg: a PostgreSQL database is restored with PostgreSQL's own program. Stop every daemon on it, then: " +
  'pg_restore --clean --if-exists -d postgres://USER@HOST/NAME FILE (FILE is what pg_dump -Fc wrote).';

interface RestoreFlags {
  readonly keepTokens?: true;
  readonly keepRuns?: true;
  readonly yes?: true;
}

/** What a flag does not say is asked for on a terminal; without one, or with `--yes`, it is dropped. */
async function chooseKept(
  around: Surroundings,
  { keepTokens, keepRuns, yes }: RestoreFlags,
  found: RestoredContents,
): Promise<Keep> {
  const mayAsk = !yes && around.stdin.isTTY === true;
  const decide = async (isKept: boolean | undefined, count: number, question: string) =>
    isKept ?? (mayAsk && count > 0 && (await isYes(around, question)));
  return {
    tokens: await decide(
      keepTokens,
      found.tokens,
      `The backup holds API tokens (${found.tokens}). Those revoked since would be valid again. Restore them?`,
    ),
    runs: await decide(
      keepRuns,
      found.runs,
      `The backup holds unfinished runs (${found.runs}). Those done since would be done again. Restore them?`,
    ),
  };
}

function printRestored({ stdout }: Surroundings, { replaced, found, kept }: Restored): void {
  printLine(stdout, replaced ? `Restored. What was there before is in ${replaced}` : 'Restored.');
  if (found.tokens > 0 && !kept.tokens)
    printLine(stdout, `API tokens not restored: ${found.tokens}. With --keep-tokens they are.`);
  if (found.runs > 0 && !kept.runs)
    printLine(stdout, `Unfinished runs cancelled: ${found.runs}. With --keep-runs they are run.`);
}

/** By way of a file beside the database, since SQLite writes no streams; it has no name any more when it is read. */
async function backupToStdout(loaded: Loaded, around: Surroundings): Promise<void> {
  if (around.stdout.isTTY)
    throw new CommandError('A backup is nothing to read. Write it to a file: pulsegate backup FILE', 2);
  const path = join(loaded.config.dataDir, `backup-${randomUUID()}.tmp`);
  await withCore(loaded, (core) => core.store.backup(path).catch((error: unknown) => failed(path, error)));
  const handle = await open(path);
  await unlink(path);
  try {
    // A reader that goes away before the end has no backup.
    process.exitCode = 1;
    await writeToStdout(handle.createReadStream({ autoClose: false }), around);
    process.exitCode = 0;
  } finally {
    await handle.close();
  }
}

/** By way of a file of a folder that only this user may look into. */
async function restoreStdin<T>({ stdin }: Surroundings, restore: (from: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-restore-'));
  try {
    const file = join(folder, 'stdin');
    await writeFile(file, stdin, { mode: 0o600 });
    return await restore(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'it exists already. Choose a new name',
  ENOENT: 'its folder does not exist',
  EACCES: 'this user may not write there',
  ENOSPC: 'the disk is full',
};

function failed(file: string, error: unknown): never {
  if (error instanceof StartError) throw error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  throw new CommandError(
    `The backup cannot be written to ${file}: ${REASONS[code] ?? (code || 'unknown reason')}.`,
  );
}
