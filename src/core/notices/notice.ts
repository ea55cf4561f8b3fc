// A notice: what is announced, by which channel, to whom, and where its delivery stands.

export const CHANNELS = ['webhook', 'email', 'telegram', 'wecom'] as const;
export type NoticeChannel = (typeof CHANNELS)[number];

export const RECIPIENTS = ['operator', 'player'] as const;
export type NoticeRecipient = (typeof RECIPIENTS)[number];

export const NOTICE_STATES = ['pending', 'delivered', 'failed'] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

export type NoticeType =
  | 'account.expiring'
  | 'account.expired'
  | `account.quota-${number}`
  | 'logins.failing'
  | 'run.failed'
  | 'test';

/** Something to announce, before it is known by which channels and to whom. */
export interface Announcement {
  /** Names the account or object, the step and the period, so that the same is not announced twice. */
  readonly key: string;
  readonly type: NoticeType;
  readonly at: number;
  readonly accountId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** The same could be found again until then; ms since the epoch. */
  readonly keepUntil: number;
}

/** An announcement for one recipient by one channel. */
export interface Notice extends Announcement {
  /** GUID: the same at every try, so that a receiver can detect repeats. Later notices have greater ones. */
  readonly id: string;
  readonly channel: NoticeChannel;
  readonly recipient: NoticeRecipient;
}

export interface DueNotice extends Notice {
  /** Made so far. */
  readonly tries: number;
  readonly dueAt: number;
}

/** A notice of the history. */
export interface StoredNotice extends Notice {
  readonly state: NoticeState;
  readonly tries: number;
  /** The newest try; null: none yet. */
  readonly triedAt: number | null;
  /** The next try; null: none. */
  readonly dueAt: number | null;
  /** What the receiver answered to the newest try, or why it failed. */
  readonly detail: string | null;
}

export interface NoticeFilter {
  readonly state?: NoticeState | undefined;
  readonly channel?: NoticeChannel | undefined;
  readonly accountId?: string | undefined;
  /** Only those with ids before this one. */
  readonly before?: string | undefined;
  /** Only those of this time or later. */
  readonly since: number;
  readonly limit: number;
}

export interface NoticeStore {
  /** Adds those whose key is not known, to be sent at once; several daemons may add the same. Returns how many it added. */
  add(notices: readonly Notice[]): Promise<number>;
  /** At most `limit` of a channel that are due by `now`, the earliest first. */
  due(channel: NoticeChannel, now: number, limit: number): Promise<DueNotice[]>;
  /** When the next one of a channel is due; null without one. */
  nextDueAt(channel: NoticeChannel): Promise<number | null>;
  /** How many of a channel were tried since a moment, and when the first of these was. */
  triedSince(channel: NoticeChannel, since: number): Promise<{ count: number; first: number | null }>;
  /** Puts off a notice that is due until `until`, for one try at `at`; false when another daemon was first. */
  claim(notice: DueNotice, at: number, until: number): Promise<boolean>;
  /** Gives back a notice that was claimed and not tried. */
  release(notice: DueNotice): Promise<void>;
  /** Records the result of a try. `dueAt` null ends it, delivered or given up. */
  tried(
    key: string,
    result: { readonly state: NoticeState; readonly dueAt: number | null; readonly detail: string },
  ): Promise<void>;
  /** Newest first. */
  list(filter: NoticeFilter): Promise<StoredNotice[]>;
  /** Makes a notice that is not pending due now, with all its tries; null: there is none with this id. */
  retry(id: string, now: number): Promise<'queued' | 'pending' | null>;
  /** Runs that failed since a moment, the oldest first. */
  failedRuns(
    since: number,
    limit: number,
  ): Promise<{ id: string; agent: string; status: string; error: string | null; finishedAt: number }[]>;
  /** Removes what ended, is older than `before`, and cannot be found again at `now`. */
  trim(before: number, now: number): Promise<void>;
}
