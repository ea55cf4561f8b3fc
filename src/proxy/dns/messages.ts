// The resolver's thread as a worker uses it: its messages, and how a worker sends lookups and receives answers.
import type { MessagePort } from 'node:worker_threads';

export type ResolveResult =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly reason: 'not-found' | 'timeout' | 'too-many' }
  /** `isOfAccount`: the limit of the account, not that of its source. */
  | { readonly ok: false; readonly reason: 'over-rate'; readonly isOfAccount: boolean };

/** On whose behalf a name is looked up: lookups are limited per account and per source (see core/addresses/ip.ts). */
export interface ResolveClient {
  readonly accountId: string;
  readonly source: string;
  /** Maximum number of lookups of the account per minute; 0: any number; undefined: as the settings say. */
  readonly perMinute?: number | undefined;
  /** Called in the worker when that number refuses a lookup. */
  readonly onOverRate?: () => void;
}

/** Calls `done` exactly once, possibly before it returns. */
export type Resolve = (name: string, client: ResolveClient, done: (result: ResolveResult) => void) => void;

export interface ResolverSettings {
  /** `address` or `address:port`; empty means the system's. */
  readonly servers: readonly string[];
  /** Time limit for one name, over both families and all attempts, in ms. */
  readonly timeoutMs: number;
  readonly cacheSize: number;
  /** Maximum number of concurrent lookups. */
  readonly maxPending: number;
  /** Maximum number of concurrent lookups of one account, so that its slow names do not delay others. */
  readonly maxPendingPerAccount: number;
  /** The same for one source address, behind which several accounts may be. */
  readonly maxPendingPerSource: number;
  /** Maximum number of names that are asked of the name servers for one account, and for one source, per minute. */
  readonly maxLookupsPerMinutePerAccount: number;
  readonly maxLookupsPerMinutePerSource: number;
}

export interface ResolverStart {
  readonly settings: ResolverSettings;
  /** See shared.ts: incremented when a worker has an answer to read. */
  readonly gauges: SharedArrayBuffer;
}

/** To the resolver's thread: a worker has started. */
export interface ResolverMessage {
  readonly index: number;
  /** Write to it after each answer; -1: not needed. */
  readonly wakeFd: number;
  /** Connected to the worker. */
  readonly port: MessagePort;
}

export interface Question {
  readonly id: number;
  readonly name: string;
  readonly client: Omit<ResolveClient, 'onOverRate'>;
}

export interface Answer {
  readonly id: number;
  readonly result: ResolveResult;
}

export function createRemoteResolver(ask: (question: Question) => void) {
  const waiting = new Map<number, (result: ResolveResult) => void>();
  let last = 0;
  return {
    resolve: ((name, { accountId, source, perMinute, onOverRate }, done) => {
      last += 1;
      waiting.set(last, (result) => {
        if (!result.ok && result.reason === 'over-rate' && result.isOfAccount) onOverRate?.();
        done(result);
      });
      ask({ id: last, name, client: { accountId, source, perMinute } });
    }) as Resolve,
    answered({ id, result }: Answer): void {
      const done = waiting.get(id);
      waiting.delete(id);
      done?.(result);
    },
    /** The resolver's thread has died: the lookups that wait for it end as timed out, so that no session waits forever. */
    failWaiting(): void {
      const lost = [...waiting.values()];
      waiting.clear();
      for (const done of lost) done({ ok: false, reason: 'timeout' });
    },
  };
}
