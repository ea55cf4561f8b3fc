// The types of events, and which entries of the audit log are events. `etc/api.md` has the data of each.
import type { AuditEntry } from '../audit/audit.js';
import { ALERTED_ACTIONS, auditAlert, isAlerted } from './alerts.js';

/** Those that notices find, once in `notices.lookEvery`. */
const OF_NOTICES = [
  'account.expiring',
  'account.expired',
  'account.quota',
  'account.limited',
  'logins.failing',
  'run.failed',
  'certificate.expiring',
  'node.lost',
  'node.back',
  'database.trouble',
] as const;

export const EVENT_NAMES = [
  'account.created',
  'account.changed',
  'account.renewed',
  'account.suspended',
  'account.credentials',
  'account.removed',
  'account.first-login',
  'session.opened',
  'session.closed',
  ...OF_NOTICES,
  'operator.new-address',
  ...ALERTED_ACTIONS,
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** Sellers get these too, of their own accounts. */
export const isOfAccount = (type: string): boolean =>
  /^(account|session)\./.test(type) && type !== 'account.limited';

export const isOfNotices = (type: string): boolean => OF_NOTICES.some((each) => each === eventNameOf(type));

/** Of a notice, which may be at a step of a quota. */
export const eventNameOf = (type: string): string => type.replace(/^(account\.quota)-\d+$/, '$1');

const ACCOUNT_EVENTS: Readonly<Record<string, EventName>> = {
  'account.create': 'account.created',
  'account.delete': 'account.removed',
  'account.limits': 'account.changed',
  'account.reset-usage': 'account.changed',
  'account.password': 'account.credentials',
  'account.subscription': 'account.credentials',
  'account.subscription-revoke': 'account.credentials',
  'account.player-link-revoke': 'account.credentials',
};

/** The actions in the audit log that are events. */
export const EVENT_ACTIONS: ReadonlySet<string> = new Set([
  ...Object.keys(ACCOUNT_EVENTS),
  'account.update',
  'operator.new-address',
  ...ALERTED_ACTIONS,
]);

export function auditEvents(entry: AuditEntry) {
  const { id, at, action, object, by, before, after } = entry;
  if (object.type !== 'account') {
    if (!EVENT_ACTIONS.has(action) || !isAlerted(entry)) return [];
    const { data } = auditAlert(entry);
    return [{ key: `audit ${id}`, type: action as EventName, at, accountId: null, data }];
  }
  const data = { account: object.id, username: object.name, by: by.name, via: by.via, before, after };
  return typesOf(entry).map((type) => {
    return { key: `audit ${id} ${type}`, type, at, accountId: object.id, data };
  });
}

function typesOf({ action, before, after }: Pick<AuditEntry, 'action' | 'before' | 'after'>): EventName[] {
  if (action !== 'account.update') return [ACCOUNT_EVENTS[action] ?? []].flat();
  const { expiresAt: old } = before ?? {};
  const { expiresAt, suspendedUntil, suspendReason: _, isEnabled, password, ...others } = after ?? {};
  const types: EventName[] = [];
  const isLater = expiresAt === null || Date.parse(String(expiresAt)) > Date.parse(String(old));
  if (typeof old === 'string' && expiresAt !== undefined && isLater) types.push('account.renewed');
  if (typeof suspendedUntil === 'string' || isEnabled === false) types.push('account.suspended');
  if (password !== undefined) types.push('account.credentials');
  const isChanged = types.length === 0 || Object.keys(others).length > 0;
  return isChanged ? [...types, 'account.changed'] : types;
}
