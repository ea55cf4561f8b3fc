// The api_tokens table.
import { API_TOKENS_KEY, type ApiToken, type ApiTokenStore } from '../../core/auth/api-tokens.js';
import { toWireDate } from '../../core/wire-date.js';
import type { RecordChange } from '../changes.js';
import type { Database } from '../database.js';
import { fromRow, toRow } from '../sql/rows.js';
import { inTransaction } from '../sql/transaction.js';
import type { RecordAudit } from './audit.js';

const CHANGED = { topic: 'setting', key: API_TOKENS_KEY } as const;

export function createApiTokenStore(
  { db, following, lockTokens }: Pick<Database, 'db' | 'following' | 'lockTokens'>,
  recordChange: RecordChange,
  recordAudit: RecordAudit,
): ApiTokenStore {
  return {
    async all() {
      const rows: object[] = await following('api_tokens');
      return rows.map(toToken);
    },

    add: (token, max, audit) =>
      inTransaction(db, async (trx) => {
        await lockTokens(trx);
        const { operatorId: operator_id } = token;
        const existing: unknown[] = await trx('api_tokens').where({ operator_id }).select('id');
        if (existing.length >= max) return false;
        await trx('api_tokens').insert(toRow({ ...token, scopes: token.scopes.join(' ') }));
        await recordChange(trx, CHANGED);
        await recordAudit(trx, [audit]);
        return true;
      }),

    remove: (id, audit) =>
      inTransaction(db, async (trx) => {
        await trx('api_tokens').where({ id }).delete();
        await recordChange(trx, CHANGED);
        await recordAudit(trx, [audit]);
      }),

    async used(id, at, from) {
      await db('api_tokens').where({ id }).update({ last_used_at: at, last_used_from: from });
    },
  };
}

function toToken(row: object): ApiToken {
  const token = fromRow<Omit<ApiToken, 'scopes'> & { readonly scopes: string }>(row);
  // Versions without validation could store dates that the API cannot represent.
  const expiresAt = token.expiresAt === null ? null : toWireDate(token.expiresAt);
  return { ...token, scopes: token.scopes.split(' '), expiresAt };
}
