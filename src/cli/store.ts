// Opens the daemon's own database for one command. A running daemon hears of the changes through it.

import type { Config } from '../config.js';
import { type Core, openCore } from '../wiring/core.js';

/**
 * Opens the database, calls `work`, and closes it whatever happens.
 * @throws StartError as openCore; whatever `work` throws
 */
export async function withCore<T>(config: Config, work: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore(config);
  try {
    return await work(core);
  } finally {
    await core.store.close();
  }
}
