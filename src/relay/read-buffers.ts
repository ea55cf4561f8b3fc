// Memory that bulk flows of the stream engine read into, again and again: Node's own way makes 64 KiB anew for each
// read, and collecting that garbage is then a third of what a gigabyte costs.
const BUFFER_BYTES = 64 * 1024;
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
      return Buffer.allocUnsafeSlow(BUFFER_BYTES);
    },
    giveBack: (buffer) => void idle.push(buffer),
  };
}
