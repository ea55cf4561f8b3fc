// Connection pools to a PostgreSQL database: one for writes, one for reads, and the checks at the start.
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { codeOf, QueryTooSlowError, StartError } from '../../core/errors.js';
import { acquireReader, type ReaderOptions } from '../database.js';
import { QUERY_CANCELED, withLibpqModes } from './errors.js';
import { createSilenceWatch, PgClient, type PgConfig } from './knex-client.js';

/** Time limit of a statement of the daemon, in ms. Migrations have none. */
const STATEMENT_MS = 30_000;
/** Normally the server ends a statement at its limit. When it has not answered this much later, the connection is closed. In ms. */
const SILENCE_MS = 2_000;
/** Time limit for connecting and signing in, in ms. */
const CONNECT_MS = 5_000;
/** Longest idle time of a transaction, in ms: a stopped process must not hold locks. */
const IDLE_TRANSACTION_MS = 30_000;

/** `pg_current_snapshot` and `xid8` exist since version 13, which is no longer supported. */
const OLDEST_VERSION = 14;

/** Prevents knex from printing messages: it also throws them as errors. */
const SILENT = { warn: () => {}, error: () => {}, deprecate: () => {} };

const BIGINT_OID = 20;
const NUMERIC_OID = 1700;

/** Returns large integers as numbers, like SQLite; by default pg returns texts. */
const types = {
  getTypeParser(oid: number, format: string) {
    if (oid === BIGINT_OID || oid === NUMERIC_OID) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

function connect(
  client: typeof PgClient,
  connection: string,
  size: number,
  limits: { readonly statementMs: number | null; readonly acquireMs: number; readonly connectMs: number },
  more: Pick<PgConfig, 'silence' | 'onLostCommit'>,
): Knex {
  const { statementMs, acquireMs, connectMs } = limits;
  const config: PgConfig = {
    client,
    ...more,
    hardLimitMs: statementMs === null ? null : statementMs + SILENCE_MS,
    connection: {
      connectionString: withLibpqModes(connection),
      application_name: 'pulsegate',
      connectionTimeoutMillis: connectMs,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      keepAlive: true,
      types,
      ...(statementMs === null ? {} : { statement_timeout: statementMs }),
    } as Knex.PgConnectionConfig,
    acquireConnectionTimeout: acquireMs,
    // Errors contain the query without its values, which may be hashes, secrets and messages.
    compileSqlOnError: false,
    log: SILENT,
    pool: { min: 0, max: size },
  };
  return knex(config);
}

interface PgUse {
  /** A server that has not answered for this time counts as unavailable, in ms. */
  readonly answerMs?: number | undefined;
  readonly onLostCommit?: () => void;
}

const DEFAULT_ANSWER_MS = 30_000;

export function connectPg(connection: string, size: number, use: PgUse = {}): Knex {
  const { answerMs = DEFAULT_ANSWER_MS, onLostCommit } = use;
  const limits = { statementMs: STATEMENT_MS, acquireMs: 2 * answerMs, connectMs: answerMs };
  const silence = createSilenceWatch(connection, answerMs);
  return connect(PgClient, connection, size, limits, { silence, onLostCommit });
}

/** knex on one connection without time limits for statements, for migrations and copies. */
export function connectPgMigrator(connection: string): Knex {
  const limits = { statementMs: null, acquireMs: CONNECT_MS * 2, connectMs: CONNECT_MS };
  return connect(PgClient, connection, 1, limits, { silence: null });
}

/** knex on a few connections for lists and searches. A query that exceeds its time limit rejects with QueryTooSlowError. */
export function connectPgReaders(
  connection: string,
  { readers, timeoutMs }: ReaderOptions,
  { answerMs = DEFAULT_ANSWER_MS }: PgUse = {},
): Knex {
  const limits = { statementMs: timeoutMs, acquireMs: timeoutMs + answerMs, connectMs: answerMs };
  const silence = createSilenceWatch(connection, answerMs);
  return connect(ReadingPgClient, connection, readers, limits, { silence });
}

class ReadingPgClient extends PgClient {
  override async _query(connection: unknown, statement: unknown): Promise<unknown> {
    try {
      return await super._query(connection, statement);
    } catch (error) {
      if (codeOf(error) !== QUERY_CANCELED) throw error;
      throw new QueryTooSlowError('slow', 'query exceeded its time limit', { cause: error });
    }
  }

  override acquireConnection(): Promise<unknown> {
    return acquireReader(() => super.acquireConnection());
  }
}

/**
 * Checks the version and encoding of the server, and that it accepts writes.
 * @throws StartError `database-too-old`, `database-encoding`, `database-read-only`; otherwise the error of the server
 */
export async function preparePg(db: Knex, where: string): Promise<void> {
  const { rows }: { rows: { version: string; encoding: string; is_standby: boolean }[] } = await db.raw(
    `select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
       pg_is_in_recovery() as is_standby`,
  );
  const [server = { version: '', encoding: '', is_standby: false }] = rows;
  if (Number.parseInt(server.version, 10) < OLDEST_VERSION) {
    throw new StartError(
      'database-too-old',
      `The server of ${where} is PostgreSQL ${server.version}. Use PostgreSQL ${OLDEST_VERSION} or newer.`,
    );
  }
  if (server.encoding !== 'UTF8') {
    throw new StartError(
      'database-encoding',
      `The database ${where} has the encoding ${server.encoding}. Create a database with UTF8: createdb -E UTF8 -T template0 NAME.`,
    );
  }
  if (server.is_standby) {
    throw new StartError(
      'database-read-only',
      `The server of ${where} is a standby, which accepts no writes. Connect to the primary.`,
    );
  }
}
