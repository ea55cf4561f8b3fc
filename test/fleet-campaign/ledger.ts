// The results of a campaign: counts, broken promises, and the times of faults.

/** What a fault disturbs: players, stored changes, or one node by name. */
export type Hit = 'players' | 'changes' | string;

export interface Ledger {
  readonly counts: Map<string, number>;
  /** The broken promises, with the number of times. */
  readonly broken: Map<string, number>;
  /** The longest duration of each kind, in ms. */
  readonly longest: Map<string, number>;
  count(name: string, by?: number): void;
  /** Records a broken promise. */
  breach(promise: string): void;
  /** Records a duration. */
  took(name: string, ms: number): void;
  /** Begins a fault. The returned function ends it. */
  disturb(hits: readonly Hit[]): () => void;
  /** Returns whether a fault that disturbs `hit` was in progress at any time since `at`. */
  wasDisturbed(hit: Hit, at: number): boolean;
}

export function createLedger(): Ledger {
  const counts = new Map<string, number>();
  const broken = new Map<string, number>();
  const longest = new Map<string, number>();
  const inProgress = new Map<Hit, number>();
  const endedAt = new Map<Hit, number>();
  const add = (to: Map<string, number>, name: string, by = 1) => void to.set(name, (to.get(name) ?? 0) + by);
  return {
    counts,
    broken,
    longest,
    count: (name, by) => add(counts, name, by),
    breach(promise) {
      if (!broken.has(promise)) console.log(`BROKEN: ${promise}`);
      add(broken, promise);
    },
    took: (name, ms) => void longest.set(name, Math.max(ms, longest.get(name) ?? 0)),
    disturb(hits) {
      for (const hit of hits) add(inProgress, hit);
      return () => {
        for (const hit of hits) {
          add(inProgress, hit, -1);
          endedAt.set(hit, Date.now());
        }
      };
    },
    wasDisturbed: (hit, at) => (inProgress.get(hit) ?? 0) > 0 || (endedAt.get(hit) ?? 0) >= at,
  };
}

/** Names an error for the counts: its code, or its text without the parts that vary. */
export function nameOfError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return code || error.message.replace(/\d+/g, 'N').slice(0, 60);
}
