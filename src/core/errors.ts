// Errors with codes: failures to start the daemon or a command, and queries that exceed their time limit.

/** The `code` of an error of the system, Node.js, SQLite or PostgreSQL; undefined when it has none. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

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
