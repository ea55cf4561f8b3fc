// Types for two files of knex that its own declarations omit. knex-client.ts uses them.
declare module 'knex/lib/dialects/postgres/index.js' {
  import { Knex } from 'knex';

  export default class PostgresClient extends Knex.Client {
    constructor(config: Knex.Config);
    /** Runs one statement on a connection of the pool. */
    _query(connection: unknown, statement: unknown): Promise<unknown>;
    /** A new connection, signed in. */
    _acquireOnlyConnection(): Promise<unknown>;
    /** A connection of the pool; rejects with KnexTimeoutError after `acquireConnectionTimeout`. */
    acquireConnection(): Promise<unknown>;
    columnCompiler(...args: unknown[]): unknown;
    /** Converts the bound values of a statement; undefined when it has none. */
    prepBindings(bindings: readonly unknown[] | undefined): unknown[] | undefined;
  }
}

declare module 'knex/lib/dialects/postgres/schema/pg-columncompiler.js' {
  export default class PostgresColumnCompiler {
    constructor(client: unknown, ...args: unknown[]);
  }
}
