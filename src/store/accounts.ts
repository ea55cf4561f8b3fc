// The accounts table.
import type { Knex } from 'knex';
import type { Account, AccountUpdate } from '../core/accounts/account.js';
import { accountAudit } from '../core/accounts/account-audit.js';
import type { AccountStore, NewLimits } from '../core/accounts/account-store.js';
import { NOTHING_KEPT } from '../core/accounts/limits.js';
import { type Actor, DAEMON } from '../core/audit/audit.js';
import type { Change } from '../core/changes.js';
import { toWireDate } from '../core/wire-date.js';
import type { RecordAudit } from './audit.js';
import type { RecordChange } from './changes.js';
import type { Integer } from './integers.js';
import { writeLimits } from './limits.js';
import { inTransaction } from './transaction.js';

/** Logins written by one statement; two bound values each, well under every engine's limit. */
const LOGINS_PER_STATEMENT = 400;
/** Accounts added by one statement; eight bound values each. */
const ADDED_PER_STATEMENT = 200;

interface AccountRow {
  id: string;
  username: string;
  password_hash: string;
  is_enabled: number | boolean;
  remarks: string | null;
  created_at: Integer;
  last_login_at: Integer | null;
  expires_at: Integer | null;
}

export function createAccountStore(
  db: Knex,
  recordChange: RecordChange,
  recordAudit: RecordAudit,
): AccountStore {
  const find = async (where: Partial<AccountRow>): Promise<Account | null> => {
    const row: AccountRow | undefined = await db('accounts').where(where).first();
    return row ? toAccount(row) : null;
  };

  async function addMany(
    accounts: readonly Account[],
    by: Actor = DAEMON,
    limits: NewLimits = new Map(),
  ): Promise<ReadonlySet<string>> {
    return inTransaction(db, async (trx) => {
      const added = new Set<string>();
      for (const slice of slices(accounts, ADDED_PER_STATEMENT)) {
        const rows: { id: string }[] = await trx('accounts')
          .insert(slice.map(toRow))
          .onConflict('username')
          .ignore()
          .returning('id');
        for (const { id } of rows) added.add(id);
      }
      const news = accounts.filter(({ id }) => added.has(id));
      await recordChange(trx, ...news.map(toChange));
      await recordAudit(
        trx,
        news.map((account) => accountAudit(by, null, account)),
      );
      const limited = news.flatMap(({ id, username }) => {
        const given = limits.get(id);
        if (!given) return [];
        return [{ accountId: id, username, kept: { limits: given, reset: null }, before: NOTHING_KEPT }];
      });
      await writeLimits(trx, limited, by, recordAudit);
      return added;
    });
  }

  async function updateMany(
    updates: readonly { readonly id: string; readonly fields: AccountUpdate }[],
    by: Actor = DAEMON,
  ): Promise<Account[]> {
    return inTransaction(db, async (trx) => {
      const before = await lockMany(
        updates.map(({ id }) => id),
        trx,
      );
      const changed: Account[] = [];
      for (const { id, fields } of updates) {
        const old = before.get(id);
        if (!old) continue;
        await trx('accounts').where({ id }).update(toUpdate(fields));
        changed.push({ ...old, ...fields, passwordHash: fields.passwordHash ?? old.passwordHash });
      }
      await recordChange(trx, ...changed.map(toChange));
      await recordAudit(
        trx,
        changed.map((account) => accountAudit(by, before.get(account.id) ?? null, account)),
      );
      return changed;
    });
  }

  async function removeMany(ids: readonly string[], by: Actor = DAEMON): Promise<Account[]> {
    return inTransaction(db, async (trx) => {
      const removed = [...(await lockMany(ids, trx)).values()];
      if (removed.length === 0) return [];
      const there = removed.map(({ id }) => id);
      // The id stands for the user name here: a name belongs to one account and never changes, and every entry
      // was written with both.
      await trx('heartbeats').whereIn('account_id', there).delete();
      await trx('heartbeat_totals').whereIn('account_id', there).delete();
      await trx('account_limits').whereIn('account_id', there).delete();
      await trx('traffic_days').whereIn('account_id', there).delete();
      await trx('accounts').whereIn('id', there).delete();
      await recordChange(trx, ...removed.map(toChange));
      await recordAudit(
        trx,
        removed.map((account) => accountAudit(by, account, null)),
      );
      return removed;
    });
  }

  /** Those that there are. Until the transaction ends no other one changes them; all take them in one order. */
  async function lockMany(ids: readonly string[], trx: Knex): Promise<ReadonlyMap<string, Account>> {
    const rows: AccountRow[] = await trx('accounts').whereIn('id', ids).orderBy('id').forUpdate();
    return new Map(rows.map((row) => [row.id, toAccount(row)]));
  }

  return {
    async all() {
      const rows: AccountRow[] = await db('accounts').orderBy(['created_at', 'position']);
      return rows.map(toAccount);
    },

    get: (id) => find({ id }),
    async getMany(ids) {
      const rows: AccountRow[] = await db('accounts').whereIn('id', ids);
      return rows.map(toAccount);
    },
    getByUsername: (username) => find({ username }),

    add: async (account, by, limits) =>
      (await addMany([account], by, limits)).size === 0 ? 'username-taken' : 'added',
    addMany,

    update: async (id, fields, by) => (await updateMany([{ id, fields }], by))[0] ?? null,
    updateMany,

    remove: async (id, by) => (await removeMany([id], by))[0] ?? null,
    removeMany,

    async saveLogins(logins) {
      if (logins.length === 0) return;
      await inTransaction(db, async (trx) => {
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

function* slices<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

function toChange({ id }: Account): Change {
  return { topic: 'account', id };
}

function toUpdate(fields: AccountUpdate): Partial<AccountRow> {
  return {
    is_enabled: fields.isEnabled,
    remarks: fields.remarks,
    expires_at: fields.expiresAt,
    ...(fields.passwordHash === undefined ? {} : { password_hash: fields.passwordHash }),
  };
}

function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    username: row.username,
    passwordHash: row.password_hash,
    isEnabled: Boolean(row.is_enabled),
    remarks: row.remarks,
    createdAt: toWireDate(Number(row.created_at)),
    lastLoginAt: toDate(row.last_login_at),
    expiresAt: toDate(row.expires_at),
  };
}

/** Before such dates were refused, ones that cannot be written could be stored. */
function toDate(value: Integer | null): number | null {
  return value === null ? null : toWireDate(Number(value));
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
