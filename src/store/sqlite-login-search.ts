// Searches the login log with its trigram index (migration 0008).
import type { LoginSearch } from './logins.js';

/** The index knows pieces of three characters; shorter texts are looked for in every row. */
const MIN_CHARACTERS = 3;

export const sqliteLoginSearch: LoginSearch = {
  covers: (text) => [...text].length >= MIN_CHARACTERS && !text.includes('\0'),
  // A string of FTS5's query language: quotes in it are doubled, nothing else means anything.
  rows: (db, text) => db('logins_text').whereRaw('logins_text match ?', [`"${text.replaceAll('"', '""')}"`]),
  id: 'logins_text.rowid',
};
