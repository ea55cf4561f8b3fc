// Substring search with LIKE, in the same way on every engine.
import type { Knex } from 'knex';

/** A condition: `column` contains `text`, without regard to case as far as the engine folds it; `%` and `_` stand for themselves. */
export function containing(db: Knex, column: string, text: string): Knex.Raw {
  const literal = text.replace(/[!%_]/g, '!$&');
  return db.raw("lower(??) like lower(?) escape '!'", [column, `%${literal}%`]);
}
