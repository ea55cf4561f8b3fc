// Detects a PostgreSQL server that does not answer: a frozen server, or a broken connection. A slow query alone is no such sign.
// While a query waits, this module probes the server over a new connection, and every answer counts.
import pg from 'pg';
import { withLibpqModes } from './pg-connection.js';

export interface SilenceWatch {
  /**
   * Call it when a query is sent. It calls `giveUp` when the server does not answer. Call the returned function at the query's end.
   */
  begin(giveUp: () => void): (isAnswered: boolean) => void;
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
    timer = setTimeout(look, Math.max(0, dueAt - performance.now()));
    timer.unref();
  }

  function look(): void {
    timer = undefined;
    const [oldest] = waiting.values();
    if (oldest === undefined) return;
    if (performance.now() - Math.max(oldest, answeredAt) < answerMs / 2) return schedule();
    const askedAt = performance.now();
    timer = setTimeout(decide, answerMs / 2, askedAt);
    timer.unref();
    ask();
  }

  function decide(askedAt: number): void {
    timer = undefined;
    if (answeredAt < askedAt) for (const [giveUp, since] of [...waiting]) if (since <= askedAt) giveUp();
    schedule();
  }

  /** Probes the server. An error with an SQLSTATE is an answer too. */
  function ask(): void {
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
    begin(giveUp) {
      waiting.set(giveUp, performance.now());
      schedule();
      return (isAnswered) => {
        waiting.delete(giveUp);
        if (isAnswered) answeredAt = performance.now();
        if (waiting.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}
