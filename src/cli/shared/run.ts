// What a command that runs works with, each opened by its first use: the configuration, the API, the database.
import type { Command } from 'commander';
import type { Loaded } from '../../config.js';
import { StartError } from '../../core/errors.js';
import { once } from '../../core/time/turns.js';
import type { Call } from '../../http/in-process.js';
import type { Core } from '../../parts/core.js';
import { type Api, apiOver, type Refusals } from './api.js';
import { CommandError, type CommandIo, cliActor, printLine } from './command.js';
import { confirm } from './prompt.js';

/** Its calls go to the running daemon, if it has this version and this database and answers; otherwise to the database. */
export interface Run extends Api {
  readonly io: CommandIo;
  /** The configuration file that the program is given. */
  readonly file: string | undefined;
  /** Whether `--json` and `--yes` are given. */
  readonly json: boolean;
  readonly yes: boolean;
  load(): Promise<Loaded>;
  /** The API of the database, also when the daemon runs. */
  readonly database: Api;
  /** The database, for work that a command does by itself. */
  core(): Promise<Core>;
  print(line: string): void;
  /** Prints a line to stderr. */
  note(line: string): void;
  /** Asks before `what` happens, unless `--yes` is given. @throws CommandError when it is not confirmed */
  confirm(what: string): Promise<void>;
}

/** Live sessions are the daemon's. */
const ofDaemon = ({ path }: Call): boolean => path.startsWith('/sessions');

/**
 * All throw CommandError when there is no database, and StartError like openCore. `close` closes the database, if it is open.
 * @param refusals what all calls say of refused operations
 * @param mayCreate whether a missing database is created, by the options of the command
 */
export function openRun(
  command: Command,
  io: CommandIo,
  refusals: Refusals,
  mayCreate: (options: Readonly<Record<string, unknown>>) => boolean,
): Run & { close(): Promise<void> } {
  const { config: file, json = false, yes = false } = command.optsWithGlobals();
  const print = (line: string): void => printLine(io.stdout, line);
  const note = (line: string): void => printLine(io.stderr, line);
  // Imported here because help and completion need neither zod nor yaml.
  const load = once(async () => (await import('../../config.js')).loadConfig({ file, env: io.env }));
  let opened: Promise<Core> | undefined;
  const core = once(async () => {
    opened = openDatabase(await load(), mayCreate(command.opts()));
    return opened;
  });
  const database = once(async () => {
    const { openCommandApi } = await import('../../parts/admin/command-api.js');
    const onError = (error: unknown) => note(`Database write failed: ${String(error)}`);
    return openCommandApi(await core(), (await load()).config, cliActor().name, onError);
  });
  const hasDaemon = once(async () => {
    const { config } = await load();
    return (await import('./daemon.js')).isDaemonOf(config);
  });
  const callDatabase = async (call: Call) => (await database())(call);
  const send = async (call: Call) => {
    if (!ofDaemon(call) && !(await hasDaemon())) return callDatabase(call);
    const { config } = await load();
    return (await import('./daemon.js')).callDaemon(config, call);
  };
  return {
    ...apiOver(send, refusals),
    io,
    file,
    json,
    yes,
    load,
    core,
    print,
    note,
    database: apiOver(callDatabase, refusals),
    confirm: (what) => confirm(io, yes, what),
    close: async () => (await opened?.catch(() => undefined))?.store.close(),
  };
}

/** Returns undefined when there is no database, and none may be created. @throws StartError like openCore */
async function openIfExists({ config }: Loaded, mayCreate: boolean): Promise<Core | undefined> {
  // Imported here because help, completion and `config check` need neither knex nor a database package.
  const { openCore } = await import('../../parts/core.js');
  return openCore(config, { mayCreate }).catch((error: unknown) => {
    if (error instanceof StartError && error.code === 'database-missing') return undefined;
    throw error;
  });
}

/** Creates a missing database only with `mayCreate`: a wrong folder or a forgotten `--config` would silently use an empty one. */
async function openDatabase(loaded: Loaded, mayCreate: boolean): Promise<Core> {
  const core = await openIfExists(loaded, mayCreate);
  if (core) return core;
  const { config, file } = loaded;
  const of = file ?? 'the built-in configuration';
  const [missing, create] =
    config.database.client === 'pg'
      ? [`The PostgreSQL database of ${of} has no Pulsegate tables.`, 'create the tables']
      : [`No database in ${config.dataDir} (dataDir of ${of}).`, 'create a new database'];
  throw new CommandError(
    `${missing}\nGive the daemon's configuration with --config FILE, or ${create}: pulsegate serve, or pulsegate account add NAME.`,
  );
}

/** Calls `work` with the database, and closes it; returns undefined when there is none. */
export async function withExistingCore<T>(
  loaded: Loaded,
  work: (core: Core) => Promise<T>,
): Promise<T | undefined> {
  const core = await openIfExists(loaded, false);
  return core && work(core).finally(() => core.store.close());
}
