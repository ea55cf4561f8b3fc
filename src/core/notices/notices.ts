// Finds events to announce, and stores one notice per recipient and channel: once for each account, step and period, and at most
// once for each account and step on a UTC day, so that repeated changes of an account do not send a notice each time. Of alerts, at
// most one of a type and object within an hour.
import type { Account } from '../accounts/account.js';
import { type Contacts, NO_CONTACTS } from '../accounts/contacts.js';
import type { AuditStore } from '../audit/audit.js';
import { type Clock, DAY_MS, MINUTE_MS } from '../clock.js';
import { sourceText } from '../source.js';
import { ALERT_PAUSE_MS, ALERTED_ACTIONS, type Alert, alertKey, auditAlert } from './alerts.js';
import { type Announcement, CHANNELS, type Notice, type NoticeStore, RECIPIENTS } from './notice.js';
import { addressOf, isSetUp, type NoticeSettings } from './notice-settings.js';

/** The used part of an account's quota. */
export interface QuotaUse {
  readonly usedBytes: number;
  readonly quotaBytes: number;
  /** Identifies the quota period. */
  readonly period: string;
  /** End of the period, in ms since the epoch; null: the quota never resets. */
  readonly endsAt: number | null;
}

export interface NoticeOptions {
  readonly store: Pick<NoticeStore, 'add' | 'failedRuns' | 'keysSince' | 'trim'>;
  readonly audit: Pick<AuditStore, 'list'>;
  readonly settings: () => NoticeSettings;
  readonly accounts: () => Iterable<Account>;
  readonly quotaUse: (account: Account) => QuotaUse | null;
  readonly maxLoginFailures: number;
  readonly loginFailureWindowMs: number;
  readonly now: Clock;
  readonly newId: () => string;
}

export interface Notices {
  /** Call it after each failed login that is a guess. */
  guessed(client: string): void;
  /** Finds events to announce and stores their notices. Call it about once a minute. Returns whether any notice was new. */
  announce(): Promise<boolean>;
}

const MAX_SOURCES = 10_000;
const BATCH = 50;
/** The audit log is read again this far back: an entry gets its time before its transaction ends. */
const AUDIT_OVERLAP_MS = MINUTE_MS;
/** Time in which the occurrence of an alert can be found again. */
const KEEP_ALERT_MS = DAY_MS;
/** Time after an expiry in which it is announced. A daemon that starts later does not announce it. */
const EXPIRED_MS = DAY_MS;
/** Most keys of stored notices in memory. Notices with these keys are not written to the database again each minute. */
const MAX_KNOWN = 200_000;
const FOREVER = Number.MAX_SAFE_INTEGER;
/** Each notice goes to each recipient by each channel that is set up. */
const WAYS = RECIPIENTS.flatMap((recipient) => CHANNELS.map((channel) => ({ recipient, channel })));

/** An announcement with the player's contacts. Without contacts it goes only to the operator. */
interface Found {
  readonly announcement: Announcement;
  readonly contacts: Contacts;
}

export function createNotices(options: NoticeOptions): Notices {
  const { store, now } = options;
  const failures = new Map<string, { since: number; count: number }>();
  const known = new Set<string>();
  let runsSince = now();
  let auditSince = runsSince;
  /** Earlier changes are not announced: no channel was set up, or the daemon was not running. */
  let onSince = runsSince;

  function* ofAccounts(settings: NoticeSettings, at: number): Generator<Found> {
    for (const account of options.accounts()) {
      if (!account.isEnabled) continue;
      const expiry = expiryOf(account, settings.expiryDays, at);
      const { contacts } = account;
      if (expiry) yield { announcement: expiry, contacts };
      const use = options.quotaUse(account);
      const quota = use && quotaOf(account, use, settings.quotaPercent, at);
      if (quota) yield { announcement: quota, contacts };
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

  async function ofRuns(at: number): Promise<Alert[]> {
    const failed = await store.failedRuns(runsSince, BATCH);
    return failed.map(({ id, agent, status, error, finishedAt }) => {
      runsSince = Math.max(runsSince, finishedAt);
      const data = { run: id, agent, status, error };
      return { type: 'run.failed', object: agent, event: id, at, data };
    });
  }

  async function ofAudit(at: number): Promise<Alert[]> {
    const from = auditSince - AUDIT_OVERLAP_MS;
    auditSince = at;
    const entries = await options.audit.list({ action: ALERTED_ACTIONS, from }, null, BATCH);
    return entries.filter((entry) => entry.at > onSince).map(auditAlert);
  }

  function* noticesOf(found: Iterable<Found>, settings: NoticeSettings): Generator<Notice> {
    for (const { announcement, contacts } of found) {
      for (const { recipient, channel } of WAYS) {
        const key = `${announcement.key} ${channel} ${recipient}`;
        if (!known.has(key) && addressOf(settings, channel, recipient, contacts) !== null)
          yield { ...announcement, key, id: options.newId(), channel, recipient };
      }
    }
  }

  /**
   * Omits notices of an account and step that already had one on this UTC day, which the next day finds again, and alerts of a type
   * and object that already had one within the hour.
   */
  async function withoutRepeats(notices: readonly Notice[], at: number): Promise<Notice[]> {
    const sent = new Set<string>();
    const read = async (of: 'accounts' | 'alerts', since: number) => {
      if (notices.some(({ accountId }) => (accountId === null) === (of === 'alerts')))
        for (const key of await store.keysSince(since, of)) sent.add(slotOf(key));
    };
    await read('accounts', dayOf(at));
    await read('alerts', at - ALERT_PAUSE_MS);
    return notices.filter(({ key }) => {
      const isFirst = !sent.has(slotOf(key));
      sent.add(slotOf(key));
      return isFirst;
    });
  }

  return {
    guessed(address) {
      const client = sourceText(address);
      const seen = failures.get(client);
      if (seen) seen.count += 1;
      else if (failures.size < MAX_SOURCES) failures.set(client, { since: now(), count: 1 });
    },

    async announce() {
      const at = now();
      const settings = options.settings();
      if (!CHANNELS.some((channel) => isSetUp(settings, channel))) {
        failures.clear();
        runsSince = auditSince = onSince = at;
        return false;
      }
      const others = [...ofLogins(at), ...(await ofRuns(at)), ...(await ofAudit(at))].map(toOperator);
      const found = [...noticesOf([...ofAccounts(settings, at), ...others], settings)];
      const notices = await withoutRepeats(found, at);
      const added = await store.add(notices);
      if (known.size > MAX_KNOWN) known.clear();
      // An omitted notice of an account is found again the next day, an omitted alert never.
      for (const { key } of [...notices, ...found.filter(({ accountId }) => accountId === null)])
        known.add(key);
      await store.trim(at - settings.historyDays * DAY_MS, at);
      return added > 0;
    },
  };
}

const toOperator = (alert: Alert): Found => {
  const { type, at, data } = alert;
  const keepUntil = at + KEEP_ALERT_MS;
  return {
    announcement: { key: alertKey(alert), type, at, accountId: null, data, keepUntil },
    contacts: NO_CONTACTS,
  };
};

/** The first moment of the UTC day. */
const dayOf = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

/** Returns a key without its third part: step, account, channel and recipient; or type, object, channel and recipient. */
function slotOf(key: string): string {
  const parts = key.split(' ');
  return [...parts.slice(0, 2), ...parts.slice(-2)].join(' ');
}

/** Announces only the nearest reached step: after a pause of the daemon, earlier steps are not announced later. */
function expiryOf(
  { id, username, expiresAt }: Account,
  days: readonly number[],
  at: number,
): Announcement | null {
  if (expiresAt === null || at >= expiresAt + EXPIRED_MS) return null;
  const reached = days.filter((each) => each > 0 && expiresAt - at <= each * DAY_MS);
  const isExpired = at >= expiresAt;
  if (isExpired ? !days.includes(0) : reached.length === 0) return null;
  const step = isExpired ? 0 : Math.min(...reached);
  // The day, not the time: another hour of the same day does not count as another expiry.
  const day = dayOf(expiresAt);
  return {
    key: `expiring-${step} ${id} ${day}`,
    type: isExpired ? 'account.expired' : 'account.expiring',
    at,
    accountId: id,
    data: { account: id, username, expiresAt: new Date(expiresAt).toISOString() },
    keepUntil: day + DAY_MS + EXPIRED_MS,
  };
}

/** Announces only the highest reached share. */
function quotaOf(
  { id, username }: Account,
  { usedBytes, quotaBytes, period, endsAt }: QuotaUse,
  percents: readonly number[],
  at: number,
): Announcement | null {
  const reached = percents.filter((each) => usedBytes * 100 >= quotaBytes * each);
  if (reached.length === 0) return null;
  const step = Math.max(...reached);
  const used = Math.floor((usedBytes / quotaBytes) * 100);
  return {
    // A changed quota counts as a new one, which is announced again, but not on the same day.
    key: `quota-${step} ${id} ${period} ${quotaBytes}`,
    type: `account.quota-${step}`,
    at,
    accountId: id,
    data: { account: id, username, used, usedBytes, quotaBytes },
    keepUntil: endsAt ?? FOREVER,
  };
}
