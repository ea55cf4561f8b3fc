// The accounts table, each account with its limits.
import type { Knex } from 'knex';
import type { Account } from '../../core/accounts/account.js';
import type { AccountStore, StoredChange } from '../../core/accounts/account-store.js';
import { accountAudit, changeAudit, limitsAudit, UsernameTaken } from '../../core/accounts/account-store.js';
import { NO_LIMITS, type TrafficOfDay } from '../../core/accounts/usage/limits.js';
import { type Actor, DAEMON } from '../../core/audit/audit.js';
import { noRefusal, type RefusalOf } from '../../core/settings/setting.js';
import type { StoreContext } from '../database.js';
import { batches, insertJson, inTransaction, isUniqueViolation, runJson, slices } from '../sql.js';
import {
  type AccountRow,
  changedColumns,
  type JoinedRow,
  type LimitsRow,
  readAddresses,
  toAccount,
  toRow,
  UNLIMITED,
  writeAddresses,
  writeLimits,
} from './account-rows.js';
import { changeAccounts, chargeSeller, checkOwners, ownOf } from './operators.js';
import { addTraffic } from './traffic.js';

/** All accounts, by their position where they were made at the same time. Rows are several times as large as accounts. */
const IN_ORDER = { name: 'accounts', key: ['created_at', 'position'], rowsAtOnce: 2_000 };
/** Logins written by one statement; two bound values each, well below the limit of every database. */
const LOGINS_PER_STATEMENT = 400;
/** The tables with rows of an account, in the order in which a removal empties them. */
const OF_ACCOUNTS =
  'heartbeats heartbeat_totals account_limits authorized_addresses player_links traffic_days traffic_parts'.split(
    ' ',
  );
export function createAccountStore(context: StoreContext): AccountStore {
  const { db, isShared, following, lock, recordChange, recordAudit, recordActivity, now, calendar } = context;
  const withLimits = (on: Knex): Knex.QueryBuilder =>
    on('accounts')
      .leftJoin('account_limits', 'account_limits.account_id', 'accounts.id')
      .select('accounts.*', 'account_limits.*');

  async function addMany(
    accounts: readonly Account[],
    by: Actor = DAEMON,
    traffic: readonly TrafficOfDay[] = [],
  ): Promise<ReadonlySet<string>> {
    return changeAccounts(db, by, async (trx, operator) => {
      const added = new Set<string>();
      for (const slice of slices(accounts.map(toRow))) {
        const insert = insertJson(isShared, 'accounts', Object.keys(slice[0] ?? {}));
        const unlessTaken = `${insert} where true on conflict (username) do nothing returning id`;
        for (const { id } of await runJson<{ id: string }>(trx, isShared, unlessTaken, slice)) added.add(id);
      }
      const inserted = accounts.filter(({ id }) => added.has(id));
      const changes = inserted.map((after) => ({ before: null, after }));
      await checkOwners(trx, operator, changes);
      await chargeSeller(trx, operator, changes, { now: now(), calendar });
      const limited = inserted.filter(
        ({ limits, quotaReset }) => limits !== NO_LIMITS || quotaReset !== null,
      );
      await writeLimits(trx, limited);
      const addressed = inserted.filter(({ authorizedAddresses }) => authorizedAddresses.length > 0);
      await writeAddresses(trx, addressed, lock);
      await addTraffic(
        trx,
        traffic.filter(({ accountId }) => added.has(accountId)),
      );
      await recordChange(trx, 'account', ...added);
      await recordAudit(trx, [
        ...inserted.map((account) => accountAudit(by, null, account)),
        ...limited.map((account) => limitsAudit(by, NO_LIMITS, account)),
      ]);
      return added;
    });
  }

  async function changeMany(wanted: readonly StoredChange[], by: Actor = DAEMON): Promise<Account[]> {
    return changeAccounts(db, by, async (trx, operator) => {
      const ids = wanted.map(({ id }) => id);
      // Not against nodes that write entries of these accounts: their transactions may take long.
      await locked(ids, trx).forNoKeyUpdate();
      const changes = changesOf(wanted, ownOf(operator, await findMany(ids, trx)));
      for (const { before, after } of changes) {
        const row = changedColumns(before, after);
        if (Object.keys(row).length > 0) await updateRow(trx, after.id, row);
      }
      const changed = changes.map(({ after }) => after);
      const having = (name: keyof Account): Account[] =>
        changes.filter(({ before, after }) => isOther(before[name], after[name])).map(({ after }) => after);
      const traffic = changes.flatMap(({ after, trafficOf }) => trafficOf?.(after) ?? []);
      const audit = changes.flatMap(({ before, after }) => changeAudit(by, before, after));
      await checkOwners(trx, operator, changes);
      await chargeSeller(trx, operator, changes, { now: now(), calendar });
      await removeFormerAddresses(trx, changes);
      await writeLimits(trx, [...new Set([...having('limits'), ...having('quotaReset')])]);
      await writeAddresses(trx, having('authorizedAddresses'), lock);
      await addTraffic(trx, traffic);
      await recordChange(trx, 'account', ...changed.map(({ id }) => id));
      await recordAudit(trx, audit);
      return changed;
    });
  }

  /** Locks the accounts that exist and that the operator may change, and removes them, or returns what `refusalOf` returns for one. */
  function removeMany<Refusal extends string = never>(
    ids: readonly string[],
    by: Actor = DAEMON,
    refusalOf: RefusalOf<Account, Refusal> = noRefusal,
  ): Promise<Account[] | Refusal> {
    return changeAccounts(db, by, async (trx, operator) => {
      await locked(ids, trx).forUpdate();
      const removed = [...ownOf(operator, await findMany(ids, trx)).values()];
      if (removed.length === 0) return [];
      for (const account of removed) {
        const refusal = refusalOf(account);
        if (refusal !== null) return refusal;
      }
      const removedIds = removed.map(({ id }) => id);
      // By id, because the user name in heartbeats may be a former one.
      for (const table of OF_ACCOUNTS) await trx(table).whereIn('account_id', removedIds).delete();
      await trx('accounts').whereIn('id', removedIds).delete();
      await recordChange(trx, 'account', ...removedIds);
      await recordAudit(
        trx,
        removed.map((account) => accountAudit(by, account, null)),
      );
      return removed;
    });
  }

  async function findMany(ids: readonly string[], on: Knex): Promise<ReadonlyMap<string, Account>> {
    const rows: JoinedRow[] = await withLimits(on).whereIn('accounts.id', ids);
    const addressesOf = await readAddresses(on, ids);
    return new Map(rows.map((row) => [row.id, toAccount(row, row, addressesOf)]));
  }

  /** The accounts that exist, to be locked until the transaction ends, in one order, so that transactions do not deadlock. */
  const locked = (ids: readonly string[], trx: Knex): Knex.QueryBuilder =>
    trx('accounts').whereIn('id', ids).orderBy('id').select('id');

  return {
    async all() {
      // Most accounts have no limits: a join would read their columns for each.
      const limits: LimitsRow[] = await db('account_limits');
      const limitsOf = new Map(limits.map((row) => [row.account_id, row]));
      const addressesOf = await readAddresses(db, null);
      const accounts: Account[] = [];
      for await (const rows of batches<AccountRow>(db, IN_ORDER))
        for (const row of rows) accounts.push(toAccount(row, limitsOf.get(row.id) ?? UNLIMITED, addressesOf));
      return accounts;
    },

    getMany: async (ids) => [...(await findMany(ids, following)).values()],
    async findByLink(hash) {
      const row: { id: string } | undefined = await db('accounts')
        .where({ link_hash: hash })
        .orderBy('position')
        .first('id');
      return row?.id ?? null;
    },

    addMany,
    changeMany,
    removeMany,

    async saveLogins(logins) {
      if (logins.length === 0) return;
      await inTransaction(db, async (trx) => {
        for (const slice of slices(logins, LOGINS_PER_STATEMENT)) await saveLogins(trx, slice);
        const rows = logins.map(({ id, at }) => ({ account_id: id, kind: 'login', login_at: at }) as const);
        await recordActivity(trx, rows);
      });
    },

    rehash: (id, from, to) =>
      inTransaction(db, async (trx) => {
        const changed = await trx('accounts')
          .where({ id, password_hash: from })
          .update({ password_hash: to });
        if (changed > 0) await recordChange(trx, 'account', id);
      }),
  };
}

function changesOf(wanted: readonly StoredChange[], stored: ReadonlyMap<string, Account>) {
  return wanted.flatMap(({ id, after: afterOf, trafficOf }) => {
    const before = stored.get(id);
    const after = before && afterOf(before);
    return before && after ? [{ before, after, trafficOf }] : [];
  });
}

const isOther = (before: unknown, after: unknown): boolean =>
  before !== after && JSON.stringify(before) !== JSON.stringify(after);

/** Removes the addresses of earlier versions of accounts whose link changes, or that get another owner, who knows them. */
async function removeFormerAddresses(
  trx: Knex,
  changes: readonly { readonly before: Account; readonly after: Account }[],
): Promise<void> {
  const changed = changes.filter(
    ({ before, after }) => before.owner !== after.owner || before.link?.hash !== after.link?.hash,
  );
  if (changed.length === 0) return;
  await trx('player_links')
    .whereIn(
      'account_id',
      changed.map(({ after }) => after.id),
    )
    .delete();
}

async function updateRow(trx: Knex, id: string, row: Partial<AccountRow>): Promise<void> {
  try {
    await trx('accounts').where({ id }).update(row);
  } catch (cause) {
    // A changed name can violate no other constraint.
    if (row.username === undefined || !isUniqueViolation(cause)) throw cause;
    throw new UsernameTaken('another account has the user name', { cause });
  }
}

/** Writes many logins with one statement. Ignores logins that are older than the stored one. */
async function saveLogins(trx: Knex, logins: readonly { id: string; at: number }[]): Promise<void> {
  const rows = logins.map(() => '(?, cast(? as bigint))').join(', ');
  await trx.raw(
    `with logins(id, at) as (values ${rows}), newest(id, at) as (select id, max(at) from logins group by id)
     update accounts set last_login_at = newest.at from newest
     where accounts.id = newest.id and (last_login_at is null or last_login_at < newest.at)`,
    logins.flatMap(({ id, at }) => [id, at]),
  );
}
