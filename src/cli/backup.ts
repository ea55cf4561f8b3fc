// `pulsegate backup` and `pulsegate restore`: the whole database as one file.
import { resolve } from 'node:path';
import { restoreStore } from '../store/sqlite-restore.js';
import { type AddCommands, CommandError, load, printLine } from './command.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';

export const addBackupCommands: AddCommands = (program, around) => {
  program
    .command('backup')
    .argument('<file>', 'a new file; it holds password hashes, and is made readable for you alone')
    .description('write a whole copy of the database, also while the daemon runs')
    .action(async (file: string, _options, command) => {
      const { config } = await load(command, around);
      const target = resolve(file);
      await withCore(config, (core) =>
        core.store.backup(target).catch((error: unknown) => failed(target, error)),
      );
      printLine(around.stdout, `The backup was written to ${target}`);
    });

  program
    .command('restore')
    .argument('<file>', 'what backup wrote')
    .description('replace the database by a backup; the daemon must be stopped')
    .option('--yes', 'do not ask')
    .action(async (file: string, options: { yes?: true }, command) => {
      const { config } = await load(command, around);
      await confirm(around, options.yes ?? false, `The database in ${config.dataDir} will be replaced.`);
      const kept = await restoreStore({ dataDir: config.dataDir, from: resolve(file), now: Date.now });
      printLine(around.stdout, kept ? `Restored. What was there before is in ${kept}` : 'Restored.');
    });
};

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'it exists already. Choose a new name',
  ENOENT: 'its folder does not exist',
  EACCES: 'this user may not write there',
  ENOSPC: 'the disk is full',
};

function failed(file: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  throw new CommandError(
    `The backup cannot be written to ${file}: ${REASONS[code] ?? (code || 'unknown reason')}.`,
  );
}
