// What settings ask of a database: a text by its key. `store/` implements it with knex.
import type { AuditRecord } from '../audit/audit.js';

export interface SettingStore {
  get(key: string): Promise<string | null>;
  /** `audit` is noted in the same transaction. */
  set(key: string, value: string, audit?: AuditRecord): Promise<void>;
}
