// The settings table: text values by key; and the access that a change of credentials or rights ends.
import type { Knex } from 'knex';
import { API_TOKENS_KEY } from '../../core/auth/api-tokens.js';
import { CONSOLE_SESSIONS_KEY } from '../../core/auth/console-sessions.js';
import type { CounterStore, EndedAccess, SettingStore } from '../../core/settings/setting.js';
import type { StoreContext } from '../database.js';
import type { RecordChange } from '../follow-changes.js';
import { inTransaction } from '../sql.js';

export function createSettingStore(context: StoreContext): SettingStore & CounterStore {
  const { db, following, recordChange, recordAudit } = context;
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

    exchange: (key, current, next, audit, ended) =>
      inTransaction(db, async (trx) => {
        const isWritten =
          current === null
            ? (await trx('settings').insert({ key, value: next }).onConflict('key').ignore().returning('key'))
                .length > 0
            : (await trx('settings').where({ key, value: current }).update({ value: next })) > 0;
        if (!isWritten) return false;
        await recordChange(trx, 'setting', key);
        if (ended) await endAccess(trx, ended, recordChange);
        await recordAudit(trx, [audit]);
        return true;
      }),

    async set(key, value, audit) {
      await inTransaction(db, async (trx) => {
        await trx('settings').insert({ key, value }).onConflict('key').merge();
        await recordChange(trx, 'setting', key);
        await recordAudit(trx, [audit]);
      });
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
