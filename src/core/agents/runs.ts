// What a run of an agent is: its states, what the agent is given, and what becomes of the reply.

/** `message`: the agent gets a text and answers it. `wake`: it is only woken. */
export type RunKind = 'message' | 'wake';

/** queued → running → one of the other four, which are final. An interrupted run goes back to queued. */
export type RunStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'timeout' | 'cancelled';

export type FinalStatus = Exclude<RunStatus, 'queued' | 'running'>;

export const RUN_STATUSES: readonly RunStatus[] = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'timeout',
  'cancelled',
];

/** Where the reply stands on its way to the agent's channel. */
export type DeliveryState = 'none' | 'pending' | 'delivered' | 'failed';

/** Who asked for the run. */
export type RunOrigin = 'webhook' | 'api' | 'cli';

/** One run as the store keeps it. Times are milliseconds since the Unix epoch, UTC. */
export interface Run {
  /** GUID; sorts in the order of acceptance. */
  readonly id: string;
  readonly kind: RunKind;
  readonly agent: string;
  /** Session key; null for a wake of an agent without a fixed one. */
  readonly session: string | null;
  /** null for a wake. */
  readonly message: string | null;
  readonly origin: RunOrigin;
  /** The run this one repeats. */
  readonly rerunOf: string | null;
  readonly status: RunStatus;
  /** How often it was started. */
  readonly attempt: number;
  readonly acceptedAt: number;
  /** Start of the newest attempt. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly reply: string | null;
  /** Why it did not succeed, for people. */
  readonly error: string | null;
  readonly delivery: DeliveryState;
  readonly deliveryTries: number;
  /** When the next try is due; null unless delivery is pending. */
  readonly nextDeliveryAt: number | null;
}

/** What is known of a run when it is accepted. */
export type NewRun = Pick<
  Run,
  'id' | 'kind' | 'agent' | 'session' | 'message' | 'origin' | 'rerunOf' | 'acceptedAt'
>;

/** What the queue keeps in memory of a run that waits. */
export type QueuedRun = Pick<Run, 'id' | 'agent' | 'session'>;

export interface HistoryEntry {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What an agent gets: on standard input, or as the body of a request. */
export interface AgentInput {
  readonly kind: RunKind;
  readonly runId: string;
  readonly agent: string;
  readonly session: string | null;
  readonly message: string | null;
  /** Oldest first; what was said in the session before this message. */
  readonly history: readonly HistoryEntry[];
  /** 1 for the first try; higher after an interruption. */
  readonly attempt: number;
}

/** What an agent answers: a reply, or why there is none. */
export type AgentOutput =
  | { readonly ok: true; readonly reply: string }
  | { readonly ok: false; readonly error: string };

/**
 * An agent of any type. `run` settles only when nothing of the run is left behind, also after `signal` was aborted;
 * what it returns then is not looked at. It never rejects for what the outside world does.
 */
export interface Agent {
  run(input: AgentInput, signal: AbortSignal): Promise<AgentOutput>;
}

/** What a channel delivers. Times are ISO 8601 with `Z`. */
export interface DeliveredReply {
  readonly runId: string;
  readonly agent: string;
  readonly session: string | null;
  readonly status: FinalStatus;
  readonly reply: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Why the run did not succeed; absent when it did. */
  readonly error?: string;
}

/** How one try of a delivery went. `again: false` means that trying again would not help. */
export type DeliveryOutcome =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly detail: string; readonly again: boolean; readonly afterMs?: number };

/** Where replies go. `deliver` never rejects for what the outside world does. */
export interface Channel {
  readonly type: string;
  deliver(reply: DeliveredReply, signal: AbortSignal): Promise<DeliveryOutcome>;
}

/** One try of a delivery, kept. */
export interface Delivery {
  readonly id: string;
  readonly runId: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly channel: string;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly delivered: boolean;
  readonly detail: string;
}

/** A session as lists show it. */
export interface AgentSession {
  readonly key: string;
  readonly agent: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly messages: number;
  readonly bytes: number;
}

export interface SessionMessage extends HistoryEntry {
  readonly at: number;
  readonly runId: string;
}

/** An agent as lists show it. */
export interface AgentView {
  readonly name: string;
  readonly type: string;
  /** `active` from a wake or a run until `idleAfter` later. */
  readonly state: 'idle' | 'active';
  /** Last wake, acceptance or end of a run. */
  readonly lastActiveAt: number | null;
  readonly channel: string;
  /** Whether /hooks may trigger it. */
  readonly webhook: boolean;
  readonly sessionKey: string | null;
  readonly queued: number;
  readonly running: number;
}

/** Whether a run with this status will never change its status again. */
export function isFinal(status: RunStatus): status is FinalStatus {
  return status !== 'queued' && status !== 'running';
}

/** What the agent's channel is given of a finished run. */
export function deliveredReply(run: Run): DeliveredReply | null {
  if (!isFinal(run.status)) return null;
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    runId: run.id,
    agent: run.agent,
    session: run.session,
    status: run.status,
    reply: run.reply,
    startedAt: iso(run.startedAt),
    finishedAt: iso(run.finishedAt),
    ...(run.error === null ? {} : { error: run.error }),
  };
}

/** Whether a finished run has something to deliver: a wake that succeeded without a word has not. */
export function isWorthDelivering(kind: RunKind, status: FinalStatus, reply: string | null): boolean {
  return kind === 'message' || status !== 'succeeded' || (reply !== null && reply.trim() !== '');
}

/** What became of a run that somebody asked for from within. */
export type QueuedAnswer =
  | { readonly ok: true; readonly runId: string; readonly session: string | null }
  | {
      readonly ok: false;
      readonly reason: 'no-agent' | 'no-run' | 'bad-message' | 'key-conflict' | 'full' | 'stopping';
    };

/** What the admin API does with agents and runs. */
export interface AgentControl {
  /** In the order of the configuration. */
  agents(): AgentView[];
  /** Queues a message as the webhook would; `sessionKey` null takes the agent's fixed one, or a new one. */
  send(agent: string, message: string, sessionKey: string | null): Promise<QueuedAnswer>;
  /** Queues a new run with the same agent, session and message. */
  rerun(id: string): Promise<QueuedAnswer>;
  /** Cancels a run, and resolves when nothing of it is left. `elsewhere`: another daemon is running it. */
  cancel(id: string): Promise<'cancelled' | 'finished' | 'not-found' | 'elsewhere'>;
}
