// Which errors mean that the PostgreSQL server does not answer, or is ending.
import { AWAY } from '../core/storage.js';

/** `code` of an error of the connection that has none of its own. */
export const NO_CONNECTION = 'PG_NO_CONNECTION';

/** The class of a SQLSTATE: connection exception, operator intervention. */
const AWAY_CLASSES = new Set(['08', '57']);
/** A statement that took too long, or was cancelled. */
const QUERY_CANCELED = '57014';

/** Whether a SQLSTATE, or a code of the system, is about the connection. */
export function isConnection(code: string): boolean {
  if (code === QUERY_CANCELED) return false;
  return code === NO_CONNECTION || /^E[A-Z_]+$/.test(code) || AWAY_CLASSES.has(code.slice(0, 2));
}

/** Gives the error a code, and marks it when the database is away. An error of pg without a code is about the connection. */
export function withCode(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : NO_CONNECTION;
  return Object.assign(error, { code }, isConnection(code) ? { [AWAY]: true } : {});
}
