// The logins table.
import type { Knex } from 'knex';
import type { LoginEntry, LoginFilter, LoginStore } from '../../core/accounts/access/login-log.js';
import type { StoreContext } from '../database.js';
import {
  containingIn,
  countOf,
  deleteFound,
  find,
  having,
  inTimeRange,
  inTransaction,
  ofOwner,
  slices,
  toRow,
} from '../sql.js';

export function createLoginStore({
  db,
  reads,
  scans,
  loginSearch: index,
}: Pick<StoreContext, 'db' | 'reads' | 'scans' | 'loginSearch'>): LoginStore {
  const readerOf = (search: string): Knex => (search === '' || index?.covers(search) ? reads : scans);

  /** The query for matching rows, and the column with their id. Uses the index if it covers the search text. */
  function matching({ accountId, owner, search = '', failed, from, to }: LoginFilter): {
    query: Knex.QueryBuilder;
    id: string;
  } {
    const byIndex = index?.covers(search) ? index : null;
    const on = readerOf(search);
    const query = byIndex ? byIndex.rows(on, search) : on('logins');
    const id = byIndex?.id ?? 'logins.id';
    const isFiltered = [accountId, owner, failed, from, to].some((each) => each !== undefined);
    if (byIndex && isFiltered) query.join('logins', 'logins.id', id);
    having(query, { 'logins.account_id': accountId });
    ofOwner(on, query, 'logins.account_id', owner);
    if (failed === true) query.whereNot('logins.outcome', 'success');
    if (failed === false) query.where('logins.outcome', 'success');
    inTimeRange(query, 'logins.at', { from, to });
    if (!byIndex && search !== '') containingIn(on, query, ['logins.username', 'logins.client'], search);
    return { query, id };
  }

  return {
    add: (entries) =>
      inTransaction(db, async (trx) => {
        const places: number[] = [];
        for (const slice of slices(entries)) {
          const rows: { id: number }[] = await trx('logins').insert(slice.map(toRow)).returning('id');
          // An insert of several rows numbers them in their order.
          places.push(...rows.map(({ id }) => id).sort((a, b) => a - b));
        }
        return places;
      }),

    repeated: (entries) =>
      inTransaction(db, async (trx) => {
        for (const { place, times } of entries) await trx('logins').where({ id: place }).update({ times });
      }),

    async list(filter, before, limit) {
      const { query, id } = matching(filter);
      if (before !== null) query.where(id, '<', before);
      const ids: number[] = await query.orderBy(id, 'desc').limit(limit).pluck(id);
      const found = reads('logins').whereIn('id', ids).orderBy('id', 'desc');
      const entries = await find<LoginEntry & { readonly id: number }>(found);
      return entries.map(({ id: place, ...entry }) => ({ ...entry, place }));
    },

    count: (filter) => countOf(matching(filter).query),

    async trim(before, keep, limit) {
      const newest = await db('logins').max({ id: 'id' }).first();
      const lastKept = (newest?.id ?? 0) - keep;
      const old = db('logins').where('at', '<', before).orWhere('id', '<=', lastKept);
      return deleteFound(db, 'logins', old.orderBy('id').limit(limit));
    },
  };
}
