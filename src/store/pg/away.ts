// Classifies errors of PostgreSQL: those that mean that the server does not answer or is shutting down, and other problems of the server.
import { type StorageProblem, withStorageProblem } from '../../core/storage.js';

/** The `code` of connection errors without an own code. */
export const NO_CONNECTION = 'PG_NO_CONNECTION';
/** The `code` of the error that the server wants a password and none is set. */
export const NO_PASSWORD = 'PG_NO_PASSWORD';

/** SQLSTATE classes: connection exception, operator intervention. */
const AWAY_CLASSES = new Set(['08', '57']);
/** SQLSTATE of a statement that was cancelled or exceeded its time limit. */
export const QUERY_CANCELED = '57014';

/** Whether a SQLSTATE or a system error code is a failure of the connection. */
export function isConnection(code: string): boolean {
  if (code === QUERY_CANCELED) return false;
  return code === NO_CONNECTION || /^E[A-Z_]+$/.test(code) || AWAY_CLASSES.has(code.slice(0, 2));
}

/** Adds a missing code to the error, and marks it with the problem of the server. */
export function withCode(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : codeOfPg(error);
  return withStorageProblem(Object.assign(error, { code }), problemOf(code));
}

/** The problem of the server that a code shows; null: the error has another cause. */
function problemOf(code: string): StorageProblem | null {
  if (isConnection(code)) return 'database-away';
  if (code === '53100') return 'disk-full';
  if (code === '25006') return 'database-read-only';
  return /^(53|58|XX)/.test(code) ? 'database-failing' : null;
}

/** Returns the code of an error of pg without one: a missing password, which only the text shows, or a connection error. */
function codeOfPg({ message }: Error): string {
  return /^SASL: .*client password must be/.test(message) ? NO_PASSWORD : NO_CONNECTION;
}
