// An operator besides the administrator: the record, its rules, and the store interface.
import type { Budget, Cost } from '../accounts/plans/budget.js';
import type { AuditRecord } from '../audit/audit.js';
import type { EndedAccess } from '../settings/setting.js';

/** The administrator (console or Basic authentication) has all permissions. */
export const TOKEN_SCOPES = [
  'accounts:read',
  'accounts:write',
  /** In addition to accounts:write: set egress class, exit and limits per minute of an account, and lift its suspension. */
  'egress:write',
  'sessions:read',
  'sessions:write',
  'heartbeats:read',
  /** Who used a destination at a time; each search is in the audit log. */
  'trace:read',
  'agents:read',
  'agents:write',
  /** Receivers of events, and what they were sent; of a seller, its own. */
  'events:read',
  'events:write',
  'settings:read',
  'settings:write',
  'audit:read',
  'log:read',
] as const;

/**
 * `viewer`: sees every account and changes nothing; `seller`: manages its own accounts and sees no others; `operator`: manages
 * every account, but not the service itself.
 */
export const ROLES = ['operator', 'seller', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** No role has the scopes of settings, nodes, agents and the log, which belong to the administrator. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly (typeof TOKEN_SCOPES)[number][]>> = {
  operator: [
    'accounts:read',
    'accounts:write',
    'egress:write',
    'sessions:read',
    'sessions:write',
    'heartbeats:read',
    'trace:read',
    'audit:read',
  ],
  seller: [
    'accounts:read',
    'accounts:write',
    'sessions:read',
    'sessions:write',
    'heartbeats:read',
    'events:read',
    'events:write',
    'audit:read',
  ],
  viewer: ['accounts:read', 'sessions:read', 'heartbeats:read', 'audit:read'],
};

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

export const OPERATORS_KEY = 'admin.operators';

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

interface OperatorUpdate {
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
