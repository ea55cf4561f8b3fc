// The settings table: text values by key; API tokens and console sessions, and the access that a change of credentials or rights ends.
import type { Knex } from 'knex';
import type { AuditRecord } from '../../core/audit/audit.js';
import { API_TOKENS_KEY, type ApiToken, type ApiTokenStore } from '../../core/auth/api-tokens.js';
import {
  CONSOLE_SESSIONS_KEY,
  type ConsoleSession,
  type ConsoleSessionStore,
} from '../../core/auth/console-sessions.js';
import type { Operator } from '../../core/auth/operator.js';
import type { CounterStore, EndedAccess, SettingStore } from '../../core/settings/setting.js';
import { toWireDate } from '../../core/time/wire-date.js';
import type { StoreContext } from '../database.js';
import type { RecordChange } from '../follow-changes.js';
import { countOf, find, inTransaction, toRow } from '../sql.js';

/**
 * Changes what other processes read again by the key of a setting, in one transaction with its entry in the audit log.
 * @param write returns false when it changes nothing
 */
export const changeSetting = (
  { db, recordChange, recordAudit }: Pick<StoreContext, 'db' | 'recordChange' | 'recordAudit'>,
  key: string,
  audit: AuditRecord | undefined,
  write: (trx: Knex.Transaction) => Promise<boolean>,
): Promise<boolean> =>
  inTransaction(db, async (trx) => {
    if (!(await write(trx))) return false;
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
      await changeSetting(context, key, audit, async (trx) => {
        await trx('settings').insert({ key, value }).onConflict('key').merge();
        return true;
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
      await changeSetting(context, API_TOKENS_KEY, audit, async (trx) => {
        await trx('api_tokens').where({ id }).delete();
        return true;
      });
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
  const change = async (write: (trx: Knex) => Promise<unknown>): Promise<void> => {
    await changeSetting(context, CONSOLE_SESSIONS_KEY, undefined, async (trx) => {
      await write(trx);
      return true;
    });
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
