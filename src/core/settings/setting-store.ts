// The database interface of settings: a text by key. `store/` implements it with knex.
import type { AuditRecord } from '../audit/audit.js';

export interface SettingStore {
  get(key: string): Promise<string | null>;
  /** Writes the value, and `audit` to the audit log in the same transaction. */
  set(key: string, value: string, audit?: AuditRecord): Promise<void>;
}

/** Writes that depend on the stored value, which another process may change at the same time. */
export interface AtomicSettingStore {
  /** Writes `next`, as `set` does, if the stored value is `current`. Returns false when it is another one, and writes nothing. */
  exchange(key: string, current: string, next: string, audit?: AuditRecord): Promise<boolean>;
  /** Raises a number to `value`. Returns false when it is at least as large already, also because of another process. */
  raise(key: string, value: number): Promise<boolean>;
}
