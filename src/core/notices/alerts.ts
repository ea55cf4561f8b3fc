// Alerts: notices to the operator of what needs an act now. Each goes out at once, and at most one of a type and object within an
// hour. A new type is added here, with its texts in `texts.ts` and in the console's locales.
import { createHash } from 'node:crypto';
import type { AuditAction, AuditEntry } from '../audit/audit.js';
import { HOUR_MS } from '../time/clock.js';

/** The changes that are announced whoever makes them, from the audit log: each can become lasting access. */
export const ALERTED_ACTIONS = [
  'token.create',
  'operator.create',
  'operator.update',
  'admin.password',
  'admin.username',
  'admin.totp-on',
  'admin.totp-off',
  'admin.recovery-codes',
  'admin.recovery-code-used',
  'backup.download',
] as const satisfies readonly AuditAction[];

export type AlertedAction = (typeof ALERTED_ACTIONS)[number];
export type AlertType =
  | 'logins.failing'
  | 'account.limited'
  | 'account.suspended'
  | 'run.failed'
  | 'node.lost'
  | 'node.back'
  | 'database.trouble'
  | 'certificate.expiring'
  | AlertedAction;

export interface Alert {
  readonly type: AlertType;
  /** What the alert is about: a client address, an agent, a token. */
  readonly object: string;
  /** Identifies the occurrence, so that several daemons announce it once. */
  readonly event: string;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** At most one alert of a type and object within this time. */
export const ALERT_PAUSE_MS = HOUR_MS;

export function alertKey({ type, object, event }: Alert): string {
  const hash = createHash('sha256').update(object).digest('base64url').slice(0, 22);
  return `${type} ${hash} ${event}`;
}

/** Of changes of an operator, those of its access are announced, and not those of a budget. */
export const isAlerted = ({ action, after }: Pick<AuditEntry, 'action' | 'after'>): boolean =>
  action !== 'operator.update' ||
  ['name', 'role', 'isEnabled', 'password'].some((field) => field in (after ?? {}));

/** Returns the alert of an audit entry with one of `ALERTED_ACTIONS`. */
export function auditAlert({ id, at, action, object, by }: AuditEntry): Alert {
  const { name, via, address, operatorId = null } = by;
  return {
    type: action as AlertedAction,
    // Another person or address counts as another object: an intruder must not hide behind the operator's own change.
    object: [object.id, operatorId ?? name, address].join(' '),
    event: id,
    at,
    data: { name: object.name, by: name, via, address, when: new Date(at).toISOString() },
  };
}
