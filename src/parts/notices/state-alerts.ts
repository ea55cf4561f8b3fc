// Alerts of the state of the service: nodes whose lease has expired or that are back, certificates that expire soon, trouble with the
// database.
import { type Config, ConfigError, readTlsFiles, type TlsFiles } from '../../config.js';
import type { FleetNode, NodeStore } from '../../core/nodes/nodes.js';
import type { Alert } from '../../core/notices/alerts.js';
import { DAY_MS, HOUR_MS, iso } from '../../core/time/clock.js';
import type { StoragePart } from '../database/database.js';
import { RENEW_MS, tlsFilesOf } from '../listeners/certificates.js';

/** A node that was lost longer ago is not announced: this daemon may have been down, or the service set up without it since. */
const LOST_MS = DAY_MS;

/** Returns the function that finds the alerts of now. It reads the certificates at most once an hour. */
export function createStateAlerts(deps: {
  readonly config: Pick<Config, 'admin' | 'socks'>;
  readonly nodes: Pick<NodeStore, 'list'>;
  readonly nodeName: string;
  /** Returns the problems of the database that have ended lately. */
  readonly endedTroubles: StoragePart['endedTroubles'];
  readonly now: () => number;
}): () => Promise<Alert[]> {
  const { config, nodes, nodeName, now } = deps;
  let readAt = Number.NEGATIVE_INFINITY;
  let ofCertificates: Alert[] = [];
  /** When each lost node was last seen. */
  const lostSince = new Map<string, number>();

  function ofNodes(all: readonly FleetNode[], at: number): Alert[] {
    return all.flatMap(({ name, state, renewedAt }): Alert[] => {
      const since = lostSince.get(name);
      const isLost = state === 'lost' && at - renewedAt < LOST_MS;
      if (isLost) lostSince.set(name, renewedAt);
      else lostSince.delete(name);
      if (!isLost && (since === undefined || state !== 'serving')) return [];
      const [type, lostAt] = isLost
        ? (['node.lost', renewedAt] as const)
        : (['node.back', since ?? 0] as const);
      const data = { node: name, since: iso(lostAt) };
      return [{ type, object: name, event: String(lostAt), at: renewedAt, data }];
    });
  }

  function readCertificates(at: number): Alert[] {
    return tlsFilesOf(config).flatMap(([where, tls]) => {
      const expiresAt = expiryOf(tls, where);
      if (expiresAt === null || expiresAt - at > RENEW_MS) return [];
      const data = { certificate: where, node: nodeName, expiresAt: iso(expiresAt) };
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
    return [
      ...ofCertificates.map((alert) => ({ ...alert, at })),
      ...ofNodes(await nodes.list(), at),
      ...deps.endedTroubles().map(({ problem, since, until }): Alert => {
        const data = { node: nodeName, problem, since: iso(since), until: iso(until) };
        return { type: 'database.trouble', object: nodeName, event: String(since), at: until, data };
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
