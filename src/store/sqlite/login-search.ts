// Searches the login log with its trigram index (migration 0008).
import type { LoginSearch } from '../tables/logins.js';

/** The index contains trigrams. A search for a shorter text reads every row. */
const MIN_CHARACTERS = 3;

export const sqliteLoginSearch: LoginSearch = {
  covers: (text) => [...text].length >= MIN_CHARACTERS && !text.includes('\0'),
  // A string of FTS5's query language, in which only quotes are special: they are doubled.
  rows: (db, text) => db('logins_text').whereRaw('logins_text match ?', [`"${text.replaceAll('"', '""')}"`]),
  id: 'logins_text.rowid',
};
