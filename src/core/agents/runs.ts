// Runs of agents: their states, the input and output of an agent, and the delivery of the reply.
import type { RequestKey } from '../audit/audit.js';
import { isoOrNull } from '../time/clock.js';

/** `message`: the agent gets a text and replies. `wake`: the agent is started without a text. */
export type RunKind = 'message' | 'wake';

/** queued → running → one of the other four, which are final. An interrupted run goes back to queued. */
export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'timeout', 'cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
type FinalStatus = Exclude<RunStatus, 'queued' | 'running'>;

type DeliveryState = 'none' | 'pending' | 'delivered' | 'failed';

type RunOrigin = 'webhook' | 'api' | 'cli';

/** A run. Times are milliseconds since the Unix epoch, UTC. */
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
  /** Id of the run that this run repeats; null: none. */
  readonly rerunOf: string | null;
  readonly status: RunStatus;
  /** Number of starts. */
  readonly attempt: number;
  readonly acceptedAt: number;
  /** Start of the latest attempt. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly reply: string | null;
  /** Why the run did not succeed, as text for people. */
  readonly error: string | null;
  readonly delivery: DeliveryState;
  readonly deliveryTries: number;
  /** When the next delivery attempt is due; null unless delivery is pending. */
  readonly nextDeliveryAt: number | null;
}

/** The fields of a run when it is accepted. */
export type NewRun = Pick<
  Run,
  'id' | 'kind' | 'agent' | 'session' | 'message' | 'origin' | 'rerunOf' | 'acceptedAt'
>;

export type QueuedRun = Pick<Run, 'id' | 'agent' | 'session'>;

export interface HistoryEntry {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The input of an agent, on standard input or as request body. */
export interface AgentInput extends Pick<Run, 'kind' | 'agent' | 'session' | 'message' | 'attempt'> {
  readonly runId: string;
  /** Earlier messages of the session, oldest first. */
  readonly history: readonly HistoryEntry[];
}

export type AgentOutput =
  | { readonly ok: true; readonly reply: string }
  | { readonly ok: false; readonly error: string };

/**
 * An agent of any type. `run` settles only when all processes and connections of the run have ended, also after `signal` was
 * aborted; its result is then ignored. It does not reject for external failures.
 */
export interface Agent {
  run(input: AgentInput, signal: AbortSignal): Promise<AgentOutput>;
}

export interface RunResult extends Pick<Run, 'reply' | 'error'> {
  readonly status: FinalStatus;
}

/** The reply that a channel delivers. Times are ISO 8601 with `Z`. */
interface DeliveredReply extends Pick<Run, 'agent' | 'session' | 'reply'> {
  readonly runId: string;
  readonly status: FinalStatus;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Why the run did not succeed; absent when it did. */
  readonly error?: string;
}

/** The outcome of a delivery attempt. `again: false` means that a retry cannot succeed. */
export type DeliveryOutcome =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly detail: string; readonly again: boolean; readonly afterMs?: number };

/** A destination of replies. `deliver` does not reject for external failures. */
export interface Channel {
  readonly type: string;
  deliver(reply: DeliveredReply, signal: AbortSignal): Promise<DeliveryOutcome>;
}

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

interface AgentView {
  readonly name: string;
  readonly type: string;
  /** `active` for `idleAfter` after a wake or a run. */
  readonly state: 'idle' | 'active';
  /** Last wake, acceptance or end of a run. */
  readonly lastActiveAt: number | null;
  readonly channel: string;
  /** Whether requests to /hooks may start the agent. */
  readonly webhook: boolean;
  readonly sessionKey: string | null;
  readonly queued: number;
  readonly running: number;
}

export function isFinal(status: RunStatus): status is FinalStatus {
  return status !== 'queued' && status !== 'running';
}

/** The reply of a finished run for the channel of its agent; null: the run has not finished. */
export function deliveredReply(run: Run): DeliveredReply | null {
  if (!isFinal(run.status)) return null;
  return {
    runId: run.id,
    agent: run.agent,
    session: run.session,
    status: run.status,
    reply: run.reply,
    startedAt: isoOrNull(run.startedAt),
    finishedAt: isoOrNull(run.finishedAt),
    ...(run.error === null ? {} : { error: run.error }),
  };
}

/**
 * Whether the result of a finished run is delivered. That of a successful wake without a reply is not.
 * @param hasChannel whether the agent has a channel for its replies
 */
export function shouldDeliver(
  kind: RunKind,
  { status, reply }: Pick<RunResult, 'status' | 'reply'>,
  hasChannel: boolean,
): boolean {
  if (!hasChannel) return false;
  return kind === 'message' || status !== 'succeeded' || (reply !== null && reply.trim() !== '');
}

/** The result of a run requested by the admin API. */
export type QueuedAnswer =
  | { readonly ok: true; readonly runId: string; readonly session: string | null }
  | {
      readonly ok: false;
      readonly reason: 'no-agent' | 'no-run' | 'bad-message' | 'key-conflict' | 'full' | 'stopping';
    };

export interface AgentControl {
  /** In the order of the configuration. */
  agents(): AgentView[];
  /**
   * Queues a message like the webhook; `sessionKey` null: the agent's fixed session, or a new one. Here and below, `requestKey` is
   * stored with the run; rejects or refuses when another request has it.
   */
  send(
    agent: string,
    message: string,
    sessionKey: string | null,
    origin: 'api' | 'cli',
    requestKey?: RequestKey,
  ): Promise<QueuedAnswer>;
  /** Queues a new run with the same agent, session and message. */
  rerun(id: string, requestKey?: RequestKey): Promise<QueuedAnswer>;
  /** Cancels a run, and resolves when it has ended. `elsewhere`: another daemon runs it. */
  cancel(id: string): Promise<'cancelled' | 'finished' | 'not-found' | 'elsewhere'>;
}
