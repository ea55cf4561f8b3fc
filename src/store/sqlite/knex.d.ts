// Types for two files of knex that its own declarations omit. knex-client.ts uses them.
declare module 'knex/lib/dialects/sqlite3/index.js' {
  import { Knex } from 'knex';

  export default class SqliteClient extends Knex.Client {
    _query(connection: unknown, statement: unknown): Promise<unknown>;
    /** A connection of the pool; rejects with KnexTimeoutError after `acquireConnectionTimeout`. */
    acquireConnection(): Promise<unknown>;
    acquireRawConnection(): Promise<unknown>;
    destroyRawConnection(connection: unknown): Promise<void>;
    destroy(): Promise<void>;
    /** The package, with the interface of sqlite3. */
    _driver(): unknown;
    validateConnection(connection: unknown): Promise<boolean>;
  }
}

declare module 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js' {
  export default class SqliteTransaction {
    constructor(client: unknown, ...args: unknown[]);
    protected _completed: boolean;
    /** Settle the promise that the caller of `db.transaction` holds. */
    protected _resolver(value: unknown): void;
    protected _rejecter(error: unknown): void;
    /** The client of this transaction's own connection; refuses queries once `_completed` is true. */
    protected trxClient: { query(connection: unknown, sql: string): Promise<unknown> };
    begin(connection: unknown): Promise<unknown>;
    commit(connection: unknown, value: unknown): Promise<unknown>;
    rollback(connection: unknown, error: unknown): Promise<unknown>;
  }
}
