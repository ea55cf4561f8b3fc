// A connection of a client whose calls block, better-sqlite3 or node:sqlite, with the interface of one of the sqlite3 package: each
// has a thread of its own, so that neither a search nor a wait for the disk or a lock holds up the daemon.
import { Worker } from 'node:worker_threads';
import type { SqliteAnswer, SqliteCall, SqliteThreadData } from './sqlite-thread.js';

type Done = (
  this: { readonly lastID?: number | undefined; readonly changes?: number | undefined },
  error: Error | null,
  rows?: unknown[],
) => void;

export class ThreadedConnection {
  /** False once it cannot be used any more; knex's pool then makes another one. */
  open = true;
  readonly #worker: Worker;
  /** Calls that the thread has not been given yet: one at a time, so that what nobody waits for any more is never begun. */
  #queue: { readonly call: SqliteCall; readonly done: Done }[] = [];
  /** Whether the thread is at work, also on what nobody waits for any more. */
  #isBusy = true;
  /** Who waits for the answer to it. */
  #done: Done | null;

  constructor(client: SqliteThreadData['client'], file: string, done: (error: Error | null) => void) {
    const workerData: SqliteThreadData = { client, file };
    this.#worker = new Worker(new URL('./sqlite-thread.js', import.meta.url), { workerData, name: client });
    this.#worker.on('message', (answer: SqliteAnswer) => this.#answered(answer));
    this.#worker.on('error', (error) => this.#lost(error));
    this.#worker.on('exit', () => this.#lost(new Error('the thread of the connection has ended')));
    this.#done = (error) => {
      if (error) this.#end();
      done(error);
    };
  }

  exec(sql: string, done: Done): void {
    this.#call({ do: 'exec', sql }, done);
  }

  all(sql: string, bindings: readonly unknown[] | undefined, done: Done): void {
    this.#call({ do: 'all', sql, bindings }, done);
  }

  run(sql: string, bindings: readonly unknown[] | undefined, done: Done): void {
    this.#call({ do: 'run', sql, bindings }, done);
  }

  /**
   * Ends the wait for what the connection does. Neither client can be stopped in the middle of a statement: the thread goes on,
   * and the next call waits until it is done.
   */
  interrupt(): void {
    this.#rejectAll(() => failure('SQLITE_INTERRUPT', 'interrupted'));
  }

  close(done: (error: Error | null) => void): void {
    if (!this.open) return done(null);
    if (this.#isBusy) {
      // With what nobody waits for any more: the thread ends as soon as SQLite returns.
      this.#end();
      return done(null);
    }
    this.#call({ do: 'close', sql: '' }, (error) => done(error));
    this.open = false;
  }

  #call(call: SqliteCall, done: Done): void {
    if (!this.open) return done.call({}, failure('SQLITE_MISUSE', 'the connection is closed'));
    this.#queue.push({ call, done });
    // The process stays for those who wait, and for no idle connection.
    this.#worker.ref();
    this.#next();
  }

  #next(): void {
    if (this.#isBusy) return;
    const next = this.#queue.shift();
    if (!next) return this.#worker.unref();
    this.#isBusy = true;
    this.#done = next.done;
    this.#worker.postMessage(next.call);
  }

  #answered({ rows, lastID, changes, error }: SqliteAnswer): void {
    const done = this.#done;
    this.#isBusy = false;
    this.#done = null;
    this.#next();
    if (error) done?.call({}, failure(error.code, error.text));
    else done?.call({ lastID, changes }, null, rows);
  }

  #lost(cause: Error): void {
    this.open = false;
    this.#rejectAll(() => Object.assign(failure('SQLITE_IOERR', cause.message), { cause }));
  }

  #end(): void {
    this.open = false;
    void this.#worker.terminate();
  }

  #rejectAll(why: () => Error): void {
    const waiting = [this.#done, ...this.#queue.map(({ done }) => done)];
    this.#done = null;
    this.#queue = [];
    this.#worker.unref();
    for (const done of waiting) done?.call({}, why());
  }
}

function failure(code: string, text: string): Error {
  return Object.assign(new Error(`${code}: ${text}`), { code });
}
