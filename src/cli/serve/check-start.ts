// `pulsegate serve --check`: whether the daemon could start, for a running one that is about to be replaced by this program.
import { stat, statfs } from 'node:fs/promises';
import type { Override } from '../../config/overrides.js';
import { loadConfig } from '../../config.js';
import { StartError } from '../../core/errors.js';
import { createLogger } from '../../log.js';
import { chooseEngine } from '../../parts/players/engine.js';
import { readVersion } from '../../program.js';
import { checkConfig } from '../config.js';
import type { CommandIo } from '../shared/command.js';

/** A start writes at least this: the log of the database. */
const LEAST_SPACE_BYTES = 1024 * 1024;

/** @throws ConfigError, StartError */
export async function checkStart(
  flags: readonly Override[],
  file: string | undefined,
  io: CommandIo,
): Promise<string> {
  const { config } = await checkConfig(await loadConfig({ file, env: io.env, flags }), io.env);
  chooseEngine(config.socks.engine, createLogger({ level: 'silent' }));
  // Everything that a start loads.
  await import('../../daemon.js');
  await import('../../parts/control-plane.js');
  const { storeOptions } = await import('../../parts/database/database.js');
  const { openStore } = await import('../../store/store.js');
  const { sqliteFile } = await import('../../store/sqlite/files.js');
  let neededBytes = LEAST_SPACE_BYTES;
  try {
    const store = await openStore({ ...storeOptions(config), mayCreate: false });
    await store.close();
  } catch (error) {
    const code = error instanceof StartError ? error.code : null;
    if (code !== 'database-older' && code !== 'database-missing') throw error;
    // The start copies the database before it migrates it.
    if (code === 'database-older' && config.database.client !== 'pg')
      neededBytes += (await stat(sqliteFile(config.dataDir))).size;
  }
  await requireSpace(config.dataDir, neededBytes);
  return `Pulsegate ${readVersion()} can start.`;
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  const text = `${folder} has ${free} bytes of space left; a start needs ${bytes}. Free some space.`;
  throw new StartError('disk-full', text);
}
