// Names to addresses, as a worker asks for it: the resolver's thread answers.

export type ResolveResult =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly reason: 'not-found' | 'timeout' | 'too-many' };

/** Who asks: lookups are bounded per account and per source address (see core/source.ts). */
export interface ResolveClient {
  readonly accountId: string;
  readonly source: string;
}

/** Calls back exactly once, perhaps before it returns. */
export type Resolve = (name: string, client: ResolveClient, done: (result: ResolveResult) => void) => void;
