// Entity tags: whether the object that a client wants to change is still the version that the client read (RFC 9110 §8.8.3,
// §13.1.1).
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ProblemAnswer } from './problem.js';

/** Returns the strong entity tag of a JSON value. */
export function etagOf(value: unknown): string {
  return `"${hash('sha256', JSON.stringify(value), 'hex').slice(0, 32)}"`;
}

/** The value of `If-Match`; null: the request changes whatever version there is. */
export function ifMatchOf({ headers }: IncomingMessage): string | null {
  return headers['if-match'] ?? null;
}

/**
 * Returns whether `If-Match` names `etag`. A request without the header always matches. A weak tag never matches; in a list, any
 * tag may match.
 */
export function matches(ifMatch: string | null, etag: string): boolean {
  if (ifMatch === null || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((each) => each.trim() === etag);
}

/** Returns the problem of a change whose `If-Match` does not name `etag`; null: it does. */
export function versionProblem(ifMatch: string | null, etag: string): ProblemAnswer | null {
  return matches(ifMatch, etag) ? null : { problem: 'changed-meanwhile' };
}
