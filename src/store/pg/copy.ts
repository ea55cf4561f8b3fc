// A PostgreSQL database as source or target of a copy.
import type { Knex } from 'knex';
import { StartError } from '../../core/errors.js';
import { COPIED_TABLES, type CopySide } from '../copied-tables.js';
import { PG_NOW_MS } from './changes.js';
import { connectPgMigrator } from './connect.js';
import { openPg, type PgOptions } from './database.js';
import { nameOf } from './errors.js';

/** @throws StartError, as `openStore` does */
export async function openPgCopy(options: PgOptions): Promise<CopySide> {
  const where = nameOf(options.connection);
  // Checks the server, and creates the tables of a new database.
  await (await openPg(options, { is: 'command' })).close();
  const db = connectPgMigrator(options.connection);
  return {
    where,
    async exclusively(work) {
      await requireNoNode(db, where);
      return db.transaction(async (trx) => {
        // Reading a batch of the other database may take long.
        await trx.raw('set local idle_in_transaction_session_timeout = 0');
        await lockTables(trx);
        return work(trx);
      });
    },
    async finish(trx) {
      await setSequences(trx);
      await trx.raw('analyze');
    },
    toStored: (value, type) => (type === 'boolean' && value !== null ? Boolean(value) : value),
    close: () => db.destroy(),
  };
}

async function requireNoNode(db: Knex, where: string): Promise<void> {
  const node = await db('nodes')
    .where('lease_until', '>', db.raw(PG_NOW_MS))
    .first('name', db.raw(`ceil((lease_until - ${PG_NOW_MS}) / 1000.0) as seconds`));
  if (!node) return;
  throw new StartError(
    'daemon-running',
    `The node ${node.name} uses the database ${where}. Stop every daemon that uses it during the copy: their writes would be lost. ` +
      `A killed node counts as running until its lease expires (in ${node.seconds} s).`,
  );
}

/** A daemon that starts meanwhile waits for the locks. Its start fails when that takes long. */
async function lockTables(trx: Knex): Promise<void> {
  const names = COPIED_TABLES.map(({ name }) => name);
  await trx.raw(`lock table ${names.map(() => '??').join(', ')} in access exclusive mode`, names);
}

/** Sets each identity column's next number to follow the largest copied one. */
async function setSequences(trx: Knex): Promise<void> {
  for (const { name, key } of COPIED_TABLES) {
    const [column] = key;
    if (key.length > 1 || column === undefined) continue;
    const { rows }: { rows: { sequence: string | null }[] } = await trx.raw(
      'select pg_get_serial_sequence(?, ?) as sequence',
      [name, column],
    );
    const sequence = rows[0]?.sequence;
    if (!sequence) continue;
    await trx.raw('select setval(?, coalesce(max(??), 1), max(??) is not null) from ??', [
      sequence,
      column,
      column,
      name,
    ]);
  }
}
