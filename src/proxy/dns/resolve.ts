// The interface of the resolver for a worker.

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
