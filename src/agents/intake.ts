// Accepts runs: reserves a place in the queue, stores the run, then responds.
import type { RunToStore, StoredRun } from '../core/agents/run-store.js';
import type { NewRun, QueuedRun } from '../core/agents/runs.js';
import { isDatabaseAway } from '../core/errors.js';
import { DAY_MS } from '../core/time/clock.js';
import { within } from '../core/time/timers.js';
import { createBatches } from './batches.js';
import type { AgentContext, RunKeeper } from './context.js';

/** A requested run. `idempotency` is set when the caller gave an idempotency key. */
export interface WantedRun {
  readonly run: Omit<NewRun, 'id' | 'acceptedAt'>;
  readonly idempotency: {
    readonly key: string;
    readonly digest: string;
    /** Time for which the key is stored, in ms; KEY_LIFETIME_MS unless given. */
    readonly lifetimeMs?: number;
    /** What is stored with the key in place of the answer. */
    readonly stored?: (runId: string) => string;
  } | null;
  /** Returns the answer to the request, once the run is stored. The answer is stored together with the key. */
  answer(runId: string): Readonly<Record<string, unknown>>;
}

export type IntakeResult =
  | { readonly outcome: 'stored'; readonly runId: string; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'replayed'; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'key-reused' }
  | { readonly outcome: 'full' }
  | { readonly outcome: 'stopping' };

export type Intake = ReturnType<typeof createIntake>;

const KEY_LIFETIME_MS = DAY_MS;
/** How long a request waits for `adopted`, in ms; then the queue counts as full. */
const MAX_ADOPTION_WAIT_MS = 5_000;

/** @param runner gets every stored run of this daemon, in the order of acceptance */
export function createIntake(
  context: Pick<AgentContext, 'runs' | 'node' | 'otherNodesAgents' | 'queueLimit' | 'webhooks' | 'now'>,
  keeper: Pick<RunKeeper, 'adopted' | 'doubt'>,
  runner: { enqueue(run: QueuedRun): void },
) {
  const { runs, node, otherNodesAgents, queueLimit, webhooks, now } = context;
  let isStopping = false;
  const runsHere = (agent: string) => !otherNodesAgents.includes(agent);

  /** For an agent of other nodes, counts the queued runs in the database. Soon after the start, the free places may be unknown. */
  async function tryAcquire(agent: string): Promise<boolean> {
    const adopted = keeper.adopted.then(() => true);
    if (!(await within(MAX_ADOPTION_WAIT_MS, adopted, false))) return false;
    if (runsHere(agent)) return queueLimit.tryAcquire(agent);
    return ((await runs.countQueued()).get(agent) ?? 0) < webhooks.queue.perAgent;
  }

  const batches = createBatches(async (items: readonly RunToStore[]) => {
    const outcomes = await runs.add(items, now()).catch((error: unknown) => {
      // The runs may be stored nevertheless.
      if (isDatabaseAway(error)) keeper.doubt();
      throw error;
    });
    for (const [i, { run }] of items.entries()) {
      const stored = outcomes[i];
      if (stored?.outcome === 'stored' && runsHere(run.agent)) runner.enqueue({ ...run, id: stored.runId });
    }
    return outcomes;
  });

  return {
    /** Resolves when the run is stored or refused. Rejects, and stores nothing, when the database fails. */
    async accept({ run: wanted, idempotency, answer }: WantedRun): Promise<IntakeResult> {
      if (isStopping) return { outcome: 'stopping' };
      if (!(await tryAcquire(wanted.agent))) {
        // A repeated request needs no place in the queue: the daemon has already accepted its run.
        const known = idempotency && (await runs.findAnswer(idempotency.key, idempotency.digest, now()));
        return known ? replayed(known) : { outcome: 'full' };
      }
      const run = { ...wanted, acceptedAt: now() };
      const idempotencyEntry = idempotency && {
        key: idempotency.key,
        digest: idempotency.digest,
        answer: idempotency.stored ?? ((runId: string) => JSON.stringify(answer(runId))),
        expiresAt: run.acceptedAt + (idempotency.lifetimeMs ?? KEY_LIFETIME_MS),
      };
      let isKept = false;
      try {
        const outcome = await batches.add({
          run,
          node: runsHere(run.agent) ? node : null,
          idempotency: idempotencyEntry,
        });
        if (outcome.outcome !== 'stored') return replayed(outcome);
        isKept = true;
        return { ...outcome, answer: answer(outcome.runId) };
      } finally {
        if (!isKept && runsHere(wanted.agent)) queueLimit.release(wanted.agent);
      }
    },

    /** Refuses new runs, and resolves when pending ones are stored and answered. */
    async stop(): Promise<void> {
      isStopping = true;
      await batches.idle();
    },
  };
}

function replayed(known: StoredRun): IntakeResult {
  if (known.outcome !== 'replayed') return { outcome: 'key-reused' };
  return { outcome: 'replayed', answer: JSON.parse(known.answer) as Record<string, unknown> };
}
