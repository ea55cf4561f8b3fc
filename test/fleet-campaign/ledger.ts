// The results of a campaign: counts, broken promises, and the times of faults.

/** What a fault disturbs: players, stored changes, or one node by name. */
export type Hit = 'players' | 'changes' | string;

export interface Ledger {
  readonly counts: Map<string, number>;
  /** The broken promises, with the number of times. */
  readonly broken: Map<string, number>;
  /** The longest duration of each kind, in ms. */
  readonly longest: Map<string, number>;
  count(what: string, by?: number): void;
  breach(what: string): void;
  took(what: string, ms: number): void;
  /** Begins a fault. The returned function ends it. */
  disturb(hits: readonly Hit[]): () => void;
  /** Returns whether a fault that disturbs `hit` was in progress at any time since `at`. */
  wasDisturbed(hit: Hit, at: number): boolean;
}

export function createLedger(): Ledger {
  const counts = new Map<string, number>();
  const broken = new Map<string, number>();
  const longest = new Map<string, number>();
  const underWay = new Map<Hit, number>();
  const endedAt = new Map<Hit, number>();
  const add = (to: Map<string, number>, what: string, by = 1) => void to.set(what, (to.get(what) ?? 0) + by);
  return {
    counts,
    broken,
    longest,
    count: (what, by) => add(counts, what, by),
    breach(what) {
      if (!broken.has(what)) console.log(`BROKEN: ${what}`);
      add(broken, what);
    },
    took: (what, ms) => void longest.set(what, Math.max(ms, longest.get(what) ?? 0)),
    disturb(hits) {
      for (const hit of hits) add(underWay, hit);
      return () => {
        for (const hit of hits) {
          add(underWay, hit, -1);
          endedAt.set(hit, Date.now());
        }
      };
    },
    wasDisturbed: (hit, at) => (underWay.get(hit) ?? 0) > 0 || (endedAt.get(hit) ?? 0) >= at,
  };
}

/** Names an error for the counts: its code, or its text without the parts that vary. */
export function nameOfError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return code || error.message.replace(/\d+/g, 'N').slice(0, 60);
}
