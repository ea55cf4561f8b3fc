// Searching the log of logins by its index of trigrams (migration 0008).
import type { Knex } from 'knex';

/** The index knows pieces of three characters; shorter texts are looked for in every row. */
const MIN_CHARACTERS = 3;

/** Whether the index can tell where `text` is. */
export function isIndexed(text: string): boolean {
  return [...text].length >= MIN_CHARACTERS && !text.includes('\0');
}

/** The index with the rows that have `text` in user name or address, without regard to case. Its `rowid` is the `id` of a login. */
export function indexedLogins(db: Knex, text: string): Knex.QueryBuilder {
  // A string of FTS5's query language: quotes in it are doubled, nothing else means anything.
  return db('logins_text').whereRaw('logins_text match ?', [`"${text.replaceAll('"', '""')}"`]);
}
