// Read-only connections, so that a search does not delay writes. In WAL mode they read committed data while another connection writes
// (https://www.sqlite.org/wal.html#concurrency).
import knex, { type Knex } from 'knex';
import { codeOf, QueryTooSlowError } from '../../core/errors.js';
import { acquireReader, type ReaderOptions } from '../database.js';
import { accessFor, ImmediateSqliteClient, type SqliteConfig, sqliteConfig } from './knex-client.js';
import type { SqlitePackageChoice } from './package.js';

/** A connection, as far as it is used here. */
interface RawConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  interrupt(): void;
}

/** While the connections are being closed. */
const INTERRUPT_EVERY_MS = 10;

type ReaderConfig = SqliteConfig & { readonly timeoutMs: number };

class ReadingClient extends ImmediateSqliteClient {
  readonly #busy = new Set<RawConnection>();

  override async _query(connection: unknown, statement: unknown): Promise<unknown> {
    this.refuseWhenClosing();
    const { timeoutMs } = this.config as ReaderConfig;
    const reader = connection as RawConnection;
    // Again and again, because an interrupt that comes before the query has begun in its thread has no effect.
    const timer = setInterval(() => reader.interrupt(), timeoutMs);
    this.#busy.add(reader);
    try {
      return await super._query(connection, statement);
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_INTERRUPT') throw error;
      throw new QueryTooSlowError('slow', `query exceeded its time limit of ${timeoutMs} ms`, {
        cause: error,
      });
    } finally {
      clearInterval(timer);
      this.#busy.delete(reader);
    }
  }

  /** Interrupts running searches, and refuses further ones, so that the stop does not wait for them. */
  override destroy(): Promise<void> {
    const timer = setInterval(() => {
      for (const reader of this.#busy) reader.interrupt();
    }, INTERRUPT_EVERY_MS);
    return super.destroy().finally(() => clearInterval(timer));
  }

  override acquireConnection(): Promise<unknown> {
    return acquireReader(() => super.acquireConnection());
  }
}

/**
 * knex on a few read-only connections to `file`, opened when needed. A query that exceeds its time limit rejects with
 * QueryTooSlowError.
 */
export function connectReaders(
  choice: SqlitePackageChoice,
  file: string,
  { readers, timeoutMs }: ReaderOptions,
): Knex {
  const config: ReaderConfig = {
    ...sqliteConfig(ReadingClient, choice, accessFor(timeoutMs)),
    timeoutMs,
    // Without OPEN_CREATE: reading a missing database must fail.
    connection: { filename: file, flags: ['OPEN_READWRITE'] },
    acquireConnectionTimeout: timeoutMs,
    pool: {
      min: 0,
      max: readers,
      afterCreate: (connection: RawConnection, done: (error: Error | null) => void) =>
        connection.exec('pragma query_only = on; pragma busy_timeout = 100;', done),
    },
  };
  return knex(config);
}
