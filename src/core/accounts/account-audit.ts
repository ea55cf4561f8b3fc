// Creates the audit records for changes of accounts.
import { type Actor, type AuditRecord, differences } from '../audit/audit.js';
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
  const object = { type: 'account', id: account.id, name: account.username } as const;
  if (!before || !after) {
    return {
      by,
      action: after ? 'account.create' : 'account.delete',
      object,
      before: before && masked(shown(before)),
      after: after && masked(shown(after)),
    };
  }
  const isNewPassword = before.passwordHash !== after.passwordHash;
  const isRenamed = before.username !== after.username;
  const named = (one: Account) => (isRenamed ? { username: one.username, ...shown(one) } : shown(one));
  const { before: old, after: now, differs } = differences(named(before), named(after));
  if (!differs && !isNewPassword) return null;
  if (!differs) return { by, action: 'account.password', object, before: null, after: null };
  return {
    by,
    action: 'account.update',
    object,
    before: masked(old),
    after: masked(isNewPassword ? { ...now, password: 'changed' } : now),
  };
}

/** The audit record for a change of limits; `before` is NO_LIMITS for a new account. Null when nothing differs. */
export function limitsAudit(by: Actor, before: AccountLimits, after: Account): AuditRecord | null {
  const changed = differences({ ...before }, { ...after.limits });
  if (!changed.differs) return null;
  const object = { type: 'account', id: after.id, name: after.username } as const;
  return { by, action: 'account.limits', object, before: changed.before, after: changed.after };
}

/** The audit records for a change of an account and its limits. */
export function changeAudit(by: Actor, before: Account, after: Account): (AuditRecord | null)[] {
  const object = { type: 'account', id: after.id, name: after.username } as const;
  const reset = { by, action: 'account.reset-usage', object, before: null, after: null } as const;
  return [
    accountAudit(by, before, after),
    limitsAudit(by, before.limits, after),
    after.quotaReset === before.quotaReset ? null : reset,
    linkAudit(by, before, after),
  ];
}

/** Null also when the link went with the owner. */
function linkAudit(by: Actor, before: Account, after: Account): AuditRecord | null {
  if (after.link?.hash === before.link?.hash || (after.link === null && after.owner !== before.owner))
    return null;
  const object = { type: 'account', id: after.id, name: after.username } as const;
  const action = after.link ? 'account.subscription' : 'account.subscription-revoke';
  return { by, action, object, before: null, after: null };
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
