// The messages between workers and the resolver's thread.
import type { ResolveClient, ResolveResult } from './resolve.js';

export interface ResolverSettings {
  /** `address` or `address:port`; empty means the system's. */
  readonly servers: readonly string[];
  /** Time limit for one name, over both families and all attempts, in ms. */
  readonly timeoutMs: number;
  /** Maximum number of cached names. */
  readonly cacheSize: number;
  /** Maximum number of concurrent lookups. */
  readonly maxPending: number;
  /** Maximum number of concurrent lookups of one account, so that its slow names do not delay others. */
  readonly maxPendingPerAccount: number;
  /** The same for one source address, behind which several accounts may be. */
  readonly maxPendingPerSource: number;
}

export interface ResolverStart {
  readonly settings: ResolverSettings;
  /** See shared.ts: incremented when a worker has an answer to read. */
  readonly gauges: SharedArrayBuffer;
}

/** To the resolver's thread. */
export type ResolverMessage =
  /** `port` is connected to the worker. Write to `wakeFd` after each answer; -1: not needed. */
  | {
      readonly kind: 'worker';
      readonly index: number;
      readonly wakeFd: number;
      readonly port: import('node:worker_threads').MessagePort;
    }
  | { readonly kind: 'stop' };

export interface Question {
  readonly id: number;
  readonly name: string;
  readonly client: ResolveClient;
}

export interface Answer {
  readonly id: number;
  readonly result: ResolveResult;
}
