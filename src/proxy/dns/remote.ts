// The resolver in a worker: sends lookups to the resolver's thread, and receives answers through a port.
import type { Answer, Question, Resolve, ResolveResult } from './messages.js';

export interface RemoteResolver {
  readonly resolve: Resolve;
  answered(answer: Answer): void;
  /** The resolver's thread has died: the lookups that wait for it end as timed out, so that no session waits forever. */
  failWaiting(): void;
}

export function createRemoteResolver(ask: (question: Question) => void): RemoteResolver {
  const waiting = new Map<number, (result: ResolveResult) => void>();
  let last = 0;
  return {
    resolve(name, client, done) {
      last += 1;
      waiting.set(last, done);
      ask({ id: last, name, client });
    },
    answered({ id, result }) {
      const done = waiting.get(id);
      waiting.delete(id);
      done?.(result);
    },
    failWaiting() {
      const lost = [...waiting.values()];
      waiting.clear();
      for (const done of lost) done({ ok: false, reason: 'timeout' });
    },
  };
}
