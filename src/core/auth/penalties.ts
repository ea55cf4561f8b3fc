// Penalties over all nodes: a source that one node refuses because of failed attempts is refused by every node. A node publishes a
// penalty when it begins, and the others receive it through the change log, so that no attempt needs a query. While the database
// does not answer, a penalty applies at the node that set it, and is published later.
import type { Clock } from '../time/clock.js';

/** `player`: a source of players; `player-name`: a source and one user name; `admin-code`: an operator, whatever the source. */
type PenaltyKind = 'player' | 'player-name' | 'admin' | 'admin-code' | 'player-link' | 'webhook';

export interface Penalty {
  readonly kind: PenaltyKind;
  /** The refused source, in the format of the kind, without line breaks. */
  readonly subject: string;
  readonly leftMs: number;
}

export type Penalties = ReturnType<typeof createPenalties>;
export type PenaltiesOfKind = ReturnType<Penalties['of']>;

/** Time after which an attempt has been checked, in ms. Only the answer to a wrong attempt is delayed, not the check. */
const CHECKED_MS = 1_000;
const MAX_WAITING = 10_000;
/** Most penalties in one write. */
const MAX_PER_WRITE = 500;

/** @param store null: there are no other nodes */
export function createPenalties(options: {
  readonly store: PenaltyStore | null;
  readonly monotonicNow: Clock;
}) {
  const { store, monotonicNow } = options;
  const suspects = new Map<string, { readonly at: number; readonly leftMs: () => number | null }>();
  /** When the penalties to be published end, by key. */
  const waiting = new Map<string, number>();
  const listeners = new Map<string, (subject: string, leftMs: number) => void>();

  function publish({ kind, subject, leftMs }: Penalty): void {
    if (store && waiting.size < MAX_WAITING) waiting.set(`${kind} ${subject}`, monotonicNow() + leftMs);
  }

  function publishSuspects(): void {
    const now = monotonicNow();
    for (const [key, { at, leftMs }] of suspects) {
      // The map is in order of time.
      if (at + CHECKED_MS > now) return;
      suspects.delete(key);
      const remainingMs = leftMs();
      if (remainingMs !== null) publish({ ...fromKey(key), leftMs: remainingMs });
    }
  }

  /** Writes the waiting penalties. Rejects with the error of the database, and keeps them then. Call it several times a second. */
  async function flush(): Promise<void> {
    publishSuspects();
    const now = monotonicNow();
    for (const [key, endsAt] of waiting) if (endsAt <= now) waiting.delete(key);
    const written = [...waiting].slice(0, MAX_PER_WRITE);
    if (written.length === 0 || !store) return;
    await store.add(written.map(([key, endsAt]) => ({ key, leftMs: Math.ceil(endsAt - now) })));
    for (const [key] of written) waiting.delete(key);
  }

  function apply({ key, leftMs }: StoredPenalty): void {
    const { kind, subject } = fromKey(key);
    listeners.get(kind)?.(subject, leftMs);
  }

  return {
    of: (kind: PenaltyKind) => ({
      /**
       * Publishes a penalty after a second, unless its last attempt turns out to be correct by then.
       * @param leftMs time until the penalty ends, in ms; null: there is no penalty
       */
      suspect(subject: string, leftMs: () => number | null): void {
        const key = `${kind} ${subject}`;
        if (store && suspects.size < MAX_WAITING && !suspects.has(key))
          suspects.set(key, { at: monotonicNow(), leftMs });
      },
      /** Calls `apply` with the penalties of other nodes. */
      subscribe: (apply: (subject: string, leftMs: number) => void): void => void listeners.set(kind, apply),
    }),
    publish,
    flush,
    /** Applies penalties of other nodes: those with these keys, or all. */
    async read(keys?: readonly string[]): Promise<void> {
      for (const penalty of (await store?.live(keys)) ?? []) apply(penalty);
    },
  };
}

function fromKey(key: string): Pick<Penalty, 'kind' | 'subject'> {
  const space = key.indexOf(' ');
  return { kind: key.slice(0, space) as PenaltyKind, subject: key.slice(space + 1) };
}

export interface StoredPenalty {
  readonly key: string;
  /** Time until it ends, in ms. */
  readonly leftMs: number;
}

export interface PenaltyStore {
  /** Publishes penalties to the other nodes; when there are too many, drops those that end first. */
  add(penalties: readonly StoredPenalty[]): Promise<void>;
  /** The penalties that have not ended: those with these keys, or all. */
  live(keys?: readonly string[]): Promise<StoredPenalty[]>;
}
