// Removes the console sessions, and the tokens if asked, of a user whose credentials or rights the transaction changes.
import type { Knex } from 'knex';
import { API_TOKENS_KEY } from '../../core/auth/api-tokens.js';
import { CONSOLE_SESSIONS_KEY } from '../../core/auth/console-sessions.js';
import type { EndedAccess } from '../../core/settings/setting-store.js';
import type { RecordChange } from '../changes.js';

/** Call it in the transaction of the change: otherwise a session would be valid again with the credentials it began with. */
export async function endAccess(
  trx: Knex.Transaction,
  { operatorId: operator_id, tokens }: EndedAccess,
  recordChange: RecordChange,
): Promise<void> {
  const keys = { console_sessions: CONSOLE_SESSIONS_KEY, ...(tokens ? { api_tokens: API_TOKENS_KEY } : {}) };
  for (const [table, key] of Object.entries(keys)) {
    await trx(table).where({ operator_id }).delete();
    await recordChange(trx, { topic: 'setting', key });
  }
}
