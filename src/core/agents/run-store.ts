// The database interfaces of runs, of their deliveries and of agent sessions. `store/` implements them with knex.
import type { RequestKey } from '../audit/audit.js';
import { HOUR_MS } from '../time/clock.js';
import type {
  AgentInput,
  AgentSession,
  Delivery,
  HistoryEntry,
  NewRun,
  QueuedRun,
  Run,
  RunResult,
  RunStatus,
  SessionMessage,
} from './runs.js';

/** The idempotency record of a request: its key, its digest and its first response. */
export interface Idempotency extends Pick<RequestKey, 'key' | 'digest' | 'expiresAt'> {
  /** The first response as JSON text, for the run id. */
  answer(runId: string): string;
}

/** A run to store; the store creates its id. `node` null: any daemon may adopt it. */
export interface RunToStore {
  readonly run: Omit<NewRun, 'id'>;
  readonly node: string | null;
  readonly idempotency: Idempotency | null;
}

export type StoredRun =
  | { readonly outcome: 'stored'; readonly runId: string }
  | { readonly outcome: 'replayed'; readonly answer: string }
  | { readonly outcome: 'key-reused' };

/** Limits of the history of a session. When one is reached, the oldest messages are deleted. */
export interface HistoryLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

export interface RunEnd extends RunResult {
  readonly finishedAt: number;
  readonly deliver: boolean;
}

export interface EndedRun {
  readonly id: string;
  readonly end: RunEnd;
}

export type Claim =
  | { readonly outcome: 'claimed'; readonly run: Run; readonly history: HistoryEntry[] }
  /** An earlier run of the session is not finished yet, or not known here. */
  | { readonly outcome: 'blocked' }
  /** No longer owned: cancelled, removed, or adopted by another daemon. */
  | { readonly outcome: 'gone' };

/** A daemon that owns runs, as the database knows it. Its lease expires when it does not renew it. */
export interface RunNode {
  readonly id: string;
  /** Host and boot id; `pid` is valid only on the same host and boot. */
  readonly host: string;
  readonly pid: number;
  /** Start time of the process, in the format of the host. */
  readonly pidStart: string;
  /** Last renewal of its lease, in ms since the epoch by its own clock. */
  readonly seenAt: number;
}

/** Number of characters of a message and a reply in lists. */
export const SHOWN_CHARACTERS = 200;

export interface RunFilter {
  readonly agent?: string;
  readonly session?: string;
  readonly status?: RunStatus;
  /** Text in the message or the reply, ignoring case. */
  readonly search?: string;
  /** Only runs with a smaller id. */
  readonly before?: string;
  readonly limit: number;
}

export interface RunStore {
  /**
   * Stores runs in the given order in one transaction. A known idempotency key stores nothing.
   * The transaction creates ids that sort after every id in the table: the order of ids is the order of storing, also with several
   * processes and different clocks.
   */
  add(items: readonly RunToStore[], now: number): Promise<StoredRun[]>;
  /** Looks up an idempotency key; null when it is unknown or expired. */
  findAnswer(key: string, digest: string, now: number): Promise<StoredRun | null>;
  countKeys(prefix: string): Promise<number>;
  /** Stores the answer to a request of /api/v1; it begins with the id of the request. Rejects when another request has the key. */
  storeAnswer(request: RequestKey, answer: string): Promise<void>;
  get(id: string): Promise<Run | null>;
  /** Newest first; message and reply cut to `SHOWN_CHARACTERS`. */
  list(filter: RunFilter): Promise<Run[]>;
  countQueued(): Promise<Map<string, number>>;
  /** When the latest run of the agent was accepted or finished; null without one. */
  lastActive(agent: string): Promise<number | null>;

  renewLease(runner: RunNode): Promise<void>;
  runners(): Promise<RunNode[]>;
  runningOf(node: string): Promise<QueuedRun[]>;
  /**
   * Releases all runs of `node` and removes the runner. Interrupted runs are queued again. A run that was tried `maxAttempts` times,
   * not counting the attempts that `requeue` excused, fails with `error`. A run whose cancellation was requested is cancelled.
   * @param seenAt when the runner has renewed its lease since then, nothing is done
   * @returns the ids of the runs that failed; null when nothing was done
   */
  release(
    node: string,
    maxAttempts: number,
    error: string,
    now: number,
    seenAt?: number,
  ): Promise<string[] | null>;
  /** Releases at most `limit` queued runs of `node`, whose process is dead; returns their number. */
  releaseQueued(node: string, limit: number): Promise<number>;
  /**
   * Queues the runs of `node` again, or only the runs `ids`, without a node, after an outage interrupted them or prevented their
   * start. The interrupted attempts do not count.
   */
  requeue(node: string, now: number, ids?: readonly string[]): Promise<void>;
  /** Ids of the unfinished runs of `node`. */
  heldBy(node: string): Promise<string[]>;
  /** Adopts at most `limit` queued runs without a node, oldest first, of agents other than `exceptAgents`. */
  adopt(node: string, limit: number, exceptAgents?: readonly string[]): Promise<QueuedRun[]>;
  /** Requests the cancellation of a running run from the daemon that runs it. Returns false when the run is not running. */
  requestCancel(id: string, now: number): Promise<boolean>;
  /** Running runs of `node` whose cancellation was requested. */
  cancelRequests(node: string): Promise<string[]>;
  /**
   * Starts runs in one transaction: sets `running` and increments `attempt`. Refuses a run while an earlier run of its session is
   * unfinished. Returns results in the order of `ids`.
   */
  claim(ids: readonly string[], node: string, now: number): Promise<Claim[]>;
  /**
   * Finishes running runs of `node` in one transaction. Adds the message and reply of a successful run to its session, within
   * `limits`. Returns results in the order of `ended`; false for a run that `node` no longer has, of which nothing is written.
   */
  finish(ended: readonly EndedRun[], node: string, limits: HistoryLimits): Promise<boolean[]>;
  /** Cancels a queued run; null when it is not queued. */
  cancelQueued(id: string, now: number, deliver: boolean): Promise<Run | null>;
  /** Deletes at most `limit` runs that finished before `before`, and expired keys; true when more are left. */
  trim(before: number, now: number, limit: number): Promise<boolean>;
}

export interface SessionFilter {
  readonly agent?: string;
  /** Text in the session key, ignoring case. */
  readonly search?: string;
  /** Only sessions after this position of the list. */
  readonly after?: { readonly lastUsedAt: number; readonly key: string };
  readonly limit: number;
}

export interface AgentSessionStore {
  /** Most recently used first. */
  list(filter: SessionFilter): Promise<AgentSession[]>;
  get(key: string): Promise<AgentSession | null>;
  /** Oldest first. */
  messages(key: string): Promise<SessionMessage[]>;
  /** Deletes the history of a session but not its runs; false when there is none. */
  remove(key: string): Promise<boolean>;
  /** Removes sessions last used before `before`. */
  trim(before: number): Promise<number>;
}

/** An attempt is never due so far ahead, in ms: its due time was written before the clock was set back, and it is due now. */
export const NEVER_DUE_AHEAD_MS = 2 * HOUR_MS;

export interface DeliveryStore {
  /**
   * Runs whose next delivery attempt is due by `now`, earliest first: runs of `node`, and runs without a node, which `node`
   * adopts.
   */
  due(node: string, now: number, limit: number): Promise<Run[]>;
  /** When the next attempt for a run of `node` or without a node is due; null when there is none. */
  nextDueAt(node: string): Promise<number | null>;
  /** Stores an attempt. `nextAt` null ends the delivery as delivered or failed. */
  record(delivery: Delivery, nextAt: number | null): Promise<void>;
  /** Ends a delivery without a channel, without an attempt. */
  dismiss(runId: string): Promise<void>;
  /** Oldest first. */
  ofRun(runId: string): Promise<Delivery[]>;
}

/** Set in the environment of every agent command, to find the processes of a run. */
export const RUN_ID_VARIABLE = 'PULSEGATE_RUN_ID';

const VALUES = {
  [RUN_ID_VARIABLE]: ({ runId }: AgentInput) => runId,
  PULSEGATE_AGENT: ({ agent }: AgentInput) => agent,
  PULSEGATE_KIND: ({ kind }: AgentInput) => kind,
  PULSEGATE_SESSION: ({ session }: AgentInput) => session ?? '',
  PULSEGATE_ATTEMPT: ({ attempt }: AgentInput) => String(attempt),
};

export const RUN_VARIABLES: readonly string[] = Object.keys(VALUES);

export const runVariables = (input: AgentInput): Record<string, string> =>
  Object.fromEntries(Object.entries(VALUES).map(([name, value]) => [name, value(input)]));
