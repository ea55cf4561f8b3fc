// The console_sessions table.
import type { Knex } from 'knex';
import {
  CONSOLE_SESSIONS_KEY,
  type ConsoleSession,
  type ConsoleSessionStore,
} from '../../core/auth/console-sessions.js';
import type { Operator } from '../../core/auth/operator.js';
import type { RecordChange } from '../changes.js';
import type { Database } from '../database.js';
import { fromRow, toRow } from '../sql/rows.js';
import { inTransaction } from '../sql/transaction.js';

const CHANGED = { topic: 'setting', key: CONSOLE_SESSIONS_KEY } as const;

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
        await recordChange(trx, CHANGED);
        return true;
      }),

    async used(hash, at) {
      await db('console_sessions').where({ hash }).update({ used_at: at });
    },

    confirmed: (hash, at) =>
      inTransaction(db, async (trx) => {
        await trx('console_sessions').where({ hash }).update({ confirmed_at: at });
        await recordChange(trx, CHANGED);
      }),

    renew: (session) =>
      inTransaction(db, async (trx) => {
        await trx('console_sessions').insert(toRow(session)).onConflict('hash').merge();
        await recordChange(trx, CHANGED);
      }),

    remove: (hashes) =>
      inTransaction(db, async (trx) => {
        await trx('console_sessions').whereIn('hash', hashes).delete();
        await recordChange(trx, CHANGED);
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
