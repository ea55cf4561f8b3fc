// The listeners of the admin API: sockets from systemd, or else those of `admin.host` and `admin.port`; and the one of
// `admin.playerPage`, if it has a port.
import { createHash, randomBytes, type X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { Config } from '../../config.js';
import { isSocketPath } from '../../core/addresses/endpoints.js';
import { codeOf, StartError, tryOr } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { ControlAccess } from '../../http/plain-routes.js';
import { readBuild, readVersion } from '../../program.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import type { GivenSocket } from '../../systemd/sockets.js';
import { connectionOf } from '../database/database.js';
import type { Part } from '../lifecycle.js';
import type { Listening } from '../listeners/listen.js';
import { listenOn, listenOnPath, openServer, openServerOn, openServerOnPath } from '../listeners/listen.js';
import type { ListeningSockets } from '../listeners/sockets.js';

/** `start` throws StartError (`port-in-use`, `cannot-listen`). */
export function createAdminListenersPart(deps: {
  readonly config: Pick<Config, 'admin'>;
  /** Sockets from systemd, which replace `admin.host` and `admin.port`. */
  readonly given: readonly GivenSocket[];
  /** Null: nothing can be handed over. */
  readonly sockets: ListeningSockets | null;
  readonly http: {
    createHttpServer(): Server;
    createPlayersServer(): Server;
    readonly certificate: X509Certificate | null;
  };
  /** Receives the ports on which the daemon listens. */
  readonly plane: Pick<ProxyPlane, 'ownPorts'>;
}) {
  const { plane, sockets } = deps;
  const { admin } = deps.config;
  const given = deps.given.filter(({ use }) => use === 'admin');
  const { createHttpServer, createPlayersServer } = deps.http;
  let listening: readonly Listening[] = [];

  async function open(): Promise<readonly Listening[]> {
    const own = given.map((each) => openServerOn(createHttpServer(), each, sockets));
    if (given.length === 0) own.push(listenAt('admin', admin.host, admin.port, createHttpServer));
    const { host, port } = admin.playerPage;
    if (port !== null) own.push(listenAt('admin.playerPage', host, port, createPlayersServer));
    return Promise.all(own);
  }

  const listenAt = (name: string, hosts: readonly string[], port: number, create: () => Server) =>
    listenOn({
      name,
      hosts,
      port,
      open: (where, isDualStack) => openServer(sockets, create(), { name, ...where, isDualStack }),
    });

  return {
    name: 'admin listeners',
    /** `address:port` of each listener after `start`; with the prefix `https://` when it uses TLS. */
    get addresses() {
      const addresses = listening.flatMap((each) => each.addresses);
      return deps.http.certificate ? addresses.map((address) => `https://${address}`) : addresses;
    },
    async start() {
      listening = await open();
      for (const { port } of listening.flatMap(({ endpoints }) => endpoints)) {
        plane.ownPorts.add('tcp-listener', port);
      }
    },
    stop() {
      for (const each of listening) each.close();
    },
  };
}

/** The path of the control socket of a data folder; null when it is too long for a Unix socket. */
export function controlSocketPath(dataDir: string): string | null {
  const path = join(dataDir, 'control.sock');
  return isSocketPath(path) ? path : null;
}

/** The file with the token of the running daemon. */
export const controlTokenPath = (dataDir: string): string => join(dataDir, 'control-token');

/** The token of the running daemon; empty when there is none, or this user may not read it. */
export const controlToken = (dataDir: string): string =>
  tryOr('', () => readFileSync(controlTokenPath(dataDir), 'utf8'));

/** Writes a new token, for this user alone. @throws a system error */
function newControlToken(dataDir: string): string {
  const token = randomBytes(32).toString('base64url');
  rmSync(controlTokenPath(dataDir), { force: true });
  writeFileSync(controlTokenPath(dataDir), token, { mode: 0o600, flag: 'wx' });
  return token;
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
  readonly http: { createControlServer(access: ControlAccess): Server };
  /** Null: nothing can be handed over. */
  readonly sockets: ListeningSockets | null;
  readonly log: Log;
}): Part {
  let close = (): void => {};
  const identity = identityOf(deps.config);
  return {
    name: 'control socket',
    async start() {
      close = await open(deps, (token) => deps.http.createControlServer({ identity, token }));
    },
    stop: () => close(),
  };
}

/** Returns a function that closes the socket. */
async function open(
  { config: { dataDir }, sockets, log }: Parameters<typeof createControlSocketPart>[0],
  createServer: (token: string) => Server,
): Promise<() => void> {
  const path = controlSocketPath(dataDir);
  if (path === null) {
    log.warn({ dataDir }, 'cannot open control socket: path of the data folder is too long');
    return () => {};
  }
  try {
    const token = newControlToken(dataDir);
    const openAt = () => openServerOnPath(sockets, createServer(token), path, 0o600);
    return (await listenOnPath({ name: 'control', path, open: openAt })).close;
  } catch (error) {
    if (!(error instanceof StartError) && codeOf(error) === undefined) throw error;
    log.warn({ err: error }, 'cannot open control socket');
    return () => {};
  }
}
