// knex's SQLite client with transactions that take the write lock first and never leave one open.

import type { Knex } from 'knex';
import SqliteTransaction from 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js';
import SqliteClient from 'knex/lib/dialects/sqlite3/index.js';

/**
 * A transaction that begins as a writer. A plain BEGIN reads first and asks for the write lock later, and SQLite
 * then answers SQLITE_BUSY at once, without waiting, if anybody wrote in between.
 */
class ImmediateTransaction extends SqliteTransaction {
  // knex would run the caller's function after a failed BEGIN; a rejection here keeps it from that.
  override begin(connection: unknown): Promise<unknown> {
    return this.trxClient.query(connection, 'BEGIN IMMEDIATE;');
  }

  // A COMMIT that fails (disk full) may leave the transaction open, and the only connection with it.
  override async commit(connection: unknown, value: unknown): Promise<void> {
    try {
      await this.trxClient.query(connection, 'COMMIT;');
    } catch (error) {
      return this.rollback(connection, error);
    }
    this._completed = true;
    this._resolver(value);
  }

  // SQLite rolls back by itself after some errors; the ROLLBACK that then fails must not hide why.
  override async rollback(connection: unknown, error: unknown): Promise<void> {
    await this.trxClient.query(connection, 'ROLLBACK;').catch(() => {});
    this._completed = true;
    this._rejecter(error ?? new Error('the transaction was rolled back'));
  }
}

/** For `knex({ client: ImmediateSqliteClient })`: every `db.transaction` is a BEGIN IMMEDIATE. */
export class ImmediateSqliteClient extends SqliteClient {
  override transaction(container: unknown, config: unknown, outer: unknown): Knex.Transaction {
    // knex calls the object it makes here a Transaction, and so does its declaration of this method.
    return new ImmediateTransaction(this, container, config, outer) as unknown as Knex.Transaction;
  }
}
