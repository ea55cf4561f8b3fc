// knex's PostgreSQL client, adapted to store the same values as SQLite, with a time limit for every query.
import type { Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import PostgresColumnCompiler from 'knex/lib/dialects/postgres/schema/pg-columncompiler.js';
import type { Client } from 'pg';
import { NO_CONNECTION, withCode } from './pg-away.js';

/** Configuration of knex with what a query may take. */
export type PgConfig = Knex.Config & {
  /** Longest that a statement may take, in ms; then its connection is closed. null: for ever. */
  readonly answerMs: number | null;
};

/** The socket of a connection, which pg's types leave out. */
type RawConnection = Client & {
  readonly connection: { readonly stream: { destroy(error?: Error): void } };
};

/** Texts of any length, sorted by their bytes in every database: names, ids and cursors compare as they do in SQLite. */
class BytewiseColumnCompiler extends PostgresColumnCompiler {
  varchar(): string {
    return BYTEWISE_TEXT;
  }

  get text(): string {
    return BYTEWISE_TEXT;
  }
}

const BYTEWISE_TEXT = 'text collate "C"';

/** For `knex({ client: PgClient })`. */
export class PgClient extends PostgresClient {
  override columnCompiler(...args: unknown[]): unknown {
    return new BytewiseColumnCompiler(this, ...args);
  }

  override prepBindings(bindings: readonly unknown[] | undefined): unknown[] | undefined {
    return bindings?.map(storable);
  }

  override async _acquireOnlyConnection(): Promise<unknown> {
    return super._acquireOnlyConnection().catch((error: unknown) => {
      throw withCode(error);
    });
  }

  // No connection became free in time: the server does not answer, or too slowly.
  override async acquireConnection(): Promise<unknown> {
    return super.acquireConnection().catch((error: unknown) => {
      throw withCode(error);
    });
  }

  // A frozen or disconnected server does not answer: this closes the connection, and the pool makes another.
  override async _query(connection: unknown, statement: unknown): Promise<unknown> {
    const { answerMs } = this.config as PgConfig;
    const { stream } = (connection as RawConnection).connection;
    const timer =
      answerMs === null
        ? undefined
        : setTimeout(() => stream.destroy(noConnection(`no answer within ${answerMs} ms`)), answerMs);
    try {
      return await super._query(connection, statement);
    } catch (error) {
      throw withCode(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** PostgreSQL cannot store NUL in texts: it becomes the replacement character, as invalid Unicode does. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  return Array.isArray(value) ? value.map(storable) : value;
}

function noConnection(message: string): Error {
  return Object.assign(new Error(message), { code: NO_CONNECTION });
}
