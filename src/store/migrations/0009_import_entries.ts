// One audit entry per import. The entries of its changes of accounts refer to it.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('audit', (table) => {
    // Id of the entry of the import; null: not part of an import.
    table.string('import_id', 36);
    table.index(['import_id', 'id']);
  });
}
