// API tokens and console sessions. Each change has the key of a setting, by which other processes read them again.
import type { Knex } from 'knex';
import { API_TOKENS_KEY, type ApiToken, type ApiTokenStore } from '../../core/auth/api-tokens.js';
import {
  CONSOLE_SESSIONS_KEY,
  type ConsoleSession,
  type ConsoleSessionStore,
} from '../../core/auth/console-sessions.js';
import type { Operator } from '../../core/auth/operator.js';
import { toWireDate } from '../../core/time/wire-date.js';
import type { StoreContext } from '../database.js';
import { countOf, find, toRow } from '../sql.js';
import { changeSetting } from './settings.js';

export function createApiTokenStore(context: StoreContext): ApiTokenStore {
  const { db, following, lock } = context;
  return {
    all: async () => (await find<TokenRow>(following('api_tokens'))).map(toToken),

    add: (token, max, audit) =>
      changeSetting(context, API_TOKENS_KEY, audit, async (trx) => {
        await lock(trx, 'tokens');
        const { operatorId: operator_id } = token;
        if ((await countOf(trx('api_tokens').where({ operator_id }))) >= max) return false;
        await trx('api_tokens').insert(toRow({ ...token, scopes: token.scopes.join(' ') }));
        return true;
      }),

    async remove(id, audit) {
      await changeSetting(context, API_TOKENS_KEY, audit, (trx) => trx('api_tokens').where({ id }).delete());
    },

    async used(id, at, from) {
      await db('api_tokens').where({ id }).update({ last_used_at: at, last_used_from: from });
    },
  };
}

type TokenRow = Omit<ApiToken, 'scopes'> & { readonly scopes: string };

function toToken(token: TokenRow): ApiToken {
  // Versions without validation could store dates that the API cannot represent.
  const expiresAt = token.expiresAt === null ? null : toWireDate(token.expiresAt);
  return { ...token, scopes: token.scopes.split(' '), expiresAt };
}

export function createConsoleSessionStore(context: StoreContext): ConsoleSessionStore {
  const { db, following } = context;
  const change = async (write: (trx: Knex.Transaction) => Promise<unknown>): Promise<void> => {
    await changeSetting(context, CONSOLE_SESSIONS_KEY, undefined, write);
  };

  return {
    all: async () => (await find<SessionRow>(following('console_sessions'))).map(toSession),

    async get(hash) {
      const [row] = await find<SessionRow>(db('console_sessions').where({ hash }));
      return row ? toSession(row) : null;
    },

    add: (session, operator) =>
      changeSetting(context, CONSOLE_SESSIONS_KEY, undefined, async (trx) => {
        if (operator && !(await isStill(trx, operator))) return false;
        await trx('console_sessions').insert(toRow(session));
        return true;
      }),

    async used(hash, at) {
      await db('console_sessions').where({ hash }).update({ used_at: at });
    },

    confirmed: (hash, at) =>
      change((trx) => trx('console_sessions').where({ hash }).update({ confirmed_at: at })),
    renew: (session) =>
      change((trx) => trx('console_sessions').insert(toRow(session)).onConflict('hash').merge()),
    remove: (hashes) => change((trx) => trx('console_sessions').whereIn('hash', hashes).delete()),
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

type SessionRow = Omit<ConsoleSession, 'confirmedAt'> & { readonly confirmedAt: number | null };

function toSession(session: SessionRow): ConsoleSession {
  return { ...session, confirmedAt: session.confirmedAt ?? session.createdAt };
}
