// An operator besides the administrator: the record, its rules, and the store interface.
import { isValidPassword, isValidUsername } from '../accounts/account.js';
import type { Budget, Cost } from '../accounts/plans/budget.js';
import type { AuditRecord } from '../audit/audit.js';
import type { EndedAccess } from '../settings/setting-store.js';
import type { Role } from './roles.js';

export interface Operator {
  readonly id: string;
  /** Unique. 1 to 255 bytes of UTF-8 without a colon (RFC 7617 §2) or control characters. */
  readonly name: string;
  readonly passwordHash: string;
  readonly role: Role;
  /** A disabled operator and its tokens have no access. */
  readonly isEnabled: boolean;
  readonly createdAt: number;
  /** Bounds for a seller. */
  readonly budget: Budget;
  /** The used part of the budget. The value in memory may be outdated. */
  readonly used: Cost;
}

/** The key of operator changes in the list of changes. */
export const OPERATORS_KEY = 'admin.operators';

/** Minimum length of a password that an operator chooses. */
export const MIN_OPERATOR_PASSWORD_CHARACTERS = 8;

/** Another operator has the name. */
export class OperatorNameTaken extends Error {
  override readonly name = 'OperatorNameTaken';
}

/** The operator who makes a change, or who would own an account, was removed, is disabled, or may not change accounts. Nothing was written. */
export class RightsLost extends Error {
  override readonly name = 'RightsLost';
  constructor(readonly reason: 'rights-lost' | 'not-own-account' | 'owner-gone') {
    super(`the change of accounts is refused: ${reason}`);
  }
}

export interface OperatorUpdate {
  readonly operator: Operator;
  readonly audit: AuditRecord | null;
  readonly ended: EndedAccess | null;
}

/** Each write also records its entry in the audit log, in the same transaction. */
export interface OperatorStore {
  all(): Promise<Operator[]>;
  /** Rejects with OperatorNameTaken. */
  add(operator: Operator, audit: AuditRecord): Promise<void>;
  /**
   * Writes what `change` returns for the stored operator, which no other process changes meanwhile; except the used part of the budget.
   * Ends `ended` in the same transaction; null: nothing.
   * Writes nothing when `change` returns a refusal. Returns the operator as written, or the refusal; null: there is no such operator.
   * Rejects with OperatorNameTaken.
   */
  update<Refusal extends string>(
    id: string,
    change: (stored: Operator) => OperatorUpdate | Refusal,
  ): Promise<Operator | Refusal | null>;
  /**
   * Also removes the operator's console sessions, tokens and second factor. The administrator becomes the owner of its accounts.
   * Returns false when there is no such operator.
   */
  remove(id: string, audit: AuditRecord): Promise<boolean>;
}

/** The prefix of the settings of an operator: its second factor and recovery codes. */
export const operatorSettingsPrefix = (id: string): string => `operator.${id}`;

/** Basic authentication ends the user name at the first colon (RFC 7617 §2), so a name with a colon could never log in. */
export function isValidOperatorName(name: string): boolean {
  return isValidUsername(name) && !name.includes(':');
}

export function operatorPasswordRefusal(password: string): 'invalid-password' | 'short-password' | null {
  if (!isValidPassword(password)) return 'invalid-password';
  return [...password].length < MIN_OPERATOR_PASSWORD_CHARACTERS ? 'short-password' : null;
}
