// Bounds the connections of the admin port: in all, per source, and from sources outside the whitelist. At a bound, the
// connection that has been idle longest is closed for the new one; without an idle one, the new connection is closed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { sourceOf } from '../../core/addresses/ip.js';
import type { Log } from '../../core/log.js';
import { addToCount } from '../../core/maps.js';
import { peerAddress } from '../guards/client.js';
import { hasBody } from '../request.js';

export interface ConnectionLimits {
  readonly max: number;
  /** Limit per source; a trusted proxy has no such limit. */
  readonly maxPerSource: number;
  /** Limit of all sources outside the whitelist together. Their requests are answered 403. */
  readonly maxOutside: number;
  /** Time in which a connection from outside the whitelist must send the head of its request. */
  readonly outsideTimeoutMs: number;
}

export interface ConnectionDeps {
  /** Whether the whitelist, or the webhooks' own list, allows an address. */
  readonly isListed: (address: string) => boolean;
  readonly isTrustedProxy: (address: string) => boolean;
  /** Whether clients outside the whitelist may request the path. */
  readonly isOpenPath: (path: string) => boolean;
  readonly log: Pick<Log, 'warn'>;
}

export interface Connection {
  /** The accepted socket, below TLS. */
  readonly raw: Socket;
  readonly source: string;
  readonly isOutside: boolean;
  readonly isProxy: boolean;
  /** The socket that carries requests; null before the end of the TLS handshake. */
  socket: Socket | null;
  /** The newest request and, in `res`, its response. */
  req: IncomingMessage | null;
  res: ServerResponse | null;
}

/** At most one log line about refused connections per interval. */
const LOG_EVERY_MS = 60_000;

type LimitName = 'max' | 'maxPerSource' | 'maxOutside';

export function isUnderWay({ res }: Connection): boolean {
  // When the response is finished, the operating system has all of its bytes.
  return res !== null && !res.writableFinished;
}

export function createConnections(limits: ConnectionLimits, deps: ConnectionDeps) {
  /** In the order of arrival. */
  const open = new Set<Connection>();
  const countBySource = new Map<string, number>();
  let outside = 0;
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function add(connection: Connection): void {
    open.add(connection);
    addToCount(countBySource, connection.source, 1);
    if (connection.isOutside) outside += 1;
  }

  function remove(connection: Connection): void {
    if (!open.delete(connection)) return;
    addToCount(countBySource, connection.source, -1);
    if (connection.isOutside) outside -= 1;
  }

  const countOf = ({ source }: Connection): number => countBySource.get(source) ?? 0;

  /** Returns the limit that the new connection would exceed, and a test of the connections that may be closed for it. */
  function exceeded(newcomer: Connection): [LimitName, (other: Connection) => boolean] | null {
    if (!newcomer.isProxy && countOf(newcomer) >= limits.maxPerSource) {
      return ['maxPerSource', (other) => other.source === newcomer.source];
    }
    if (newcomer.isOutside && outside >= limits.maxOutside) return ['maxOutside', (other) => other.isOutside];
    if (open.size < limits.max) return null;
    return ['max', (other) => other.isOutside || !newcomer.isOutside];
  }

  function evictFor(newcomer: Connection): boolean {
    for (let limit = exceeded(newcomer); limit; limit = exceeded(newcomer)) {
      const [name, mayClose] = limit;
      let oldest: Connection | undefined;
      for (const other of open) {
        if (!mayClose(other) || isUnderWay(other)) continue;
        oldest = other;
        break;
      }
      logLimit(name, newcomer);
      if (!oldest) return false;
      remove(oldest);
      oldest.raw.destroy();
    }
    return true;
  }

  function logLimit(limit: LimitName, { source }: Connection): void {
    refused += 1;
    const at = performance.now();
    if (at - loggedAt < LOG_EVERY_MS) return;
    const setting = `admin.connections.${limit}`;
    deps.log.warn({ setting, source, closed: refused }, 'too many admin connections');
    loggedAt = at;
    refused = 0;
  }

  /** Closes a connection from outside the whitelist that sends no request in time. */
  function closeWithoutRequest(connection: Connection): void {
    const timer = setTimeout(() => {
      if (connection.req === null) connection.raw.destroy();
    }, limits.outsideTimeoutMs);
    timer.unref();
    connection.raw.once('close', () => clearTimeout(timer));
  }

  return {
    /** Registers an accepted connection; null: the connection exceeded a bound and has been closed. */
    admit(raw: Socket): Connection | null {
      const address = peerAddress(raw);
      const isProxy = deps.isTrustedProxy(address);
      const isOutside = !isProxy && !deps.isListed(address);
      const source = sourceOf(address);
      const connection: Connection = { raw, source, isOutside, isProxy, socket: null, req: null, res: null };
      if (!evictFor(connection)) {
        raw.destroy();
        return null;
      }
      add(connection);
      raw.once('close', () => remove(connection));
      if (isOutside) closeWithoutRequest(connection);
      return connection;
    },
    all: (): Iterable<Connection> => open,
  };
}

/** Bounds of the rate of a request body. The duration is not bounded, because it depends on the size. */
export interface UploadLimits {
  /** A body without a byte for this time is cut, and so is a response that the client does not read. */
  readonly idleTimeoutMs: number;
  /** Bytes per second. A slower body is cut, once `idleTimeoutMs` has passed since its start. */
  readonly minRateBytes: number;
}

/** Interval between checks of bodies in progress. */
const CHECK_EVERY_MS = 1_000;

interface Upload {
  readonly startedAt: number;
  /** Number of bytes that the connection had received before the body. */
  readonly bytesBefore: number;
}

/** @param cut ends a request whose body arrives too slowly */
export function createUploads(limits: UploadLimits, cut: (req: IncomingMessage) => void) {
  const uploads = new Map<IncomingMessage, Upload>();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    const now = performance.now();
    for (const [req, { startedAt, bytesBefore }] of uploads) {
      if (req.complete || req.socket.destroyed) {
        uploads.delete(req);
        continue;
      }
      const earnedMs = ((req.socket.bytesRead - bytesBefore) / limits.minRateBytes) * 1_000;
      if (now < startedAt + limits.idleTimeoutMs + earnedMs) continue;
      uploads.delete(req);
      cut(req);
    }
    if (uploads.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** Watches the body of a request after its head. */
    watch(req: IncomingMessage): void {
      if (!hasBody(req) || req.complete) return;
      uploads.set(req, { startedAt: performance.now(), bytesBefore: req.socket.bytesRead });
      timer ??= setInterval(check, Math.min(CHECK_EVERY_MS, limits.idleTimeoutMs)).unref();
    },
    close(): void {
      clearInterval(timer);
      uploads.clear();
    },
  };
}
