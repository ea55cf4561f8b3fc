// A connection of a database package whose calls block (all but sqlite3), with the interface of the sqlite3 package. Each connection
// has its own thread, so that neither a search nor a wait for the disk or a lock blocks the daemon.
import { Worker } from 'node:worker_threads';
import { threadUrl } from '../../program.js';
import type { SqliteAnswer, SqliteCall, SqliteThreadData, ThreadedPackageName } from './thread.js';

type Done = (
  this: { readonly lastID?: number | undefined; readonly changes?: number | undefined },
  error: Error | null,
  rows?: unknown[],
) => void;

export class ThreadedConnection {
  /** False when the connection can no longer be used. Then knex's pool opens another one. */
  open = true;
  readonly #worker: Worker;
  /** Whether the thread may be ended while it executes a call. With @photostructure/sqlite that would end the process. */
  readonly #isEndable: boolean;
  /** Calls that are not sent to the thread yet. Calls are sent one at a time, so that an interrupted call is never started. */
  #queue: { readonly call: SqliteCall; readonly done: Done }[] = [];
  /** Whether the thread executes a call, even an interrupted one. */
  #isBusy = true;
  /** The callback of the current call; null when the call was interrupted. */
  #done: Done | null;

  constructor(name: ThreadedPackageName, file: string, done: (error: Error | null) => void) {
    this.#isEndable = name !== '@photostructure/sqlite';
    const workerData: SqliteThreadData = { name, file };
    this.#worker = new Worker(threadUrl('store/sqlite/thread'), { workerData, name });
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
   * Rejects the current and all waiting calls. None of the packages can stop a running statement: the thread continues with it, and the next
   * call waits until it has ended.
   */
  interrupt(): void {
    if (this.open) this.#rejectAll(() => failure('SQLITE_INTERRUPT', 'interrupted'));
  }

  /** Calls `done` when the file is closed: the end of the thread also frees statements, which can keep it open. */
  close(done: (error: Error | null) => void): void {
    if (!this.open) return done(null);
    if (this.#isBusy && this.#isEndable) {
      // The thread executes an interrupted call: it ends as soon as SQLite returns.
      this.#end();
      return done(null);
    }
    let failed: Error | null = null;
    this.#worker.once('exit', () => done(failed));
    this.#call({ do: 'close', sql: '' }, (error) => {
      failed = error;
    });
    this.open = false;
  }

  #call(call: SqliteCall, done: Done): void {
    if (!this.open) return done.call({}, failure('SQLITE_MISUSE', 'the connection is closed'));
    this.#queue.push({ call, done });
    // Pending calls keep the process running, an idle connection does not.
    this.#worker.ref();
    this.#next();
  }

  #next(): void {
    if (this.#isBusy) return;
    const next = this.#queue.shift();
    if (!next) return this.open ? this.#worker.unref() : undefined;
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
