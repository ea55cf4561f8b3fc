// Cursors of lists that the database pages through by a row's place.

/** null: from the newest on. */
export function placeOf(cursor: string | undefined): number | null | 'malformed' {
  if (cursor === undefined) return null;
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : 'malformed';
}

/** `found` holds one more than `limit` when another page follows. */
export function nextPlace(found: readonly { readonly place: number }[], limit: number): string | null {
  const last = found[limit - 1];
  return found.length > limit && last ? String(last.place) : null;
}
