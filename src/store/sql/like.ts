// Substring search with LIKE, in the same way on every engine.
import type { Knex } from 'knex';

/** The condition that `column`, which may be an expression, contains `text`. Ignores case as far as the engine's `lower` does; `%` and `_` are literal. */
export function containing(db: Knex, column: string | Knex.Raw, text: string): Knex.Raw {
  const literal = text.replace(/[!%_]/g, '!$&');
  return db.raw("lower(??) like lower(?) escape '!'", [column, `%${literal}%`]);
}
