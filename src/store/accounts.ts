// The accounts table.
import type { Knex } from 'knex';
import type { Account } from '../core/account.js';
import type { AccountStore } from '../core/ports.js';
import type { RecordChange } from './changes.js';

/** Logins written by one statement; two bound values each, well under every engine's limit. */
const LOGINS_PER_STATEMENT = 400;

interface AccountRow {
  id: string;
  username: string;
  password_hash: string;
  is_enabled: number | boolean;
  remarks: string | null;
  created_at: number | string;
  last_login_at: number | string | null;
  expires_at: number | string | null;
}

export function createAccountStore(db: Knex, recordChange: RecordChange): AccountStore {
  const find = async (where: Partial<AccountRow>, on: Knex = db): Promise<Account | null> => {
    const row: AccountRow | undefined = await on('accounts').where(where).first();
    return row ? toAccount(row) : null;
  };

  return {
    async all() {
      const rows: AccountRow[] = await db('accounts').orderBy(['created_at', 'position']);
      return rows.map(toAccount);
    },

    get: (id) => find({ id }),
    getByUsername: (username) => find({ username }),

    add: (account) =>
      db.transaction(async (trx) => {
        const added: unknown[] = await trx('accounts')
          .insert(toRow(account))
          .onConflict('username')
          .ignore()
          .returning('id');
        if (added.length === 0) return 'username-taken';
        await recordChange(trx, { topic: 'account', id: account.id });
        return 'added';
      }),

    update: (id, fields) =>
      db.transaction(async (trx) => {
        const changed = await trx('accounts')
          .where({ id })
          .update({
            is_enabled: fields.isEnabled,
            remarks: fields.remarks,
            expires_at: fields.expiresAt,
            ...(fields.passwordHash === undefined ? {} : { password_hash: fields.passwordHash }),
          });
        if (changed === 0) return null;
        await recordChange(trx, { topic: 'account', id });
        return find({ id }, trx);
      }),

    remove: (id) =>
      db.transaction(async (trx) => {
        const account = await find({ id }, trx);
        if (!account) return null;
        // The id stands for the user name here: a name belongs to one account and never changes, and every entry
        // was written with both.
        await trx('heartbeats').where({ account_id: id }).delete();
        await trx('heartbeat_totals').where({ account_id: id }).delete();
        await trx('accounts').where({ id }).delete();
        await recordChange(trx, { topic: 'account', id });
        return account;
      }),

    async saveLogins(logins) {
      if (logins.length === 0) return;
      await db.transaction(async (trx) => {
        for (let start = 0; start < logins.length; start += LOGINS_PER_STATEMENT) {
          await saveLogins(trx, logins.slice(start, start + LOGINS_PER_STATEMENT));
        }
      });
    },

    async rehash(id, from, to) {
      await db('accounts').where({ id, password_hash: from }).update({ password_hash: to });
    },
  };
}

/** One statement for many logins; a login older than the one that is stored changes nothing. */
async function saveLogins(trx: Knex, logins: readonly { id: string; at: number }[]): Promise<void> {
  const rows = logins.map(() => '(?, cast(? as bigint))').join(', ');
  await trx.raw(
    `with logins(id, at) as (values ${rows}), newest(id, at) as (select id, max(at) from logins group by id)
     update accounts set last_login_at = newest.at from newest
     where accounts.id = newest.id and (last_login_at is null or last_login_at < newest.at)`,
    logins.flatMap(({ id, at }) => [id, at]),
  );
}

function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    username: row.username,
    passwordHash: row.password_hash,
    isEnabled: Boolean(row.is_enabled),
    remarks: row.remarks,
    createdAt: Number(row.created_at),
    lastLoginAt: toTime(row.last_login_at),
    expiresAt: toTime(row.expires_at),
  };
}

function toTime(value: number | string | null): number | null {
  return value === null ? null : Number(value);
}

function toRow(account: Account): AccountRow {
  return {
    id: account.id,
    username: account.username,
    password_hash: account.passwordHash,
    is_enabled: account.isEnabled,
    remarks: account.remarks,
    created_at: account.createdAt,
    last_login_at: account.lastLoginAt,
    expires_at: account.expiresAt,
  };
}
