// What the queue of runs asks of a database. `store/` implements it with knex.
import type { FinalStatus, HistoryEntry, NewRun, QueuedRun, Run, RunStatus } from './runs.js';

/** How a request is known again: its key, what it said, and what it was answered. */
export interface Idempotency {
  readonly key: string;
  /** Digest of the request's meaning; the same key with another digest is refused. */
  readonly digest: string;
  /** The first answer, as JSON text, for the run's id. */
  answer(runId: string): string;
  readonly expiresAt: number;
}

/** A run to store; the store makes its id. `owner` null leaves it to whichever daemon comes first. */
export interface RunToStore {
  readonly run: Omit<NewRun, 'id'>;
  readonly owner: string | null;
  readonly idempotency: Idempotency | null;
}

export type StoredRun =
  | { readonly outcome: 'stored'; readonly runId: string }
  | { readonly outcome: 'replayed'; readonly answer: string }
  | { readonly outcome: 'key-reused' };

/** How long a session's history may grow: whichever limit is reached first; the oldest messages go. */
export interface HistoryLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** How a run ended, and what of it enters the session. */
export interface RunEnd {
  readonly status: FinalStatus;
  readonly finishedAt: number;
  readonly reply: string | null;
  readonly error: string | null;
  /** Whether a delivery is to follow. */
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
  /** Not ours any more: cancelled, removed, or taken over. */
  | { readonly outcome: 'gone' };

/** A daemon that holds runs. Its lease ends when it has not been seen for a while. */
export interface Runner {
  readonly id: string;
  /** Host and boot; tells whether `pid` means anything here. */
  readonly host: string;
  readonly pid: number;
  /** When the process started, in the host's own terms. */
  readonly pidStart: string;
  readonly seenAt: number;
}

/** How much of a message and a reply a list shows, in characters. */
export const SHOWN_CHARACTERS = 200;

export interface RunFilter {
  readonly agent?: string;
  readonly session?: string;
  readonly status?: RunStatus;
  /** Only runs with this text in the message or the reply, whatever its case. */
  readonly search?: string;
  /** Only runs whose id begins so, in lower case. */
  readonly idPrefix?: string;
  /** Only runs with a smaller id. */
  readonly before?: string;
  readonly limit: number;
}

export interface RunStore {
  /**
   * Stores runs in the order given, in one transaction: all or none. Known idempotency keys store nothing.
   * Ids are made in that transaction and sort after every id in the table: the order of ids is the order of storing, whichever
   * process stores a run and whatever its clock says.
   */
  add(items: readonly RunToStore[], now: number): Promise<StoredRun[]>;
  /** Looks a key up without storing anything; null when it is unknown or expired. */
  findAnswer(key: string, digest: string, now: number): Promise<StoredRun | null>;
  get(id: string): Promise<Run | null>;
  /** Newest first; message and reply cut to `SHOWN_CHARACTERS`. */
  list(filter: RunFilter): Promise<Run[]>;
  /** How many runs wait, by agent. */
  countQueued(): Promise<Map<string, number>>;
  /** When the agent's newest run was accepted or finished; null without one. */
  lastActive(agent: string): Promise<number | null>;

  /** Notes that a runner lives. */
  seen(runner: Runner): Promise<void>;
  runners(): Promise<Runner[]>;
  /** Runs that `owner` has under way. */
  runningOf(owner: string): Promise<QueuedRun[]>;
  /**
   * Gives up everything `owner` holds: interrupted runs go back to the queue, those already tried `maxAttempts`
   * times fail with `error`, those that were to be cancelled are. Forgets the runner. Returns the ids of the runs that failed.
   * @param seenAt nothing is done, and null returned, when the runner has been seen since
   */
  release(
    owner: string,
    maxAttempts: number,
    error: string,
    now: number,
    seenAt?: number,
  ): Promise<string[] | null>;
  /** Takes over at most `limit` queued runs that nobody holds, oldest first, of other agents than `exceptAgents`. */
  adopt(owner: string, limit: number, exceptAgents?: readonly string[]): Promise<QueuedRun[]>;
  /** Asks whichever daemon has a run under way to cancel it; false: nobody has. */
  requestCancel(id: string, now: number): Promise<boolean>;
  /** Runs that `owner` has under way and that are to be cancelled. */
  cancelRequests(owner: string): Promise<string[]>;
  /**
   * Starts runs, all in one transaction: `running`, one more attempt. Refused for those of whose session an earlier run is
   * unfinished. Answers in the order of `ids`.
   */
  claim(ids: readonly string[], owner: string, now: number): Promise<Claim[]>;
  /**
   * Ends runs that `owner` has under way, each named once. A message that succeeded enters its session with the reply,
   * within `limits`. All in one transaction. Answers in the order of `ended`, false for a run that is not the owner's any
   * more; nothing of it is written then.
   */
  finish(ended: readonly EndedRun[], owner: string, limits: HistoryLimits): Promise<boolean[]>;
  /** Cancels a run that still waits; null when it does not wait. */
  cancelQueued(id: string, now: number, deliver: boolean): Promise<Run | null>;
  /** Removes what finished before `before`, at most `limit` runs at a time, and expired keys; true when more are left. */
  trim(before: number, now: number, limit: number): Promise<boolean>;
}
