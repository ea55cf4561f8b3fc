// What workers and the resolver's thread send each other.
import type { ResolveClient, ResolveResult } from './resolve.js';

export interface ResolverSettings {
  /** `address` or `address:port`; empty means the system's. */
  readonly servers: readonly string[];
  /** For one name, both families, all tries, in ms. */
  readonly timeoutMs: number;
  /** How many names are remembered. */
  readonly cacheSize: number;
  /** How many names may be asked for at once. */
  readonly maxPending: number;
  /** How many lookups one account may wait for at once, so that slow names cost only who asked. */
  readonly maxPendingPerAccount: number;
  /** The same for one source address, behind which several accounts may be. */
  readonly maxPendingPerSource: number;
}

export interface ResolverStart {
  readonly settings: ResolverSettings;
  /** See shared.ts: raised when a worker has an answer to read. */
  readonly gauges: SharedArrayBuffer;
}

/** To the resolver's thread. */
export type ResolverMessage =
  /** `port` leads to the worker; `wakeFd` is written to after an answer, -1 where that is not needed. */
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
