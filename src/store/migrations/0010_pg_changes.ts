// Which transaction wrote a change: readers find those that committed late. Known to PostgreSQL only.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw('alter table changes add column xact xid8 not null default pg_current_xact_id()');
  await db.raw('create index changes_xact_index on changes (xact)');
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table changes drop column xact');
}
