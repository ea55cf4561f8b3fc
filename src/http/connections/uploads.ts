// Bounds the rate of a request body. The duration is not bounded, because it depends on the size.
import type { IncomingMessage } from 'node:http';
import { hasBody } from '../body.js';

export interface UploadLimits {
  /** A body without a byte for this time is cut, and so is a response that the client does not read. */
  readonly idleTimeoutMs: number;
  /** Bytes per second. A slower body is cut, once `idleTimeoutMs` has passed since its start. */
  readonly minRateBytes: number;
}

export interface Uploads {
  /** Watches the body of a request after its head. */
  watch(req: IncomingMessage): void;
  close(): void;
}

/** Interval between checks of bodies in progress. */
const CHECK_EVERY_MS = 1_000;

interface Upload {
  readonly startedAt: number;
  /** Number of bytes that the connection had received before the body. */
  readonly bytesBefore: number;
}

/** @param cut ends a request whose body arrives too slowly */
export function createUploads(limits: UploadLimits, cut: (req: IncomingMessage) => void): Uploads {
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
    watch(req) {
      if (!hasBody(req) || req.complete) return;
      uploads.set(req, { startedAt: performance.now(), bytesBefore: req.socket.bytesRead });
      timer ??= setInterval(check, Math.min(CHECK_EVERY_MS, limits.idleTimeoutMs)).unref();
    },
    close() {
      clearInterval(timer);
      uploads.clear();
    },
  };
}
