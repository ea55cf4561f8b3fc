// The database interface of settings: a text by key. `store/` implements it with knex.
import type { AuditRecord } from '../audit/audit.js';

export interface SettingStore {
  get(key: string): Promise<string | null>;
  /** `audit` is noted in the same transaction. */
  set(key: string, value: string, audit?: AuditRecord): Promise<void>;
}

/** Whole numbers that only grow, beside the settings. */
export interface CounterStore {
  /** False where it is as large already, also by another process at the same moment. */
  raise(key: string, value: number): Promise<boolean>;
}
