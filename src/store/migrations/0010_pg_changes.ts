// The transaction of each change, so that readers find changes that were committed late. Only for PostgreSQL.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw('alter table changes add column xact xid8 not null default pg_current_xact_id()');
  await db.raw('create index changes_xact_index on changes (xact)');
}
