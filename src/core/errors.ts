// Errors with codes: failures to start the daemon or a command, queries that exceed their time limit, and problems of the database.

/** The `code` of an error of the system, Node.js, SQLite or PostgreSQL; undefined when it has none. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Returns what `work` returns; `otherwise` if it throws: for functions that say by an exception that there is nothing. */
export function tryOr<Otherwise, Result>(otherwise: Otherwise, work: () => Result): Otherwise | Result {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** Whether `work` returns without an exception. */
export const succeeds = (work: () => unknown): boolean =>
  tryOr(false, () => {
    work();
    return true;
  });

/** A failed start. The message says what is wrong, where, and what to do. Callers decide by `code`. */
export class StartError extends Error {
  override readonly name = 'StartError';

  /**
   * @param code stable, kebab-case: `database-corrupt`, `port-in-use`
   * @param message what is wrong and where, then what to do about it; whole sentences, no secrets
   * @param options `cause`: the error underneath, for the log
   */
  constructor(
    readonly code: string,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}

/** A read query exceeded its time limit (`slow`: a narrower query may succeed), or waited that long for earlier queries (`busy`). */
export class QueryTooSlowError extends Error {
  override readonly name = 'QueryTooSlowError';

  constructor(
    readonly reason: 'slow' | 'busy',
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}

/** `gone` and `replaced`: writes would go to a file that was deleted. */
export const STORAGE_PROBLEMS = {
  'database-gone':
    'the database file was deleted or moved; changes are refused. Restore a backup, or restart the daemon',
  'database-replaced':
    'another file has replaced the database file; changes are refused. Restart the daemon to use it',
  'database-corrupt':
    'the database file is damaged. Stop the daemon and restore a backup (pulsegate restore FILE)',
  'database-locked': 'another program has locked the database for longer than database.busyTimeout',
  'database-read-only': 'the database cannot be written: its file or its disk is read-only',
  'database-away': 'the database server cannot be reached or does not answer; the log contains the reason',
  'database-failing': 'the database cannot be read or written; the log contains the reason',
  'disk-full': 'no space left on the disk of the database',
} as const;
export type StorageProblem = keyof typeof STORAGE_PROBLEMS;

/** The result of a failed check; `error` is the error of the database or the system, if any. */
export interface StorageFault {
  readonly problem: StorageProblem;
  readonly error: unknown;
}

/** The fault that an error of the database shows when a check of it has failed. */
export const faultOf = (error: unknown): StorageFault => ({
  problem: storageProblemOf(error) ?? 'database-failing',
  error,
});

/** The property of an error of the database with the problem of the storage that it shows. */
const PROBLEM = Symbol('storage problem');

/** Marks an error of the database with the problem of the storage that it shows; null: its cause is the query or its values. */
export function withStorageProblem<Failure extends Error>(
  error: Failure,
  problem: StorageProblem | null,
): Failure {
  return problem === null ? error : Object.assign(error, { [PROBLEM]: problem });
}

/** Returns the problem of the storage that an error shows; null: the error has another cause. */
export const storageProblemOf = (error: unknown): StorageProblem | null =>
  error instanceof Error && PROBLEM in error ? (error[PROBLEM] as StorageProblem) : null;

/** Marks the error of a COMMIT without an answer: whether the transaction was committed is unknown. */
export const COMMIT_UNKNOWN = Symbol('commit unknown');

/** Whether the transaction that failed with this error may have been committed. */
export const isCommitUnknown = (error: unknown): boolean => error instanceof Error && COMMIT_UNKNOWN in error;

/** Whether this error means that the database does not answer: the query can be retried. */
export const isDatabaseAway = (error: unknown): boolean => storageProblemOf(error) === 'database-away';
