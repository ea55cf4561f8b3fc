// Listeners of players with a certificate: the TLS thread accepts connections on the public socket, and passes the decrypted
// streams to the data plane over a private Unix socket.
import { join } from 'node:path';
import type { Config, TlsPair } from '../../config.js';
import { isSocketPath } from '../../core/addresses/endpoints.js';
import { type Endpoint, formatHostPort } from '../../core/addresses/ip.js';
import { StartError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { TlsGateway } from '../../proxy/tls/gateway.js';
import type { TlsMaterial } from '../../proxy/tls/messages.js';
import { maxConnections, maxHandshakes } from '../capacity.js';
import { readCertificate } from '../listeners/certificates.js';
import { type Listening, type ListenOptions, listenOn, type Opened } from '../listeners/listen.js';
import type { ListeningSockets } from '../listeners/sockets.js';

export type TlsListenersPart = ReturnType<typeof createTlsListenersPart>;

/** Reads the certificates of all listeners. Throws ConfigError for an invalid certificate. */
export function createTlsListenersPart(
  config: Config,
  sockets: ListeningSockets | null,
  log: Pick<Log, 'warn' | 'error'>,
) {
  const { socks, dataDir } = config;
  const read = (): (TlsPair | null)[] =>
    socks.listeners.map(({ tls }, i) =>
      tls === undefined ? null : readCertificate(tls, log, Date.now(), `socks.listeners[${i}].tls`),
    );
  let pairs = read();
  /** The socket ids of each listener. */
  const opened = new Map<number, number[]>();
  let lastId = 0;
  const gateway = new TlsGateway({
    maxHandshakes: maxHandshakes(config),
    maxHandshakesPerSource: socks.maxHandshakesPerSource,
    maxHandshakesPerSecond: socks.tls.maxHandshakesPerSecond,
    handshakeTimeoutMs: socks.handshakeTimeoutMs,
    maxConnections: maxConnections(config),
    dup: (fd) => sockets?.dup(fd) ?? fd,
    log,
  });

  async function openPublic(
    index: number,
    { address, port }: Endpoint,
    isDualStack: boolean,
    path: string,
  ): Promise<Opened> {
    const pair = pairs[index];
    if (!pair) throw new TypeError(`socks.listeners[${index}] has no certificate`);
    lastId += 1;
    const id = lastId;
    const record = { name: `socks.listeners[${index}]`, address, port, isDualStack };
    const socket = sockets?.openTcp(record);
    if (socket && 'code' in socket) return socket;
    const fd = socket?.fd ?? null;
    const result = await gateway.listen({
      id,
      fd,
      host: address,
      port,
      isDualStack,
      path,
      material: materialOf(pair),
    });
    const close = (): void => {
      if (fd !== null) sockets?.close(fd);
    };
    if ('code' in result) {
      close();
      return result;
    }
    opened.set(index, [...(opened.get(index) ?? []), id]);
    return {
      ...result,
      close() {
        result.close();
        close();
      },
    };
  }

  return {
    name: 'TLS',
    /**
     * Opens the public sockets of `socks.listeners[index]` on its hosts.
     * @param openInside opens the Unix socket on which the data plane accepts the decrypted connections
     */
    async open(
      index: number,
      { name, hosts, port }: Omit<ListenOptions, 'open'>,
      openInside: (path: string) => Promise<Listening>,
    ): Promise<Listening> {
      const path = join(dataDir, `tls-${index}.sock`);
      if (!isSocketPath(path)) {
        const problem = `the path ${path} is too long for a Unix socket, which TLS needs`;
        throw new StartError('cannot-listen', `${name}: ${problem}. Choose a shorter dataDir.`);
      }
      const inside = await openInside(path);
      try {
        const open = (where: Endpoint, isDualStack: boolean): Promise<Opened> =>
          openPublic(index, where, isDualStack, path);
        const listening = await listenOn({ name, hosts, port, open });
        return {
          addresses: listening.endpoints.map((each) => `tls://${formatHostPort(each.address, each.port)}`),
          endpoints: listening.endpoints,
          close() {
            listening.close();
            inside.close();
          },
        };
      } catch (error) {
        inside.close();
        throw error;
      }
    },

    /**
     * Reads the certificates again, and returns a function that puts them into use for new connections. Throws ConfigError for an
     * invalid certificate.
     */
    prepareReload(): () => void {
      const next = read();
      return () => {
        pairs = next;
        for (const [index, ids] of opened) {
          const pair = pairs[index];
          if (pair) for (const id of ids) gateway.setMaterial(id, materialOf(pair));
        }
      };
    },

    /** Whether every public socket is open; not, when the restarted thread could not open one. */
    isListening: (): boolean => gateway.isListening,

    /** The expiry of each certificate in use, in ms since the epoch, by the listener's configuration key. */
    certificates: (): ReadonlyMap<string, number> =>
      new Map(
        pairs.flatMap((pair, index) =>
          pair ? [[`socks.listeners[${index}]`, pair.expiresAt] as const] : [],
        ),
      ),

    stop: () => gateway.stop(),
  };
}

function materialOf({ cert, key }: TlsPair): TlsMaterial {
  return { cert, key: key.reveal() };
}
