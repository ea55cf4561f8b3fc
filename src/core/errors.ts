// Errors that are chosen by: what stops the daemon or a command from starting, written to be read by a person, and queries
// that take too long.

/** A start that cannot go on. Its message says what is wrong, where, and what to do; callers choose by `code`. */
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

/** A query that only reads took longer than it may: other readers wait. Asking for less may work. */
export class QueryTooSlowError extends Error {
  override readonly name = 'QueryTooSlowError';
}
