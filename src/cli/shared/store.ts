// Opens the database for one command. A running daemon reads the changes from it.
import type { Loaded } from '../../config.js';
import { StartError } from '../../core/errors.js';
import type { Core } from '../../parts/core.js';
import { CommandError } from './command.js';

/**
 * Creates a missing database only with `mayCreate`: otherwise a wrong folder or a forgotten `--config` would silently use a new,
 * empty database.
 * @throws CommandError when there is no database; StartError like openCore
 */
export async function openDatabase({ config, file }: Loaded, mayCreate: boolean): Promise<Core> {
  // Imported here because help, completion and `config check` need neither knex nor a database package.
  const { openCore } = await import('../../parts/core.js');
  return openCore(config, { mayCreate }).catch((error: unknown) => {
    if (!(error instanceof StartError && error.code === 'database-missing')) throw error;
    const of = file ?? 'the built-in configuration';
    const [missing, create] =
      config.database.client === 'pg'
        ? [`The PostgreSQL database of ${of} has no Pulsegate tables.`, 'create the tables']
        : [`No database in ${config.dataDir} (dataDir of ${of}).`, 'create a new database'];
    throw new NoDatabase(
      `${missing}\nGive the daemon's configuration with --config FILE, or ${create}: pulsegate serve, or pulsegate account add NAME.`,
    );
  });
}

class NoDatabase extends CommandError {}

/** Calls `work` with the database, and closes it; returns undefined when there is none. */
export async function withExistingCore<T>(
  loaded: Loaded,
  work: (core: Core) => Promise<T>,
): Promise<T | undefined> {
  const core = await openDatabase(loaded, false).catch((error: unknown) => {
    if (!(error instanceof NoDatabase)) throw error;
  });
  return core ? work(core).finally(() => core.store.close()) : undefined;
}
