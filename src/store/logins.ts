// The logins table.
import type { Knex } from 'knex';
import type { LoginEntry, LoginFilter, LoginOutcome, LoginStore } from '../core/accounts/login-log.js';
import { containing } from './like.js';

interface LoginRow {
  id: number | string;
  at: number | string;
  account_id: string | null;
  username: string;
  client: string;
  outcome: string;
  times: number | string;
}

/** Rows in one statement; six bound values each. */
const ROWS_PER_STATEMENT = 200;

export function createLoginStore(db: Knex): LoginStore {
  const matching = ({ accountId, search, failed }: LoginFilter): Knex.QueryBuilder => {
    const query = db('logins');
    if (accountId !== undefined) query.where('account_id', accountId);
    if (failed === true) query.whereNot('outcome', 'success');
    if (failed === false) query.where('outcome', 'success');
    if (search !== undefined && search !== '') {
      query.where((any) => {
        any.where(containing(db, 'username', search)).orWhere(containing(db, 'client', search));
      });
    }
    return query;
  };

  return {
    add: (entries) =>
      db.transaction(async (trx) => {
        const places: number[] = [];
        for (let start = 0; start < entries.length; start += ROWS_PER_STATEMENT) {
          const slice = entries.slice(start, start + ROWS_PER_STATEMENT);
          const rows: { id: number | string }[] = await trx('logins')
            .insert(slice.map(toRow))
            .returning('id');
          // An insert of several rows numbers them in their order.
          places.push(...rows.map(({ id }) => Number(id)).sort((a, b) => a - b));
        }
        return places;
      }),

    repeated: (entries) =>
      db.transaction(async (trx) => {
        for (const { place, times } of entries) await trx('logins').where({ id: place }).update({ times });
      }),

    async list(filter, before, limit) {
      const query = matching(filter).orderBy('id', 'desc').limit(limit);
      if (before !== null) query.where('id', '<', before);
      const rows: LoginRow[] = await query;
      return rows.map((row) => ({
        place: Number(row.id),
        at: Number(row.at),
        accountId: row.account_id,
        username: row.username,
        client: row.client,
        outcome: row.outcome as LoginOutcome,
        times: Number(row.times),
      }));
    },

    async count(filter) {
      const [row] = (await matching(filter).count({ count: '*' })) as { count: number | string }[];
      return Number(row?.count ?? 0);
    },

    async trim(before, keep, limit) {
      const newest = await db('logins').max({ id: 'id' }).first();
      const lastKept = Number(newest?.id ?? 0) - keep;
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

function toRow({ at, accountId, username, client, outcome, times }: LoginEntry): Omit<LoginRow, 'id'> {
  return { at, account_id: accountId, username, client, outcome, times };
}
