// One entry of the audit log for one import: what it did to each account names the entry of the import.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('audit', (table) => {
    // Id of the entry of the import; null for what stands alone.
    table.string('import_id', 36);
    table.index(['import_id', 'id']);
  });
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop index audit_import_id_id_index');
  await db.raw('alter table audit drop column import_id');
}
