// The api_tokens table.
import { API_TOKENS_KEY, type ApiToken, type ApiTokenStore } from '../../core/auth/api-tokens.js';
import { toWireDate } from '../../core/wire-date.js';
import type { RecordChange } from '../changes.js';
import type { Database } from '../database.js';
import { type Integer, toNumber } from '../sql/statements.js';
import { inTransaction } from '../sql/transaction.js';
import type { RecordAudit } from './audit.js';

interface TokenRow {
  id: string;
  name: string;
  prefix: string;
  hash: string;
  scopes: string;
  created_at: Integer;
  expires_at: Integer | null;
  last_used_at: Integer | null;
  last_used_from: string | null;
  operator_id: string | null;
}

const CHANGED = { topic: 'setting', key: API_TOKENS_KEY } as const;

export function createApiTokenStore(
  { db, following, lockTokens }: Pick<Database, 'db' | 'following' | 'lockTokens'>,
  recordChange: RecordChange,
  recordAudit: RecordAudit,
): ApiTokenStore {
  return {
    async all() {
      const rows: TokenRow[] = await following('api_tokens');
      return rows.map(toToken);
    },

    add: (token, max, audit) =>
      inTransaction(db, async (trx) => {
        await lockTokens(trx);
        const { operatorId: operator_id } = token;
        const existing: unknown[] = await trx('api_tokens').where({ operator_id }).select('id');
        if (existing.length >= max) return false;
        await trx('api_tokens').insert(toRow(token));
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

function toRow(token: ApiToken): TokenRow {
  return {
    id: token.id,
    name: token.name,
    prefix: token.prefix,
    hash: token.hash,
    scopes: token.scopes.join(' '),
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
    last_used_from: token.lastUsedFrom,
    operator_id: token.operatorId,
  };
}

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    hash: row.hash,
    scopes: row.scopes.split(' '),
    createdAt: Number(row.created_at),
    // Versions without validation could store dates that the API cannot represent.
    expiresAt: row.expires_at === null ? null : toWireDate(Number(row.expires_at)),
    lastUsedAt: toNumber(row.last_used_at),
    lastUsedFrom: row.last_used_from,
    operatorId: row.operator_id,
  };
}
