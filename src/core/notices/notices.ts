// Finds what to announce. Alerts go to the operator at once, at most one of a type and object within an hour. Reminders about
// accounts are recorded, once for each account, step and period, and at most once for each account and step on a day: a player
// gets a notice of each, the operator a digest. Neither gets what was found before the channel was switched on.
import type { Account } from '../accounts/account.js';
import { sourceText } from '../addresses/ip.js';
import type { AuditStore } from '../audit/audit.js';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../time/clock.js';
import { ALERT_PAUSE_MS, ALERTED_ACTIONS, type Alert, alertKey, auditAlert, isAlerted } from './alerts.js';
import { type ConfirmationStore, type IsTrusted, trustedContacts, trustOf } from './confirmations.js';
import type { Announcement, ChannelState, Notice, NoticeStore, Way } from './notice.js';
import { CHANNELS, RECIPIENTS } from './notice.js';
import { addressOf, type NoticeSettings, sendsTo } from './notice-settings.js';
import type { QuotaUse } from './reminders.js';
import { digestEnd, digestOf, expiryOf, quotaOf, reminderSlot, suspensionOf } from './reminders.js';

export type Notices = ReturnType<typeof createNotices>;

/** How many uses of an account a limit of the guard has slowed, and how many it has refused. */
interface GuardCounts {
  slowed: number;
  refused: number;
}

const MAX_SOURCES = 10_000;
const BATCH = 50;
/** The audit log is read again this far back: an entry gets its time before its transaction ends. */
const AUDIT_OVERLAP_MS = MINUTE_MS;
/** Time in which the occurrence of an alert can be found again. */
const KEEP_ALERT_MS = DAY_MS;
/** After its start the daemon looks for occurrences since then: it may have been down. */
const LOOK_BACK_MS = HOUR_MS;
/** Most keys of stored notices in memory. Notices with these keys are not written to the database again each minute. */
const MAX_KNOWN = 200_000;
const WAYS: readonly Way[] = RECIPIENTS.flatMap((recipient) =>
  CHANNELS.map((channel) => ({ recipient, channel })),
);

const nameOf = ({ recipient, channel }: Way): string => `${channel} ${recipient}`;

export function createNotices(options: {
  readonly store: NoticeStore;
  readonly contactCodes: Pick<ConfirmationStore, 'confirmed'>;
  readonly audit: Pick<AuditStore, 'list'>;
  /** Returns the alerts of the state of the service: lost nodes, certificates. */
  readonly stateAlerts: () => Promise<Alert[]>;
  readonly settings: () => NoticeSettings;
  /** Returns a notice for each receiver of an event; none for what is no event, or one of the audit log. */
  readonly eventsOf: (found: Announcement, owner: string | null) => readonly Notice[];
  readonly hasReceivers: () => boolean;
  readonly accounts: () => Iterable<Account>;
  readonly account: (id: string) => Account | undefined;
  readonly quotaUse: (account: Account) => QuotaUse | null;
  /** The start of the day of a time, in ms since the epoch. */
  readonly midnight: (at: number) => number;
  /** Most notices of one receiver in the history. */
  readonly keptPerReceiver: number;
  readonly maxLoginFailures: number;
  readonly loginFailureWindowMs: number;
  readonly now: Clock;
  readonly newId: () => string;
}) {
  const { store, now, newId } = options;
  const failures = new Map<string, { since: number; count: number }>();
  /** Since the last look, by account. */
  const guarded = new Map<string, { limit: string; since: number; until?: string } & GuardCounts>();
  const known = new Set<string>();
  let runsSince = now() - LOOK_BACK_MS;
  let auditSince = runsSince;
  let wereAllOff = false;

  function* ofAccounts(settings: NoticeSettings, at: number): Generator<Announcement> {
    for (const account of options.accounts()) {
      if (!account.isEnabled) continue;
      const expiry = expiryOf(account, settings.expiryDays, at);
      if (expiry) yield expiry;
      const use = options.quotaUse(account);
      const quota = use && quotaOf(account, use, settings.quotaPercent, at);
      if (quota) yield quota;
      const suspension = suspensionOf(account, at);
      if (suspension) yield suspension;
    }
  }

  function* ofLogins(at: number): Generator<Alert> {
    for (const [client, { since, count }] of failures) {
      if (count >= options.maxLoginFailures) {
        const data = { client, failures: count, since: new Date(since).toISOString() };
        yield { type: 'logins.failing', object: client, event: String(since), at, data };
      }
      if (at - since >= options.loginFailureWindowMs) failures.delete(client);
    }
  }

  function ofGuard(at: number): Alert[] {
    const found = Array.from(guarded, ([username, { since, ...seen }]): Alert => {
      const data = { username, ...seen, since: new Date(since).toISOString() };
      const type = seen.until === undefined ? 'account.limited' : 'account.suspended';
      return { type, object: username, event: String(since), at, data };
    });
    guarded.clear();
    return found;
  }

  async function ofRuns(): Promise<Alert[]> {
    const failed = await store.failedRuns(runsSince, BATCH);
    return failed.map(({ id, agent, status, error, finishedAt }) => {
      runsSince = Math.max(runsSince, finishedAt);
      const data = { run: id, agent, status, error };
      return { type: 'run.failed', object: agent, event: id, at: finishedAt, data };
    });
  }

  async function ofAudit(at: number): Promise<Alert[]> {
    const from = auditSince - AUDIT_OVERLAP_MS;
    auditSince = at;
    const entries = await options.audit.list({ action: ALERTED_ACTIONS, from }, null, BATCH);
    return entries.filter(isAlerted).map(auditAlert);
  }

  /** Stores the alerts that are new. Returns their number. */
  async function alert(channels: readonly ChannelState[], at: number): Promise<number> {
    const alerts = [
      ...ofLogins(at),
      ...ofGuard(at),
      ...(await ofRuns()),
      ...(await ofAudit(at)),
      ...(await options.stateAlerts()),
    ];
    const ways = channels.filter(({ recipient }) => recipient === 'operator');
    const all = alerts.flatMap((each) => {
      const { type, data } = each;
      const alert = { key: alertKey(each), type, at, data, keepUntil: at + KEEP_ALERT_MS, accountId: null };
      const to = ways.filter(({ since }) => each.at > since).map((way) => noticeTo(alert, asWay(way)));
      return [...to, ...options.eventsOf(alert, null)];
    });
    const found = all.filter(({ key }) => !known.has(key));
    if (found.length === 0) return 0;
    const sent = new Set((await store.keysSince(at - ALERT_PAUSE_MS, 'alerts')).map(alertSlot));
    const isFirst = ({ key }: Notice) => !sent.has(alertSlot(key)) && sent.add(alertSlot(key));
    const added = await store.add(found.filter(isFirst));
    // An alert that was left out is not found again after the hour.
    for (const { key } of found) known.add(key);
    return added;
  }

  const noticeTo = (found: Announcement, way: Way): Notice => ({
    ...found,
    key: `${found.key} ${nameOf(way)}`,
    id: newId(),
    ...way,
  });

  /** Records the reminders that are new, with the notices to their players. Returns whether there were any. */
  async function remind(channels: readonly ChannelState[], at: number): Promise<boolean> {
    // As of the same moment as the accounts: one that was added after a change of the settings is announced by them.
    const settings = options.settings();
    const found = [...ofAccounts(settings, at)].filter(({ key }) => !known.has(key));
    if (found.length === 0) return false;
    const today = new Set((await store.keysSince(options.midnight(at), 'accounts')).map(reminderSlot));
    // The next day finds the others again.
    const reminders = found.filter(({ key }) => !today.has(reminderSlot(key)));
    const ways = channels.filter(({ recipient }) => recipient === 'player');
    const confirmed = ways.length === 0 ? [] : await options.contactCodes.confirmed();
    const isTrusted = trustOf(settings, confirmed);
    const added = await store.record(
      reminders.map((reminder) => ({ ...reminder, id: newId() })),
      (reminder) => noticesOf(reminder, ways, settings, isTrusted),
    );
    for (const { key } of reminders) known.add(key);
    return added > 0;
  }

  function noticesOf(
    reminder: Announcement,
    ways: readonly Way[],
    settings: NoticeSettings,
    isTrusted: IsTrusted,
  ): Notice[] {
    const account = options.account(reminder.accountId ?? '');
    if (!account) return [];
    const contacts = trustedContacts(account, isTrusted);
    const { owner } = account;
    const toPlayer = ways
      .filter((way) => addressOf(settings, way, contacts) !== null)
      .map((way) => ({ ...noticeTo(reminder, asWay(way)), owner }));
    return [...toPlayer, ...options.eventsOf(reminder, owner)];
  }

  /** Makes the digests that are due. Returns whether any was new. */
  async function digest(
    channels: readonly ChannelState[],
    settings: NoticeSettings,
    at: number,
  ): Promise<boolean> {
    const until = digestEnd(at, settings.digestHour, settings.timeZone);
    let isNew = false;
    for (const { channel, recipient, digestedAt: since } of channels) {
      if (recipient !== 'operator' || until <= since) continue;
      const data = digestOf(await store.recorded(since, until), { since, until }, options.account);
      const key = `digest ${until} ${channel}`;
      const notice: Notice | null = data && {
        key,
        id: newId(),
        type: 'accounts.digest',
        at,
        data,
        accountId: null,
        channel,
        recipient,
        keepUntil: at,
      };
      isNew = (await store.addDigest({ channel, since, until }, notice)) || isNew;
    }
    return isNew;
  }

  async function switchOff(channels: readonly ChannelState[], settings: NoticeSettings): Promise<void> {
    const off = channels.filter((way) => !sendsTo(settings, way));
    if (off.length > 0) await store.switchOff(off.map(asWay));
  }

  return {
    /** Call it after each failed login that is a guess. */
    guessed(address: string): void {
      const client = sourceText(address);
      const seen = failures.get(client);
      if (seen) seen.count += 1;
      else if (failures.size < MAX_SOURCES) failures.set(client, { since: now(), count: 1 });
    },

    /** A limit of the guard has slowed or refused uses of an account, or has suspended it until a time. */
    guarded(username: string, limit: string, counts: GuardCounts, until?: string): void {
      const seen = guarded.get(username) ?? { limit, slowed: 0, refused: 0, since: now() };
      seen.slowed += counts.slowed;
      seen.refused += counts.refused;
      if (until !== undefined) seen.until = until;
      if (guarded.size < MAX_SOURCES) guarded.set(username, seen);
    },

    /** Finds what to announce and stores notices. Call it about once a minute. Returns whether any notice was new. */
    async announce(): Promise<boolean> {
      const at = now();
      const settings = options.settings();
      const on = WAYS.filter((way) => sendsTo(settings, way));
      const areAllOff = on.length === 0 && !options.hasReceivers();
      if (areAllOff) for (const seen of [failures, guarded]) seen.clear();
      if (areAllOff && wereAllOff) return false;
      const stored = await store.channels();
      await switchOff(stored, settings);
      wereAllOff = areAllOff;
      if (wereAllOff) return false;
      const channels = stored.filter((way) => sendsTo(settings, way));
      if (known.size > MAX_KNOWN) known.clear();
      const alerts = await alert(channels, at);
      const hasReminders = await remind(channels, at);
      const hasDigest = await digest(channels, settings, at);
      // After `remind`: what it found is older than a channel that was just switched on.
      const names = new Set(channels.map(nameOf));
      for (const way of on) if (!names.has(nameOf(way))) await store.switchOn(way, now());
      await store.trim(at - settings.historyDays * DAY_MS, at, options.keptPerReceiver);
      return alerts > 0 || hasReminders || hasDigest;
    },

    /** Discards the waiting notices of channels that are switched off. Call it when the settings changed. */
    discardOff: async (): Promise<void> => switchOff(await store.channels(), options.settings()),
  };
}

const asWay = ({ channel, recipient }: Way): Way => ({ channel, recipient });

/** Returns the key of an alert without its occurrence: type, object, channel and recipient. */
const alertSlot = (key: string): string => key.split(' ').toSpliced(2, 1).join(' ');
