// The control socket in the data folder: commands send requests to the running daemon, for example to list live sessions.
import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { Config } from '../../config.js';
import { isSocketPath } from '../../core/endpoints.js';
import { StartError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { readBuild, readVersion } from '../../program.js';
import { connectionOf } from '../database/connection-string.js';
import type { Part } from '../lifecycle.js';
import { listenOnPath, openServerOnPath } from '../listen.js';

/** The path of the control socket of a data folder; null when it is too long for a Unix socket. */
export function controlSocketPath(dataDir: string): string | null {
  const path = join(dataDir, 'control.sock');
  return isSocketPath(path) ? path : null;
}

/**
 * Returns a digest of the version and the database. A daemon of another one cannot answer for a command: its API may differ, and
 * a folder may be that of a daemon on another database.
 */
export function identityOf({ database }: Pick<Config, 'database'>): string {
  const place = database.client === 'pg' ? connectionOf(database) : null;
  const identity = JSON.stringify([readVersion(), readBuild()?.commit, place]);
  return createHash('sha256').update(identity).digest('hex');
}

/**
 * Opens the socket with mode 0600. Only some commands, such as `pulsegate session`, need it, so the daemon logs a failure and
 * starts without it.
 */
export function createControlSocketPart(deps: {
  readonly config: Pick<Config, 'dataDir' | 'database'>;
  readonly http: { createControlServer(identity: string): Server };
  readonly log: Log;
}): Part {
  let close = (): void => {};
  const identity = identityOf(deps.config);
  return {
    name: 'control socket',
    async start() {
      close = await open(deps.config.dataDir, () => deps.http.createControlServer(identity), deps.log);
    },
    stop: () => close(),
  };
}

/** Returns a function that closes the socket. */
async function open(dataDir: string, createServer: () => Server, log: Log): Promise<() => void> {
  const path = controlSocketPath(dataDir);
  if (path === null) {
    log.warn({ dataDir }, 'cannot open control socket: path of the data folder is too long');
    return () => {};
  }
  try {
    const openAt = () => openServerOnPath(createServer(), path, 0o600);
    return (await listenOnPath({ name: 'control', path, open: openAt })).close;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    log.warn({ err: error }, 'cannot open control socket');
    return () => {};
  }
}
