// Alerts of the state of the service: nodes whose lease has expired, and certificates that expire soon.
import { type Config, ConfigError, readTlsFiles, type TlsFiles } from '../config.js';
import { DAY_MS, HOUR_MS } from '../core/clock.js';
import type { NodeStore } from '../core/nodes/nodes.js';
import type { Alert } from '../core/notices/alerts.js';
import { RENEW_MS, tlsFilesOf } from './certificates.js';

/** A node that was lost longer ago is not announced: this daemon may have been down, or the service set up without it since. */
const LOST_MS = DAY_MS;

/** Returns the function that finds the alerts of now. It reads the certificates at most once an hour. */
export function createStateAlerts(deps: {
  readonly config: Pick<Config, 'admin' | 'socks'>;
  readonly nodes: Pick<NodeStore, 'list'>;
  readonly nodeName: string;
  readonly now: () => number;
}): () => Promise<Alert[]> {
  const { config, nodes, nodeName, now } = deps;
  let readAt = Number.NEGATIVE_INFINITY;
  let ofCertificates: Alert[] = [];

  function readCertificates(at: number): Alert[] {
    return tlsFilesOf(config).flatMap(([where, tls]) => {
      const expiresAt = expiryOf(tls, where);
      if (expiresAt === null || expiresAt - at > RENEW_MS) return [];
      const data = { certificate: where, node: nodeName, expiresAt: new Date(expiresAt).toISOString() };
      const object = `${where} ${nodeName}`;
      return [{ type: 'certificate.expiring', object, event: String(expiresAt), at, data }];
    });
  }

  return async () => {
    const at = now();
    if (at - readAt >= HOUR_MS) {
      readAt = at;
      ofCertificates = readCertificates(at);
    }
    const lost = (await nodes.list()).filter(
      ({ state, renewedAt }) => state === 'lost' && at - renewedAt < LOST_MS,
    );
    return [
      ...ofCertificates.map((alert) => ({ ...alert, at })),
      ...lost.map(({ name, renewedAt }): Alert => {
        const data = { node: name, since: new Date(renewedAt).toISOString() };
        return { type: 'node.lost', object: name, event: String(renewedAt), at: renewedAt, data };
      }),
    ];
  };
}

/** Returns null for files that cannot be read, which `doctor` reports. */
function expiryOf(tls: TlsFiles, where: string): number | null {
  try {
    return readTlsFiles(tls, where)?.expiresAt ?? null;
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}
