// Cursors of lists that the database pages through. A cursor is the `place` of a row.

/** Parses a cursor; null: start at the newest row. */
export function placeOf(cursor: string | undefined): number | null | 'malformed' {
  if (cursor === undefined) return null;
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : 'malformed';
}

/** Returns the next cursor. `found` has `limit` + 1 rows when another page follows. */
export function nextPlace(found: readonly { readonly place: number }[], limit: number): string | null {
  const last = found[limit - 1];
  return found.length > limit && last ? String(last.place) : null;
}
