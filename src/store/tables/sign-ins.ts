// The tables api_tokens and console_sessions.

import type { Knex } from 'knex';
import { API_TOKENS_KEY, type ApiToken, type ApiTokenStore } from '../../core/auth/api-tokens.js';
import {
  CONSOLE_SESSIONS_KEY,
  type ConsoleSession,
  type ConsoleSessionStore,
} from '../../core/auth/console-sessions.js';
import type { Operator } from '../../core/auth/operator.js';
import { toWireDate } from '../../core/wire-date.js';
import type { Database } from '../database.js';
import type { RecordChange } from '../follow-changes.js';
import { fromRow, inTransaction, toRow } from '../sql.js';
import type { RecordAudit } from './audit.js';

const TOKENS_CHANGED = { topic: 'setting', key: API_TOKENS_KEY } as const;

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
        await recordChange(trx, TOKENS_CHANGED);
        await recordAudit(trx, [audit]);
        return true;
      }),

    remove: (id, audit) =>
      inTransaction(db, async (trx) => {
        await trx('api_tokens').where({ id }).delete();
        await recordChange(trx, TOKENS_CHANGED);
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

const SESSIONS_CHANGED = { topic: 'setting', key: CONSOLE_SESSIONS_KEY } as const;

export function createConsoleSessionStore(
  { db, following }: Pick<Database, 'db' | 'following'>,
  recordChange: RecordChange,
): ConsoleSessionStore {
  return {
    async all() {
      const rows: object[] = await following('console_sessions');
      return rows.map(toSession);
    },

    async get(hash) {
      const row: object | undefined = await db('console_sessions').where({ hash }).first();
      return row ? toSession(row) : null;
    },

    add: (session, operator) =>
      inTransaction(db, async (trx) => {
        if (operator && !(await isStill(trx, operator))) return false;
        await trx('console_sessions').insert(toRow(session));
        await recordChange(trx, SESSIONS_CHANGED);
        return true;
      }),

    async used(hash, at) {
      await db('console_sessions').where({ hash }).update({ used_at: at });
    },

    confirmed: (hash, at) =>
      inTransaction(db, async (trx) => {
        await trx('console_sessions').where({ hash }).update({ confirmed_at: at });
        await recordChange(trx, SESSIONS_CHANGED);
      }),

    renew: (session) =>
      inTransaction(db, async (trx) => {
        await trx('console_sessions').insert(toRow(session)).onConflict('hash').merge();
        await recordChange(trx, SESSIONS_CHANGED);
      }),

    remove: (hashes) =>
      inTransaction(db, async (trx) => {
        await trx('console_sessions').whereIn('hash', hashes).delete();
        await recordChange(trx, SESSIONS_CHANGED);
      }),
  };
}

/** Locks the operator, so that no other transaction takes its access away until this one ends. */
async function isStill(
  trx: Knex.Transaction,
  { id, name, role }: Pick<Operator, 'id' | 'name' | 'role'>,
): Promise<boolean> {
  const row: { is_enabled: number | boolean } | undefined = await trx('operators')
    .where({ id, name, role })
    .forUpdate()
    .first('is_enabled');
  return Boolean(row?.is_enabled);
}

function toSession(row: object): ConsoleSession {
  const session = fromRow<Omit<ConsoleSession, 'confirmedAt'> & { readonly confirmedAt: number | null }>(row);
  return { ...session, confirmedAt: session.confirmedAt ?? session.createdAt };
}
