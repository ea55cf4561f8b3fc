// The resolver as a worker has it: questions go to the resolver's thread, and answers come back through a port.
import type { Answer, Question } from './messages.js';
import type { Resolve, ResolveResult } from './resolve.js';

const LOOPBACK: ResolveResult = { ok: true, addresses: ['127.0.0.1', '::1'] };

export interface RemoteResolver {
  readonly resolve: Resolve;
  answered(answer: Answer): void;
}

export function createRemoteResolver(ask: (question: Question) => void): RemoteResolver {
  const waiting = new Map<number, (result: ResolveResult) => void>();
  let last = 0;
  return {
    resolve(name, client, done) {
      // RFC 6761 §6.3: never asked of a name server.
      if (name === 'localhost' || name.endsWith('.localhost')) return done(LOOPBACK);
      last += 1;
      waiting.set(last, done);
      ask({ id: last, name, client });
    },
    answered({ id, result }) {
      const done = waiting.get(id);
      waiting.delete(id);
      done?.(result);
    },
  };
}
