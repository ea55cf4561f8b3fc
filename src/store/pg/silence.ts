// Detects a PostgreSQL server that does not answer: a frozen server, or a broken connection. A slow query alone does not count.
// While a query waits, this module probes the server over a new connection, and every answer of the server counts.
import pg from 'pg';
import { withLibpqModes } from './connection.js';

export interface SilenceWatch {
  /**
   * Call it when a query is sent. It calls `disconnect` when the server does not answer. Call the returned function at the end of
   * the query.
   */
  begin(disconnect: () => void): (isAnswered: boolean) => void;
}

/** @param answerMs time without any answer while a query waits, after which the server counts as silent */
export function createSilenceWatch(connection: string, answerMs: number): SilenceWatch {
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
    begin(disconnect) {
      waiting.set(disconnect, performance.now());
      schedule();
      return (isAnswered) => {
        waiting.delete(disconnect);
        if (isAnswered) answeredAt = performance.now();
        if (waiting.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}
