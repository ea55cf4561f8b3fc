// The logins table.
import type { Knex } from 'knex';
import type { LoginEntry, LoginFilter, LoginStore } from '../../core/accounts/access/login-log.js';
import { containing, fromRow, inTimeRange, inTransaction, ofOwner, slices, toRow } from '../sql.js';

/** Rows in one statement; six bound values each. */
const ROWS_PER_STATEMENT = 200;

/** A full-text index of the login log. */
export interface LoginSearch {
  /** Whether the index can find `text`. */
  covers(text: string): boolean;
  /** The rows of the index that contain `text` in user name or address, ignoring case. */
  rows(db: Knex, text: string): Knex.QueryBuilder;
  /** The column of the index that contains the `id` of a login. */
  readonly id: string;
}

/**
 * @param reads read-only connections
 * @param scans the read-only connection for searches that read every row
 * @param index null: searches read every row
 */
export function createLoginStore(db: Knex, reads: Knex, scans: Knex, index: LoginSearch | null): LoginStore {
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
    if (accountId !== undefined) query.where('logins.account_id', accountId);
    ofOwner(on, query, 'logins.account_id', owner);
    if (failed === true) query.whereNot('logins.outcome', 'success');
    if (failed === false) query.where('logins.outcome', 'success');
    inTimeRange(query, 'logins.at', { from, to });
    if (!byIndex && search !== '') {
      query.where((any) => {
        any.where(containing(on, 'logins.username', search)).orWhere(containing(on, 'logins.client', search));
      });
    }
    return { query, id };
  }

  return {
    add: (entries) =>
      inTransaction(db, async (trx) => {
        const places: number[] = [];
        for (const slice of slices(entries, ROWS_PER_STATEMENT)) {
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
      const rows: object[] = await reads('logins').whereIn('id', ids).orderBy('id', 'desc');
      return rows.map((row) => {
        const { id: place, ...entry } = fromRow<LoginEntry & { readonly id: number }>(row);
        return { ...entry, place };
      });
    },

    async count(filter) {
      const [row] = (await matching(filter).query.count({ count: '*' })) as { count: number }[];
      return row?.count ?? 0;
    },

    async trim(before, keep, limit) {
      const newest = await db('logins').max({ id: 'id' }).first();
      const lastKept = (newest?.id ?? 0) - keep;
      const old = db('logins')
        .where('at', '<', before)
        .orWhere('id', '<=', lastKept)
        .orderBy('id')
        .limit(limit)
        .select('id');
      return db('logins').whereIn('id', old).delete();
    },
  };
}
