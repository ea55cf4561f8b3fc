// The settings table: text values by key, and the access that a change of credentials or rights ends.
import type { Knex } from 'knex';
import type { AuditRecord } from '../../core/audit/audit.js';
import { API_TOKENS_KEY } from '../../core/auth/api-tokens.js';
import { CONSOLE_SESSIONS_KEY } from '../../core/auth/console-sessions.js';
import type { CounterStore, EndedAccess, SettingStore } from '../../core/settings/setting.js';
import type { StoreContext } from '../database.js';
import type { RecordChange } from '../follow-changes.js';
import { inTransaction } from '../sql.js';

/**
 * Changes what other processes read again by the key of a setting, in one transaction with its entry in the audit log.
 * @param write resolves to false when it changes nothing
 */
export const changeSetting = (
  { db, recordChange, recordAudit }: Pick<StoreContext, 'db' | 'recordChange' | 'recordAudit'>,
  key: string,
  audit: AuditRecord | undefined,
  write: (trx: Knex.Transaction) => Promise<unknown>,
): Promise<boolean> =>
  inTransaction(db, async (trx) => {
    if ((await write(trx)) === false) return false;
    await recordChange(trx, 'setting', key);
    await recordAudit(trx, [audit]);
    return true;
  });

export function createSettingStore(context: StoreContext): SettingStore & CounterStore {
  const { db, following, recordChange } = context;
  return {
    async get(key) {
      const row: { value: string } | undefined = await following('settings').where({ key }).first('value');
      return row?.value ?? null;
    },

    async raise(key, value) {
      const changed: unknown[] = await db('settings')
        .insert({ key, value: String(value) })
        .onConflict('key')
        .merge()
        .whereRaw('cast(settings.value as bigint) < cast(excluded.value as bigint)')
        .returning('key');
      return changed.length > 0;
    },

    exchange: (key, current, value, audit, ended) =>
      changeSetting(context, key, audit, async (trx) => {
        const added = trx('settings').insert({ key, value }).onConflict('key').ignore().returning('key');
        const isWritten =
          current === null
            ? (await added).length > 0
            : (await trx('settings').where({ key, value: current }).update({ value })) > 0;
        if (isWritten && ended) await endAccess(trx, ended, recordChange);
        return isWritten;
      }),

    async set(key, value, audit) {
      await changeSetting(context, key, audit, (trx) =>
        trx('settings').insert({ key, value }).onConflict('key').merge(),
      );
    },
  };
}

/** Call it in the transaction of the change: otherwise a session would be valid again with the credentials it began with. */
export async function endAccess(
  trx: Knex.Transaction,
  { operatorId: operator_id, tokens }: EndedAccess,
  recordChange: RecordChange,
): Promise<void> {
  const keys = { console_sessions: CONSOLE_SESSIONS_KEY, ...(tokens ? { api_tokens: API_TOKENS_KEY } : {}) };
  for (const [table, key] of Object.entries(keys)) {
    await trx(table).where({ operator_id }).delete();
    await recordChange(trx, 'setting', key);
  }
}
