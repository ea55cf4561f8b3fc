// knex's SQLite client with transactions that acquire the write lock first and are never left open, and with a wait for locks of other
// processes that ends when the connection is closed.
import { setTimeout as pause } from 'node:timers/promises';
import knex, { type Knex } from 'knex';
import SqliteTransaction from 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js';
import SqliteClient from 'knex/lib/dialects/sqlite3/index.js';
import { codeOf, type StorageProblem, withStorageProblem } from '../../core/errors.js';
import { problemOf } from './errors.js';
import { identityOf } from './foreign-log.js';
import { type SqlitePackageChoice, sqlitePackage } from './package.js';

/** The permitted access of a connection. Part of the configuration of knex. */
export interface Access {
  /** How long a query waits for the lock of another process, in ms. */
  readonly waitMs: number;
  /** The connections are being closed: queries no longer wait, and no new work begins. */
  isClosing: boolean;
  /** Why writes are refused: the open file is no longer at its path. null: they are not. */
  refusal: StorageProblem | null;
  /** The identity of the file that is used (foreign-log.ts): no other one is opened. null: any. */
  opened: string | null;
  /** When SQLite last returned SQLITE_BUSY, by the monotonic clock in ms. */
  busyAt: number;
  /** False: nobody waits for the current work any more, so it does not wait for a lock. */
  readonly hasCaller: () => boolean;
}

/** The configuration of knex for a SQLite file; `sqlite` comes from package.ts. */
export type SqliteConfig = Knex.Config & { readonly access: Access; readonly sqlite: unknown };

export const accessFor = (waitMs: number, hasCaller = () => true): Access => ({
  waitMs,
  isClosing: false,
  refusal: null,
  opened: null,
  busyAt: Number.NEGATIVE_INFINITY,
  hasCaller,
});

/** What all connections to a file have in common. @throws StartError `database-client-unusable` */
export const sqliteConfig = (
  client: typeof ImmediateSqliteClient,
  choice: SqlitePackageChoice,
  access: Access,
): SqliteConfig => ({
  client,
  // Without it, knex would load the package itself, and report every failure as a missing package.
  sqlite: sqlitePackage(choice).loaded,
  access,
  useNullAsDefault: true,
  // Errors contain the query without its values, which may be hashes, secrets and messages.
  compileSqlOnError: false,
  // knex also throws what it would print.
  log: { warn: () => {}, error: () => {} },
});

export const accessOf = (db: Knex): Access => (db.client as { config: { access: Access } }).config.access;

/** Time between attempts in ms, when SQLite returns SQLITE_BUSY without waiting for `busy_timeout`. */
const BUSY_RETRY_MS = 25;

/**
 * Repeats `work` until no other process holds the lock, until `waitMs` after `askedAt`; then rejects with SQLITE_BUSY. A statement that
 * failed with SQLITE_BUSY had no effect. Work that has waited for as long behind other work, which failed just now, is not tried; nor is
 * work for which nobody waits any more.
 */
export async function waitForLock<Result>(
  access: Access,
  work: () => Promise<Result>,
  askedAt = performance.now(),
): Promise<Result> {
  const isOver = () =>
    access.isClosing || !access.hasCaller() || performance.now() - askedAt >= access.waitMs;
  const { busyAt } = access;
  const isLocked = performance.now() - busyAt < BUSY_RETRY_MS || !access.hasCaller();
  if (isOver() && busyAt > askedAt && isLocked) throw stillBusy();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY') throw error;
      access.busyAt = performance.now();
      if (isOver()) throw error;
      await pause(BUSY_RETRY_MS);
    }
  }
}

const stillBusy = (): Error =>
  Object.assign(new Error('SQLITE_BUSY: database is locked'), { code: 'SQLITE_BUSY' });

/**
 * A transaction that begins as a writer. A plain BEGIN acquires the write lock only with the first write, and then SQLite returns
 * SQLITE_BUSY without waiting if another process has written since.
 */
class ImmediateTransaction extends SqliteTransaction {
  // Without this rejection, knex would run the caller's function after a failed BEGIN.
  override begin(connection: unknown): Promise<unknown> {
    return this.trxClient.query(connection, 'BEGIN IMMEDIATE;');
  }

  // A COMMIT that fails (disk full) may leave the transaction open on the only connection.
  override async commit(connection: unknown, value: unknown): Promise<void> {
    try {
      await this.trxClient.query(connection, 'COMMIT;');
    } catch (error) {
      return this.rollback(connection, error);
    }
    this._completed = true;
    this._resolver(value);
  }

  // SQLite rolls back by itself after some errors. The failure of the second ROLLBACK must not hide the first error.
  override async rollback(connection: unknown, error: unknown): Promise<void> {
    await this.trxClient.query(connection, 'ROLLBACK;').catch(() => {});
    this._completed = true;
    this._rejecter(error ?? new Error('the transaction was rolled back'));
  }
}

/** When the work that has acquired a connection asked for it, by the monotonic clock in ms, until its first query. */
const askedAtOf = new WeakMap<object, number>();

/** For `knex({ client: ImmediateSqliteClient })`: every `db.transaction` is a BEGIN IMMEDIATE. */
export class ImmediateSqliteClient extends SqliteClient {
  private get access(): Access {
    return (this.config as SqliteConfig).access;
  }

  override _driver(): unknown {
    return (this.config as SqliteConfig).sqlite;
  }

  /** For the pool: whether a connection can still be used. */
  override async validateConnection(connection: unknown): Promise<boolean> {
    return (connection as { readonly open: boolean }).open;
  }

  // The pool would let a query that comes while it is being destroyed wait until `acquireConnectionTimeout`.
  override async acquireConnection(): Promise<unknown> {
    this.refuseWhenClosing();
    const askedAt = performance.now();
    const connection = await super.acquireConnection().catch((error: unknown) => {
      throw this.explained(error);
    });
    askedAtOf.set(connection as object, askedAt);
    return connection;
  }

  // Another file at the path would meet the write-ahead log of the one that is open.
  override async acquireRawConnection(): Promise<unknown> {
    await this.refuseReplaced();
    const connection: unknown = await super.acquireRawConnection();
    return this.refuseReplaced().then(
      () => connection,
      async (error: unknown) => {
        await this.destroyRawConnection(connection);
        throw error;
      },
    );
  }

  private async refuseReplaced(): Promise<void> {
    const { opened } = this.access;
    const { filename } = this.config.connection as { readonly filename: string };
    if (opened === null || (await identityOf(filename)) === opened) return;
    throw withStorageProblem(new Error('the database file was deleted or replaced'), 'database-replaced');
  }

  override async _query(connection: unknown, statement: unknown): Promise<unknown> {
    const { refusal } = this.access;
    if (refusal !== null && isWrite(statement)) throw writeRefused(refusal);
    // A read needs no lock, so it is tried however long it has waited behind writes.
    const askedAt = isRead(statement) ? undefined : askedAtOf.get(connection as object);
    askedAtOf.delete(connection as object);
    const query = () => super._query(connection, statement);
    return waitForLock(this.access, query, askedAt).catch((error: unknown) => {
      throw this.explained(error);
    });
  }

  /** Marks an error with the problem of the storage that it shows. */
  private explained(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    const { filename } = this.config.connection as { readonly filename: string };
    // No connection became free in time: earlier queries wait for a lock, or for the disk.
    const isBusy = error instanceof knex.KnexTimeoutError;
    return withStorageProblem(error, isBusy ? 'database-failing' : problemOf(error, filename));
  }

  protected refuseWhenClosing(): void {
    if (this.access.isClosing) throw new Error('the database is being closed');
  }

  override destroy(): Promise<void> {
    this.access.isClosing = true;
    return super.destroy();
  }

  override transaction(container: unknown, config: unknown, outer: unknown): Knex.Transaction {
    // knex's declaration of this method returns a Transaction.
    return new ImmediateTransaction(this, container, config, outer) as unknown as Knex.Transaction;
  }
}

const isRead = (statement: unknown): boolean =>
  (statement as { readonly sql?: string }).sql?.startsWith('select ') === true;

const WRITING_METHODS = new Set(['insert', 'update', 'del']);

/** Whether a statement writes. BEGIN counts, because transactions always write. */
function isWrite(statement: unknown): boolean {
  const { method, sql } = statement as { readonly method?: string; readonly sql?: string };
  return WRITING_METHODS.has(method ?? '') || sql?.startsWith('BEGIN') === true;
}

function writeRefused(problem: StorageProblem): Error {
  const error = new Error('write refused: the database file was deleted or replaced');
  return withStorageProblem(Object.assign(error, { code: 'SQLITE_NOT_WRITTEN' }), problem);
}
