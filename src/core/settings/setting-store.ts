// The database interface of settings: a text by key. `store/` implements it with knex.
import type { AuditRecord } from '../audit/audit.js';

export interface SettingStore {
  get(key: string): Promise<string | null>;
  /** Writes the value, and `audit` to the audit log in the same transaction. */
  set(key: string, value: string, audit?: AuditRecord): Promise<void>;
}

/** Integers that only increase, stored beside the settings. */
export interface CounterStore {
  /** Raises a number to `value`. Returns false when it is at least as large already, also because of another process. */
  raise(key: string, value: number): Promise<boolean>;
}
