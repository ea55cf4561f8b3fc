// Taking runs in: a place in the queue, then the database, then the answer. Runs that arrive together are stored by
// one transaction, since the disk is waited for once a transaction and not once a run.

import type { RunStore, RunToStore, StoredRun } from '../core/agents/run-ports.js';
import type { NewRun, QueuedRun } from '../core/agents/runs.js';
import type { Clock } from '../core/clock.js';
import type { QueueRoom } from './room.js';

/** A run somebody asks for. `idempotency` is what the request is known by, if the caller gave it a key. */
export interface WantedRun {
  readonly run: Omit<NewRun, 'id' | 'acceptedAt'>;
  readonly idempotency: { readonly key: string; readonly digest: string } | null;
  /** What the request is answered once the run is stored; kept with its key. */
  answer(runId: string): Readonly<Record<string, unknown>>;
}

export type Taken =
  | { readonly outcome: 'stored'; readonly runId: string; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'replayed'; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'key-reused' }
  | { readonly outcome: 'full' }
  | { readonly outcome: 'stopping' };

export interface Intake {
  /** Settles once the run is on the disk, or is known not to be. Rejects when the database fails; nothing is stored then. */
  take(wanted: WantedRun): Promise<Taken>;
  /** Refuses everything from now on and resolves when what was under way is stored and answered. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly item: RunToStore;
  resolve(stored: StoredRun): void;
  reject(error: unknown): void;
}

/** Runs stored by one transaction: enough to make it cheap, few enough to keep others from waiting long. */
const MAX_BATCH = 500;

/** How long an idempotency key is remembered. */
export const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

export function createIntake(uses: {
  readonly store: Pick<RunStore, 'add' | 'findAnswer'>;
  readonly owner: string;
  readonly room: QueueRoom;
  readonly now: Clock;
  /** Returns GUIDs that sort in the order they were made. */
  readonly newId: () => string;
  /** Called for every stored run, in the order of acceptance. */
  readonly onStored: (run: QueuedRun) => void;
}): Intake {
  const { store, owner, room, now } = uses;
  const waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;
  let isStopping = false;

  /** Stores `item` together with everything else that waits when the previous transaction is done. */
  function stored(item: RunToStore): Promise<StoredRun> {
    return new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      writing ??= writeAll();
    });
  }

  async function writeAll(): Promise<void> {
    // One turn of the event loop: every request whose body has arrived joins in.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      await write(waiting.splice(0, MAX_BATCH));
    }
    writing = null;
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await store.add(
        batch.map(({ item }) => item),
        now(),
      );
      for (const [i, { item, resolve, reject }] of batch.entries()) {
        const outcome = outcomes[i];
        if (outcome?.outcome === 'stored') uses.onStored(item.run);
        if (outcome) resolve(outcome);
        else reject(new Error('the store did not answer for every run'));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    async take({ run: wanted, idempotency, answer }) {
      if (isStopping) return { outcome: 'stopping' };
      if (!room.take(wanted.agent)) {
        // A repeated request needs no place: it was taken in before.
        const known = idempotency && (await store.findAnswer(idempotency.key, idempotency.digest, now()));
        return known ? replayed(known) : { outcome: 'full' };
      }
      const run: NewRun = { ...wanted, id: uses.newId(), acceptedAt: now() };
      const mine = answer(run.id);
      const kept = idempotency && {
        ...idempotency,
        answer: JSON.stringify(mine),
        expiresAt: run.acceptedAt + KEY_LIFETIME_MS,
      };
      let isKept = false;
      try {
        const outcome = await stored({ run, owner, idempotency: kept });
        isKept = outcome.outcome === 'stored';
        return isKept ? { outcome: 'stored', runId: run.id, answer: mine } : replayed(outcome);
      } finally {
        if (!isKept) room.give(wanted.agent);
      }
    },

    async stop() {
      isStopping = true;
      await writing;
    },
  };
}

function replayed(known: StoredRun): Taken {
  if (known.outcome !== 'replayed') return { outcome: 'key-reused' };
  return { outcome: 'replayed', answer: JSON.parse(known.answer) as Record<string, unknown> };
}
