// Creates the audit records for changes of accounts.
import { type Actor, type AuditRecord, auditRecord, differences } from '../audit/audit.js';
import type { Account } from './account.js';
import { auditedFields } from './fields/account-fields.js';
import { maskedContact } from './fields/contacts.js';
import type { AccountLimits } from './usage/limits.js';

/**
 * The audit record for a change of an account; `before` is null for a new account, `after` is null for a removed one. Of a new
 * password it contains only that it changed. Null when nothing differs.
 */
export function accountAudit(by: Actor, before: Account | null, after: Account | null): AuditRecord | null {
  const account = after ?? before;
  if (!account) return null;
  const object = objectOf(account);
  if (!before) return auditRecord(by, 'account.create', object, null, masked(shown(account)));
  if (!after) return auditRecord(by, 'account.delete', object, masked(shown(account)));
  const isNewPassword = before.passwordHash !== after.passwordHash;
  const isRenamed = before.username !== after.username;
  const named = (one: Account) => (isRenamed ? { username: one.username, ...shown(one) } : shown(one));
  const { before: old, after: now, differs } = differences(named(before), named(after));
  if (!differs) return isNewPassword ? auditRecord(by, 'account.password', object) : null;
  const changed = isNewPassword ? { ...now, password: 'changed' } : now;
  return auditRecord(by, 'account.update', object, masked(old), masked(changed));
}

const objectOf = ({ id, username }: Account) => ({ type: 'account', id, name: username }) as const;

/** The audit record for a change of limits; `before` is NO_LIMITS for a new account. Null when nothing differs. */
export function limitsAudit(by: Actor, before: AccountLimits, after: Account): AuditRecord | null {
  const changed = differences({ ...before }, { ...after.limits });
  if (!changed.differs) return null;
  return auditRecord(by, 'account.limits', objectOf(after), changed.before, changed.after);
}

export function changeAudit(by: Actor, before: Account, after: Account): (AuditRecord | null)[] {
  const isReset = after.quotaReset !== before.quotaReset;
  return [
    accountAudit(by, before, after),
    limitsAudit(by, before.limits, after),
    isReset ? auditRecord(by, 'account.reset-usage', objectOf(after)) : null,
    linkAudit(by, before, after),
  ];
}

/** Null also when the link went with the owner. */
function linkAudit(by: Actor, before: Account, after: Account): AuditRecord | null {
  if (after.link?.hash === before.link?.hash || (after.link === null && after.owner !== before.owner))
    return null;
  return auditRecord(
    by,
    after.link ? 'account.subscription' : 'account.subscription-revoke',
    objectOf(after),
  );
}

function shown(account: Account): Record<string, unknown> {
  const contacts = Object.entries(account.contacts).filter(([, value]) => value !== null);
  return { ...auditedFields(account), ...Object.fromEntries(contacts) };
}

/** Shortens the contacts after the comparison, so that two addresses with the same beginning differ. */
function masked(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { email, telegram } = fields;
  return {
    ...fields,
    ...(typeof email === 'string' ? { email: maskedContact(email) } : {}),
    ...(typeof telegram === 'string' ? { telegram: maskedContact(telegram) } : {}),
  };
}
