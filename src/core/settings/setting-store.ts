// The database interface of settings: a text by key. `store/` implements it with knex.
import type { AuditRecord } from '../audit/audit.js';

export interface SettingStore {
  get(key: string): Promise<string | null>;
  /** Writes the value, and `audit` to the audit log in the same transaction. */
  set(key: string, value: string, audit?: AuditRecord): Promise<void>;
  /**
   * Writes `next`, as `set` does, if the stored value is `current` (null: none is stored). Returns false when it is another one, which
   * another process may have written meanwhile, and writes nothing. Ends `ended` in the same transaction.
   */
  exchange(
    key: string,
    current: string | null,
    next: string,
    audit?: AuditRecord,
    ended?: EndedAccess,
  ): Promise<boolean>;
}

export interface CounterStore {
  /** Raises a number to `value`. Returns false when it is at least as large already, also because of another process. */
  raise(key: string, value: number): Promise<boolean>;
}

export interface EndedAccess {
  /** Whose; null: the administrator's. All its console sessions end. */
  readonly operatorId: string | null;
  /** Its API tokens are revoked, too. */
  readonly tokens: boolean;
}
