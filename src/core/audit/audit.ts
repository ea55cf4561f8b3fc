// The audit log: actor, address, and values before and after each change. It never contains passwords and secrets.
import type { TimeRange } from '../time/clock.js';

export interface Actor {
  /** Administrator user name, name of a token, system user of the command line, or user name of a player. */
  readonly name: string;
  readonly via: 'console' | 'api' | 'token' | 'cli' | 'daemon' | 'player';
  /** Client address; null when it did not come over the network. */
  readonly address: string | null;
  /** Id of the audit entry of the import or bulk action that the change is a part of. */
  readonly importId?: string | undefined;
  /** The operator who made the change, or whose token did; undefined: the administrator or the daemon. */
  readonly operatorId?: string | undefined;
  /** Of a request that is carried out once: stored with the first record. */
  readonly requestKey?: RequestKey | undefined;
}

/** The idempotency key of a request, stored in the transaction of its change: either both are there or none. */
export interface RequestKey {
  /** Tells the request from others with the same key. */
  readonly id: string;
  /** In the table: its caller and a hash, so that callers share no keys. */
  readonly key: string;
  /** Digest of the request; the same key with another digest is refused. */
  readonly digest: string;
  readonly expiresAt: number;
  /**
   * What the table has until the answer is stored; it begins with `id`.
   * @param objectId of the changed object
   * @param body of the answer, where it is known already
   */
  pending(objectId: string | null, body?: object): string;
}

/** The actor of changes that the daemon makes by itself. */
export const DAEMON: Actor = { name: 'pulsegate', via: 'daemon', address: null };

export const changedPassword = (revokesTokens: boolean): Readonly<Record<string, string>> => ({
  password: 'changed',
  ...(revokesTokens ? { tokens: 'revoked' } : {}),
});

export const AUDIT_OBJECT_TYPES = [
  'account',
  'session',
  'settings',
  'token',
  'run',
  'agent',
  'admin',
  'operator',
  'import',
  'node',
] as const;

/** All actions in the audit log; the console has a text for each. */
export const AUDIT_ACTIONS = [
  'account.create',
  'account.update',
  'account.delete',
  'account.password',
  'account.limits',
  'account.reset-usage',
  'account.subscription',
  'account.subscription-revoke',
  'account.player-link',
  'account.player-link-revoke',
  'account.import',
  'account.bulk',
  'session.end',
  'trace.search',
  'settings.whitelist',
  'settings.games',
  'settings.retention',
  'settings.public-address',
  'settings.plans',
  'settings.pac',
  'settings.exits',
  'settings.notices',
  'settings.event-receivers',
  'settings.time-zone',
  'backup.download',
  'admin.password',
  'admin.username',
  'admin.totp-on',
  'admin.totp-off',
  'admin.recovery-codes',
  'admin.recovery-code-used',
  'operator.new-address',
  'operator.create',
  'operator.update',
  'operator.delete',
  'token.create',
  'token.revoke',
  'run.cancel',
  'run.again',
  'agent.message',
  'agent.forget-session',
  'node.drain',
  'node.undrain',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** An audit entry without `id` and `at`, which the store adds. `before` and `after` contain the changed fields. */
export interface AuditRecord {
  readonly by: Actor;
  readonly action: AuditAction;
  readonly object: {
    readonly type: (typeof AUDIT_OBJECT_TYPES)[number];
    readonly id: string | null;
    readonly name: string | null;
  };
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface AuditEntry extends Omit<AuditRecord, 'action'> {
  /** One of `AUDIT_ACTIONS`, or an unknown action of another version. */
  readonly action: string;
  /** GUID; the ids of later entries sort after those of earlier ones. */
  readonly id: string;
  readonly at: number;
  /** The import or bulk action that the change belongs to, `action` of its entry; `name` is the file name of an import. */
  readonly import: { readonly id: string; readonly action: string; readonly name: string | null } | null;
}

export interface AuditFilter extends TimeRange {
  /** Text in actor, address, action or object name. */
  readonly search?: string;
  readonly action?: string | readonly string[];
  readonly via?: Actor['via'];
  /** With `objectId` or `importId`, the list contains the parts of imports and bulk actions; otherwise each of these is one entry. */
  readonly objectId?: string;
  readonly importId?: string;
  readonly operatorId?: string;
}

export interface AuditStore {
  /** Records changes that are not written to the database otherwise, such as the end of a session. */
  add(records: readonly AuditRecord[]): Promise<void>;
  /** Records the start of a long change, and returns the id of the entry. */
  begin(record: AuditRecord): Promise<string>;
  /** Updates the entry of a long change with its progress. */
  revise(id: string, after: AuditRecord['after']): Promise<void>;
  /** Newest first, at most `limit`, all with ids before `before`. */
  list(filter: AuditFilter, before: string | null, limit: number): Promise<AuditEntry[]>;
  count(filter: AuditFilter): Promise<number>;
  /** Deletes at most `limit` entries that are older than `before`; returns their number. */
  trim(before: number, limit: number): Promise<number>;
}

/** Returns the record of a change; without values, only that it was made. */
export const auditRecord = (
  by: Actor,
  action: AuditAction,
  object: AuditRecord['object'],
  before: AuditRecord['before'] = null,
  after: AuditRecord['after'] = null,
): AuditRecord => ({ by, action, object, before, after });

export const ADMINISTRATOR: AuditRecord['object'] = { type: 'admin', id: null, name: null };

/** The fields of two objects that differ as JSON. */
export function differences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { before: Record<string, unknown>; after: Record<string, unknown>; differs: boolean } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null),
  );
  const pick = (from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { before: pick(before), after: pick(after), differs: names.length > 0 };
}
