// Memory that bulk flows of the stream engine read into, again and again: Node's own way makes 64 KiB anew for each
// read, and collecting that garbage is then a third of what a gigabyte costs.
import type { Socket } from 'node:net';
import { readInto } from './handle.js';

/** As much as Node reads at once; a buffer has as much. */
export const FULL_READ_BYTES = 64 * 1024;
/** So many full reads tell a bulk flow from a page or a picture. */
const BULK_READS = 8;
/** 16 MiB in all. Flows beyond it go on in Node's own way. */
const MAX_BUFFERS = 256;

export interface ReadBuffers {
  /** A buffer of 64 KiB; null when all are in use. */
  take(): Buffer | null;
  /** Nothing may read into it or write from it any more. */
  giveBack(buffer: Buffer): void;
}

/** A bounded pool of buffers, made when first needed. */
export function createReadBuffers(maxBuffers = MAX_BUFFERS): ReadBuffers {
  const idle: Buffer[] = [];
  let made = 0;
  return {
    take() {
      const known = idle.pop();
      if (known || made === maxBuffers) return known ?? null;
      made += 1;
      return Buffer.allocUnsafeSlow(FULL_READ_BYTES);
    },
    giveBack: (buffer) => void idle.push(buffer),
  };
}

/** What one relay reads into. */
export class BulkReads {
  readonly #buffers: ReadBuffers;
  readonly #lent = new Map<Socket, Buffer>();
  #fullReads = 0;

  constructor(buffers: ReadBuffers) {
    this.#buffers = buffers;
  }

  /**
   * `from` has filled a whole read. Once that tells a bulk flow, it reads into a buffer, if there is one left, and
   * `onChunk` is called instead of 'data'. It returns whether to go on reading, and writes the chunk to `to` as it is:
   * while `to` holds bytes `from` must be paused, or they would be read over. `isBuffer`: the chunk is part of the
   * buffer. Chunks below the high-water mark of `to`, for which it does not ask to pause, are copies.
   */
  fullRead(from: Socket, to: Socket, onChunk: (chunk: Buffer, isBuffer: boolean) => boolean): void {
    this.#fullReads += 1;
    if (this.#fullReads < BULK_READS || this.#lent.has(from)) return;
    const buffer = this.#buffers.take();
    if (buffer === null) return;
    const { writableHighWaterMark } = to;
    const isLent = readInto(from, buffer, (bytes) => {
      const chunk = buffer.subarray(0, bytes);
      return bytes < writableHighWaterMark ? onChunk(Buffer.from(chunk), false) : onChunk(chunk, true);
    });
    if (isLent) this.#lent.set(from, buffer);
    else this.#buffers.giveBack(buffer);
  }

  /** Both sockets have closed: nothing reads or writes any more. */
  end(): void {
    for (const buffer of this.#lent.values()) this.#buffers.giveBack(buffer);
  }
}
