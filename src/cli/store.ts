// Opens the daemon's own database for one command. A running daemon hears of the changes through it.

import type { Config, Loaded } from '../config.js';
import { StartError } from '../core/errors.js';
import type { Core } from '../parts/core.js';
import { CommandError } from './command.js';

/**
 * Opens the database, calls `work`, and closes it whatever happens. Where there is none it is made only with `mayCreate`:
 * in the wrong folder, or without `--config`, an empty database would be taken for the daemon's.
 * @throws CommandError where there is no database; StartError as openCore; whatever `work` throws
 */
export async function withCore<T>(
  { config, file }: Loaded,
  work: (core: Core) => Promise<T>,
  { mayCreate = false } = {},
): Promise<T> {
  const core = await open(config, mayCreate);
  if (!core) throw missing(config, file);
  return work(core).finally(() => core.store.close());
}

/** The same, but undefined where there is no database. */
export async function withCoreIfThere<T>(
  { config }: Loaded,
  work: (core: Core) => Promise<T>,
): Promise<T | undefined> {
  const core = await open(config, false);
  return core ? work(core).finally(() => core.store.close()) : undefined;
}

/** Null where there is no database and none may be made. */
async function open(config: Config, mayCreate: boolean): Promise<Core | null> {
  // Only now: help, completion and the checks of the configuration need neither knex nor sqlite3.
  const { openCore } = await import('../parts/core.js');
  return openCore(config, { mayCreate }).catch((error: unknown) => {
    if (error instanceof StartError && error.code === 'database-missing') return null;
    throw error;
  });
}

function missing({ dataDir, database }: Config, file: string | null): CommandError {
  const whose = file === null ? 'the built-in configuration' : file;
  if (database.client === 'pg') {
    return new CommandError(
      `The PostgreSQL database of ${whose} holds nothing of Pulsegate's yet.\n` +
        "Give the daemon's configuration with --config FILE; or begin in this one: pulsegate serve, or pulsegate account add NAME.",
    );
  }
  return new CommandError(
    `There is no database in ${dataDir} (dataDir of ${whose}).\n` +
      "Give the daemon's configuration with --config FILE; or begin a new database: pulsegate serve, or pulsegate account add NAME.",
  );
}
