// Opens the database for one command. A running daemon reads the changes from it.
import type { Config, Loaded } from '../../config.js';
import { StartError } from '../../core/errors.js';
import type { Core } from '../../parts/core.js';
import { CommandError } from './command.js';

/**
 * Creates a missing database only with `mayCreate`: otherwise a wrong folder or a forgotten `--config` would silently use a new,
 * empty database.
 * @throws CommandError when there is no database; StartError like openCore
 */
export async function openDatabase({ config, file }: Loaded, mayCreate: boolean): Promise<Core> {
  const core = await open(config, mayCreate);
  if (!core) throw missing(config, file);
  return core;
}

/** Calls `work` with the database, and closes it; returns undefined when there is none. */
export async function withExistingCore<T>(
  { config }: Loaded,
  work: (core: Core) => Promise<T>,
): Promise<T | undefined> {
  const core = await open(config, false);
  return core ? work(core).finally(() => core.store.close()) : undefined;
}

/** Null when there is no database and `mayCreate` is false. */
async function open(config: Config, mayCreate: boolean): Promise<Core | null> {
  // Imported here because help, completion and `config check` need neither knex nor a database package.
  const { openCore } = await import('../../parts/core.js');
  return openCore(config, { mayCreate }).catch((error: unknown) => {
    if (error instanceof StartError && error.code === 'database-missing') return null;
    throw error;
  });
}

function missing({ dataDir, database }: Config, file: string | null): CommandError {
  const source = file === null ? 'the built-in configuration' : file;
  if (database.client === 'pg') {
    return new CommandError(
      `The PostgreSQL database of ${source} has no Pulsegate tables.\n` +
        "Give the daemon's configuration with --config FILE, or create the tables: pulsegate serve, or pulsegate account add NAME.",
    );
  }
  return new CommandError(
    `No database in ${dataDir} (dataDir of ${source}).\n` +
      "Give the daemon's configuration with --config FILE, or create a new database: pulsegate serve, or pulsegate account add NAME.",
  );
}
