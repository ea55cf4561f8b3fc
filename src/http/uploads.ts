// How slowly a request's body may come: never how long it may take in all, which is a matter of its size.
import type { IncomingMessage } from 'node:http';

export interface UploadLimits {
  /** Without a byte for so long, a body is cut; so is an answer whose reader takes none. */
  readonly idleTimeoutMs: number;
  /** And a body that comes more slowly than this many bytes a second, from `idleTimeoutMs` after its start on. */
  readonly minRateBytes: number;
}

export interface Uploads {
  /** Watches the body of a request from its head on. */
  watch(req: IncomingMessage): void;
  close(): void;
}

/** How often bodies under way are looked at. */
const LOOK_EVERY_MS = 1_000;

interface Upload {
  readonly startedAt: number;
  /** What its connection had brought before. */
  readonly bytesBefore: number;
}

/** @param cut ends a request whose body comes too slowly */
export function createUploads(limits: UploadLimits, cut: (req: IncomingMessage) => void): Uploads {
  const uploads = new Map<IncomingMessage, Upload>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
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
    watch(req) {
      const { headers } = req;
      const hasBody =
        headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
      if (!hasBody || req.complete) return;
      uploads.set(req, { startedAt: performance.now(), bytesBefore: req.socket.bytesRead });
      timer ??= setInterval(look, Math.min(LOOK_EVERY_MS, limits.idleTimeoutMs)).unref();
    },
    close() {
      clearInterval(timer);
      uploads.clear();
    },
  };
}
