// One direction of a stream relay under a rate that it shares with others: read when it is its turn, as much as it may.
// The rest waits where it is, in the stream's small buffer and then in the kernel, so the sender slows down by itself.
import type { Socket } from 'node:net';
import type { FlowShare, SharedRate } from '../core/sessions/rate-limit.js';

export interface Paced {
  /** Moves what may be moved now: to be called when `to` has drained. */
  pump(): void;
  end(): void;
}

/** Takes over reading `from`, which has no `data` listener any more; `forward` writes a chunk to `to`. */
export function pace(from: Socket, to: Socket, rate: SharedRate, forward: (chunk: Buffer) => void): Paced {
  const share: FlowShare = rate.join(pump);

  function pump(): void {
    while (from.readableLength > 0) {
      if (to.writableNeedDrain || from.destroyed) return;
      const bytes = share.take(from.readableLength);
      if (bytes === 0) return;
      const chunk = from.read(bytes) as Buffer | null;
      if (chunk === null) return;
      forward(chunk);
    }
    // Asks for more, or for the end.
    from.read(0);
  }

  from.on('readable', pump);
  return {
    pump,
    end() {
      from.off('readable', pump);
      share.end();
    },
  };
}
