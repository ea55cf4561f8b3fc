// The interface of the channels that send notices.
import type { DeliveryOutcome } from '../../core/agents/runs.js';
import type { Clock } from '../../core/clock.js';

/** A notice in the form that a channel sends. */
export interface NoticeMessage {
  /** The same at every attempt. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  /** E-mail address or chat id; '' for a channel with only one receiver. */
  readonly to: string;
  /** The body of a webhook. */
  readonly body: Readonly<Record<string, unknown>>;
}

export type SendNotice = (message: NoticeMessage, signal: AbortSignal) => Promise<DeliveryOutcome>;

export interface SenderDeps {
  /** Maximum duration of an attempt, in ms. */
  readonly timeoutMs: number;
  readonly now: Clock;
}
