// The messages between workers and the resolver's thread.
import type { MessagePort } from 'node:worker_threads';

export type ResolveResult =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly reason: 'not-found' | 'timeout' | 'too-many' | 'over-rate' };

/** On whose behalf a name is looked up: lookups are limited per account and per source (see core/ip.ts). */
export interface ResolveClient {
  readonly accountId: string;
  readonly source: string;
}

/** Calls `done` exactly once, possibly before it returns. */
export type Resolve = (name: string, client: ResolveClient, done: (result: ResolveResult) => void) => void;

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
  readonly client: ResolveClient;
}

export interface Answer {
  readonly id: number;
  readonly result: ResolveResult;
}
