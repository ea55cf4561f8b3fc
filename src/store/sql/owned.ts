// Restricts a query to the accounts of one seller.
import type { Knex } from 'knex';

/**
 * @param owner undefined: every account
 * @param column the column with the account's id
 */
export function ofOwner(
  db: Knex,
  query: Knex.QueryBuilder,
  column: string,
  owner: string | undefined,
): Knex.QueryBuilder {
  return owner === undefined ? query : query.whereIn(column, db('accounts').where({ owner }).select('id'));
}
