// The control socket in the data folder: how commands ask the running daemon for what only it knows, such as live sessions.
import type { Server } from 'node:http';
import { join } from 'node:path';
import { StartError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Part } from './lifecycle.js';
import { listenOnPath, openServerOnPath } from './listen.js';

/** Of a Unix socket (unix(7), sun_path). */
const MAX_PATH_BYTES = 107;

/** Where the daemon of a data folder listens for commands; null: the path is too long for a socket. */
export function controlSocketPath(dataDir: string): string | null {
  const path = join(dataDir, 'control.sock');
  return Buffer.byteLength(path) <= MAX_PATH_BYTES ? path : null;
}

/**
 * Opens the socket for the daemon's own user (0600). Nothing but `pulsegate session` depends on it, so a daemon that cannot
 * open it starts all the same and says so in the log.
 */
export function createControlSocketPart(uses: {
  readonly config: { readonly dataDir: string };
  readonly http: { createControlServer(): Server };
  readonly log: Log;
}): Part {
  let close = (): void => {};
  return {
    name: 'control socket',
    async start() {
      close = await open(uses.config.dataDir, uses.http.createControlServer, uses.log);
    },
    stop: () => close(),
  };
}

/** Returns what closes it. */
async function open(dataDir: string, createServer: () => Server, log: Log): Promise<() => void> {
  const path = controlSocketPath(dataDir);
  if (path === null) {
    log.warn({ dataDir }, 'control socket not opened: the path of the data folder is too long');
    return () => {};
  }
  try {
    const openAt = () => openServerOnPath(createServer(), path, 0o600);
    return (await listenOnPath({ name: 'control', path, open: openAt })).close;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    log.warn({ err: error }, 'control socket not opened');
    return () => {};
  }
}
