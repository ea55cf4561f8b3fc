// The audit log: who changed what, from where, and what it was before. Passwords and secrets are never in it.

/** Who makes a change. */
export interface Actor {
  /** Admin user name, name of a token, or system user of the command line. */
  readonly name: string;
  readonly via: 'console' | 'api' | 'token' | 'cli' | 'daemon';
  /** Client address; null when it did not come over the network. */
  readonly address: string | null;
  /** Id of the audit entry of the import that the change is a part of. */
  readonly importId?: string | undefined;
}

/** The daemon itself: what nobody asked for at that moment. */
export const DAEMON: Actor = { name: 'pulsegate', via: 'daemon', address: null };

export type AuditObjectType =
  | 'account'
  | 'session'
  | 'settings'
  | 'token'
  | 'run'
  | 'agent'
  | 'admin'
  | 'node'
  | 'import';

/** Every change that is noted; the console has a text for each. */
export const AUDIT_ACTIONS = [
  'account.create',
  'account.update',
  'account.delete',
  'account.password',
  'account.limits',
  'account.reset-usage',
  'account.import',
  'session.end',
  'settings.whitelist',
  'settings.games',
  'settings.retention',
  'settings.public-address',
  'settings.plans',
  'backup.download',
  'admin.password',
  'admin.username',
  'admin.totp-on',
  'admin.totp-off',
  'admin.recovery-codes',
  'admin.recovery-code-used',
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

/** A change as it is handed to the store, which adds `id` and `at`. `before` and `after` hold what differs. */
export interface AuditRecord {
  readonly by: Actor;
  readonly action: AuditAction;
  readonly object: {
    readonly type: AuditObjectType;
    readonly id: string | null;
    readonly name: string | null;
  };
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface AuditEntry extends Omit<AuditRecord, 'action'> {
  /** One of `AUDIT_ACTIONS`, or in entries of other versions one that is not known here. */
  readonly action: string;
  /** GUID; the ids of later entries sort after those of earlier ones. */
  readonly id: string;
  readonly at: number;
  /** The import that it is a part of; `name` is that of its file. */
  readonly import: { readonly id: string; readonly name: string | null } | null;
}

export interface AuditFilter {
  /** In actor, address, action and object name. */
  readonly search?: string;
  readonly action?: string;
  readonly via?: Actor['via'];
  /** With either of these two, the parts of imports too; without, an import is one entry. */
  readonly objectId?: string;
  readonly importId?: string;
  /** `from` is inside the range, `to` is not. */
  readonly from?: number;
  readonly to?: number;
}

export interface AuditStore {
  /** Notes changes whose own write is not in the database, such as the end of a session. */
  add(records: readonly AuditRecord[]): Promise<void>;
  /** Notes a change that goes on, and returns the id of the entry. */
  begin(record: AuditRecord): Promise<string>;
  /** Writes anew what a change that goes on has done so far. */
  revise(id: string, after: AuditRecord['after']): Promise<void>;
  /** Newest first, at most `limit`, all with ids before `before`. */
  list(filter: AuditFilter, before: string | null, limit: number): Promise<AuditEntry[]>;
  count(filter: AuditFilter): Promise<number>;
  /** Removes at most `limit` entries from before `before`; returns how many. */
  trim(before: number, limit: number): Promise<number>;
}

/** Of two objects only the fields that differ, as JSON sees them. */
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
