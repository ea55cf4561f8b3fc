// A notice: the announced event, its channel and recipient, and the state of its delivery.
import type { AuditEntry } from '../audit/audit.js';
import type { AlertType } from './alerts.js';
import type { EventName } from './event-types.js';

export const CHANNELS = ['email', 'telegram', 'wecom'] as const;
export type NoticeChannel = (typeof CHANNELS)[number];

export const RECIPIENTS = ['operator', 'player'] as const;
export type NoticeRecipient = (typeof RECIPIENTS)[number];

/** `discarded`: an operator discarded the notice, or switched its channel off, while it waited. */
export const NOTICE_STATES = ['pending', 'delivered', 'failed', 'discarded'] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

/** Their texts are not stored, because they have a secret: the only attempt is made at once. */
export const SENT_AT_ONCE = ['contact.code', 'account.handover'] as const;
export type SentAtOnce = (typeof SENT_AT_ONCE)[number];

export type NoticeType =
  | 'account.expiring'
  | 'account.expired'
  | `account.quota-${number}`
  | 'accounts.digest'
  | SentAtOnce
  | AlertType
  | 'test';

/** An event to announce, without channels and recipients. */
export interface Announcement {
  /** Names the account or object, the step and the period, so that the same event is not announced twice. */
  readonly key: string;
  readonly type: NoticeType | EventName;
  readonly at: number;
  readonly accountId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** Until this time the same event can be found again; ms since the epoch. */
  readonly keepUntil: number;
}

/** A channel to a recipient. By `webhook` it is a receiver of events, of this id (core/notices/receivers.ts). */
export interface Way {
  readonly channel: NoticeChannel | 'webhook';
  readonly recipient: NoticeRecipient | (string & {});
}

/** A way that is switched on. */
export interface ChannelState extends Way {
  /** When it was switched on. What happened before is not announced by it. */
  readonly since: number;
  /** The end of its newest digest; `since` before the first. */
  readonly digestedAt: number;
}

/** A recorded reminder. The digests read it, no channel sends it. */
export interface Reminder extends Announcement {
  readonly id: string;
}

/** An announcement to one recipient by one channel. */
export interface Notice extends Announcement, Way {
  /** GUID, the same at every attempt, so that a receiver can detect repeats. Later notices have greater ids. */
  readonly id: string;
  /** The seller of the account, for a notice to a player, or of the receiver; null or left out: the administrator. */
  readonly owner?: string | null;
}

/** An attempt. `detail`: the receiver's answer, or why there was none. */
export interface NoticeTry {
  readonly at: number;
  readonly tookMs: number;
  readonly delivered: boolean;
  readonly detail: string;
}

export interface DueNotice extends Notice {
  /** Number of attempts so far, and of those before it was last sent again. */
  readonly tries: number;
  readonly triesBefore: number;
  /** The newest ones, oldest first. */
  readonly attempts: readonly NoticeTry[];
  readonly dueAt: number;
}

/** A notice in the history. */
export interface StoredNotice extends Omit<DueNotice, 'dueAt'> {
  readonly state: NoticeState;
  /** Time of the newest attempt; null: none yet. */
  readonly triedAt: number | null;
  /** Time of the next attempt; null: none. */
  readonly dueAt: number | null;
  /** The receiver's answer to the newest attempt, or the reason of its failure. */
  readonly detail: string | null;
}

/** Left out: any; of channels: all but `webhook`. */
export interface NoticeScope {
  readonly channel?: Way['channel'] | undefined;
  readonly recipient?: Way['recipient'] | undefined;
  readonly owner?: string | undefined;
}

export interface NoticeFilter extends NoticeScope {
  readonly state?: NoticeState | undefined;
  readonly accountId?: string | undefined;
  /** Only notices with smaller ids. */
  readonly before?: string | undefined;
  /** Only notices of this moment or later. */
  readonly since: number;
  readonly limit: number;
}

export interface NoticeStore {
  /**
   * Adds notices with new keys, which are due at once. Several daemons may add the same notice. Returns the number of added
   * notices.
   */
  add(notices: readonly Notice[]): Promise<number>;
  /** Records reminders with new keys, and adds what `noticesOf` returns for each of these. Returns the number of added notices. */
  record(
    reminders: readonly Reminder[],
    noticesOf: (reminder: Reminder) => readonly Notice[],
  ): Promise<number>;
  /** Returns the reminders that were recorded after `since` and up to `until`, oldest first. */
  recorded(since: number, until: number): Promise<Announcement[]>;
  /** Returns the ways that are switched on. */
  channels(): Promise<ChannelState[]>;
  /** Does nothing when the way is on. */
  switchOn(way: Way, at: number): Promise<void>;
  /** Switches ways off, and discards what waits in them. */
  switchOff(ways: readonly Way[]): Promise<void>;
  /**
   * Records that the digest of a channel reaches from `since` to `until`, and adds its notice; null: it has nothing to say. Returns
   * whether the notice was added: false when another daemon was first.
   */
  addDigest(
    digest: { readonly channel: Way['channel']; readonly since: number; readonly until: number },
    notice: Notice | null,
  ): Promise<boolean>;
  waiting(which: NoticeScope): Promise<number>;
  /** Returns the number of the discarded waiting notices. */
  discard(which: NoticeScope): Promise<number>;
  /**
   * Returns at most `limit` notices that are due by `now`: the operator's first, then those to the players of the seller
   * (or the administrator) and the account with the fewest attempts within the last hour, and of these the earliest. Omits those of
   * sellers with `sellerPerHour` such attempts.
   */
  due(of: NoticeScope, now: number, limit: number, sellerPerHour: number): Promise<DueNotice[]>;
  /** Returns the keys of the notices of this moment or later: those of accounts, or the others. */
  keysSince(since: number, of: 'accounts' | 'alerts'): Promise<string[]>;
  /** Returns when the next notice is due; null: none, except of sellers that must wait at `now`. */
  nextDueAt(of: NoticeScope, now: number, sellerPerHour: number): Promise<number | null>;
  /**
   * Adds a notice whose only attempt is being made, as failed until `tried` says otherwise. Returns false when its seller or its
   * channel has made as many attempts as it may.
   */
  addSent(
    notice: Notice,
    bounds: { readonly sellerPerHour: number; readonly perMinute: number },
  ): Promise<boolean>;
  /**
   * Returns the number of the channel's attempts after `since` and up to `until`, and the time of the first of them. Attempts after
   * `until` were made before the clock was set back.
   */
  triedBetween(
    channel: Way['channel'],
    since: number,
    until: number,
  ): Promise<{ count: number; first: number | null }>;
  /** Postpones a due notice to `until`, for one attempt at `at`. Returns false when another daemon has claimed the notice first. */
  claim(notice: DueNotice, at: number, until: number): Promise<boolean>;
  /** Releases a notice that was claimed and not attempted, unless it was discarded meanwhile. */
  release(notice: DueNotice): Promise<void>;
  /**
   * Records the result of an attempt. `dueAt` null: the notice is finished, either delivered or given up. A discarded notice stays so,
   * unless it was delivered.
   */
  tried(
    key: string,
    result: {
      readonly state: NoticeState;
      readonly dueAt: number | null;
      readonly detail: string;
      readonly attempts?: readonly NoticeTry[];
    },
  ): Promise<void>;
  /** Returns notices, newest first. */
  list(filter: NoticeFilter): Promise<StoredNotice[]>;
  /** Makes a notice that is not pending due now, with all its attempts; null: no such notice has this id. */
  retry(id: string, now: number, of?: NoticeScope): Promise<'queued' | 'pending' | null>;
  /** Returns the runs that failed after a moment, oldest first. */
  failedRuns(
    since: number,
    limit: number,
  ): Promise<{ id: string; agent: string; status: string; error: string | null; finishedAt: number }[]>;
  /**
   * Takes at most `limit` entries of the audit log that are not announced as events, oldest first, and adds what `noticesOf` makes of
   * them, in one transaction. Returns their number. @param noticesOf gets the seller of the entry's account
   */
  announce(
    limit: number,
    noticesOf: (entry: AuditEntry, owner: string | null) => readonly Notice[],
  ): Promise<number>;
  /**
   * Removes finished notices that are older than `before` and whose event cannot be found again at `now`; and of each receiver all
   * but the newest `perReceiver`.
   */
  trim(before: number, now: number, perReceiver: number): Promise<void>;
}
