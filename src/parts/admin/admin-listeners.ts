// The listeners of the admin API: sockets from systemd, or else those of `admin.host` and `admin.port`.
import type { X509Certificate } from 'node:crypto';
import type { Server } from 'node:http';
import type { Endpoint } from '../../core/ip.js';
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
  readonly config: { readonly admin: { readonly host: readonly string[]; readonly port: number } };
  /** Sockets from systemd, which replace `admin.host` and `admin.port`. */
  readonly sockets: readonly GivenSocket[];
  readonly http: { createHttpServer(): Server; readonly certificate: X509Certificate | null };
  /** Receives the ports on which the daemon listens. */
  readonly plane: Pick<ProxyPlane, 'ownPorts'>;
}): AdminListenersPart {
  const { plane } = deps;
  const { admin } = deps.config;
  const given = deps.sockets.filter(({ use }) => use === 'admin');
  const createServer = deps.http.createHttpServer;
  let listening: readonly Listening[] = [];

  async function open(): Promise<readonly Listening[]> {
    if (given.length > 0)
      return Promise.all(given.map(({ fd }) => openServerOn('admin', createServer(), fd)));
    const openAt = (where: Endpoint, isDualStack: boolean) => openServer(createServer(), where, isDualStack);
    return [await listenOn({ name: 'admin', hosts: admin.host, port: admin.port, open: openAt })];
  }

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
