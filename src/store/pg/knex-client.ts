// knex's PostgreSQL client, adapted to store the same values as SQLite, with a time limit for every query.
import type { Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import PostgresColumnCompiler from 'knex/lib/dialects/postgres/schema/pg-columncompiler.js';
import type { Client } from 'pg';
import pg from 'pg';
import { COMMIT_UNKNOWN, isDatabaseAway } from '../../core/errors.js';
import { NO_CONNECTION, withCode, withLibpqModes } from './errors.js';

/** The configuration of knex, with the time limits of queries. */
export type PgConfig = Knex.Config & {
  /** Time limit of a statement, in ms; then its connection is closed. null: none. */
  readonly hardLimitMs: number | null;
  /** Closes connections to a server that does not answer; null: queries wait. */
  readonly silence: ReturnType<typeof createSilenceWatch> | null;
  /** Called when the answer to a COMMIT was lost: whether the server has executed or will execute it is unknown. */
  readonly onLostCommit?: (() => void) | undefined;
};

/** The socket of a connection, which pg's types omit. */
type RawConnection = Client & { readonly connection: { readonly stream: { destroy(error?: Error): void } } };

/** Makes text columns unlimited and sorted by their bytes, so that names, ids and cursors compare as in SQLite. */
class BytewiseColumnCompiler extends PostgresColumnCompiler {
  varchar(): string {
    return BYTEWISE_TEXT;
  }

  get text(): string {
    return BYTEWISE_TEXT;
  }
}

/** The statement as knex writes it. */
const COMMIT = 'COMMIT;';

const BYTEWISE_TEXT = 'text collate "C"';

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

  // A frozen or disconnected server does not answer: this closes the connection, and the pool opens another.
  override async _query(connection: unknown, statement: unknown): Promise<unknown> {
    const { hardLimitMs, silence, onLostCommit } = this.config as PgConfig;
    const { stream } = (connection as RawConnection).connection;
    const disconnect = () => void stream.destroy(noConnection('the server does not answer'));
    const timer = hardLimitMs === null ? undefined : setTimeout(disconnect, hardLimitMs);
    const end = silence?.begin(disconnect);
    try {
      const answer = await super._query(connection, statement);
      end?.(true);
      return answer;
    } catch (error) {
      const coded = withCode(error);
      const isAway = isDatabaseAway(coded);
      end?.(!isAway);
      if (!isAway || (statement as { readonly sql?: string }).sql !== COMMIT) throw coded;
      onLostCommit?.();
      throw Object.assign(coded as Error, { [COMMIT_UNKNOWN]: true });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** PostgreSQL cannot store NUL in texts: replaces it by U+FFFD, like invalid Unicode. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  return Array.isArray(value) ? value.map(storable) : value;
}

const noConnection = (message: string): Error => Object.assign(new Error(message), { code: NO_CONNECTION });

/**
 * Detects a server that does not answer: a frozen one, or a broken connection. A slow query alone does not count: while one waits, the
 * server is probed over a new connection, and every answer counts.
 * @param answerMs time without any answer while a query waits, after which the server counts as silent
 */
export function createSilenceWatch(connection: string, answerMs: number) {
  const waiting = new Map<() => void, number>();
  let answeredAt = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Sets a timer for the moment when the oldest query has waited for half of `answerMs`. */
  function schedule(): void {
    const [oldest] = waiting.values();
    if (timer || oldest === undefined) return;
    const dueAt = Math.max(oldest, answeredAt) + answerMs / 2;
    timer = setTimeout(probeIfSilent, Math.max(0, dueAt - performance.now()));
    timer.unref();
  }

  function probeIfSilent(): void {
    timer = undefined;
    const [oldest] = waiting.values();
    if (oldest === undefined) return;
    if (performance.now() - Math.max(oldest, answeredAt) < answerMs / 2) return schedule();
    const probedAt = performance.now();
    timer = setTimeout(disconnectIfSilent, answerMs / 2, probedAt);
    timer.unref();
    probe();
  }

  function disconnectIfSilent(probedAt: number): void {
    timer = undefined;
    if (answeredAt < probedAt)
      for (const [disconnect, since] of [...waiting]) if (since <= probedAt) disconnect();
    schedule();
  }

  /** Opens a connection to the server. An error with an SQLSTATE is an answer too. */
  function probe(): void {
    const client = new pg.Client({
      connectionString: withLibpqModes(connection),
      application_name: 'pulsegate probe',
      connectionTimeoutMillis: answerMs,
    });
    const answered = (): void => {
      answeredAt = performance.now();
    };
    client.on('error', () => undefined);
    client
      .connect()
      .then(answered, (error: unknown) => {
        if (error instanceof pg.DatabaseError) answered();
      })
      .finally(() => client.end().catch(() => undefined))
      .catch(() => undefined);
  }

  return {
    /**
     * Call it when a query is sent. It calls `disconnect` when the server does not answer. Call the returned function at the end of
     * the query.
     */
    begin(disconnect: () => void) {
      waiting.set(disconnect, performance.now());
      schedule();
      return (isAnswered: boolean): void => {
        waiting.delete(disconnect);
        if (isAnswered) answeredAt = performance.now();
        if (waiting.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}
