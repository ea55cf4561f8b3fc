// The listeners of the admin API: sockets from systemd, or else those of `admin.host` and `admin.port`; and the one of
// `admin.playerPage`, if it has a port.
import type { X509Certificate } from 'node:crypto';
import type { Server } from 'node:http';
import type { Config } from '../../config.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import type { GivenSocket } from '../../systemd-sockets.js';
import type { Part } from '../lifecycle.js';
import { type Listening, listenOn, openServer, openServerOn } from '../listen.js';

export interface AdminListenersPart extends Part {
  /** `address:port` of each listener after `start`; with the prefix `https://` when it uses TLS. */
  readonly addresses: readonly string[];
}

/** `start` throws StartError (`port-in-use`, `cannot-listen`). */
export function createAdminListenersPart(deps: {
  readonly config: Pick<Config, 'admin'>;
  /** Sockets from systemd, which replace `admin.host` and `admin.port`. */
  readonly sockets: readonly GivenSocket[];
  readonly http: {
    createHttpServer(): Server;
    createPlayersServer(): Server;
    readonly certificate: X509Certificate | null;
  };
  /** Receives the ports on which the daemon listens. */
  readonly plane: Pick<ProxyPlane, 'ownPorts'>;
}): AdminListenersPart {
  const { plane } = deps;
  const { admin } = deps.config;
  const given = deps.sockets.filter(({ use }) => use === 'admin');
  const { createHttpServer, createPlayersServer } = deps.http;
  let listening: readonly Listening[] = [];

  async function open(): Promise<readonly Listening[]> {
    const own = given.map(({ fd }) => openServerOn('admin', createHttpServer(), fd));
    if (given.length === 0) own.push(listenAt('admin', admin.host, admin.port, createHttpServer));
    const { host, port } = admin.playerPage;
    if (port !== null) own.push(listenAt('admin.playerPage', host, port, createPlayersServer));
    return Promise.all(own);
  }

  const listenAt = (name: string, hosts: readonly string[], port: number, create: () => Server) =>
    listenOn({ name, hosts, port, open: (where, isDualStack) => openServer(create(), where, isDualStack) });

  return {
    name: 'admin listeners',
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
