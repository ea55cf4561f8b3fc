// What each sender of notices is given, and answers.
import type { DeliveryOutcome } from '../../core/agents/runs.js';
import type { Clock } from '../../core/clock.js';

/** A notice as a channel sends it. */
export interface NoticeMessage {
  /** The same at every try. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  /** E-mail address or chat id; '' where the channel has only one receiver. */
  readonly to: string;
  /** What the webhook receives. */
  readonly body: Readonly<Record<string, unknown>>;
}

export type SendNotice = (message: NoticeMessage, signal: AbortSignal) => Promise<DeliveryOutcome>;

export interface SenderUses {
  /** Longest a try may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly now: Clock;
}
