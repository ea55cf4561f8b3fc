// Whether what a client wants to change is still what it has seen (RFC 9110 §8.8.3, §13.1.1).
import { hash } from 'node:crypto';

/** The strong entity tag of a value that JSON can hold. */
export function etagOf(value: unknown): string {
  return `"${hash('sha256', JSON.stringify(value), 'hex').slice(0, 32)}"`;
}

/** Whether `If-Match` names `etag`; a request without it always goes on. A weak tag names none, a list each of its own. */
export function matches(ifMatch: string | null, etag: string): boolean {
  if (ifMatch === null || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((each) => each.trim() === etag);
}
