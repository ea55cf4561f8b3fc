// The visited pages of a list. A cursor only leads forward, so this module keeps the visited cursors for the way back.
import type { Place } from './router.js';

const FIRST = '';
const storedAs = ({ path, query }: Place): string => {
  const rest = new URLSearchParams(query);
  for (const name of ['cursor', 'back', 'new']) rest.delete(name);
  return `pulsegate.trail.${path.join('/')}?${rest}`;
};

/**
 * Returns the cursors of the visited pages of the list that `place` shows, first page first. The tab's session storage keeps them.
 */
export function trailOf(place: Place): readonly string[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storedAs(place)) ?? '[]') as string[];
    return kept.length > 0 ? kept : [FIRST];
  } catch {
    return [FIRST];
  }
}

/** Returns the index of the shown page in the trail, from 0; -1 for a page opened by a link. */
export function stepOf(place: Place): number {
  return trailOf(place).indexOf(place.query.get('cursor') ?? FIRST);
}

/** Stores the cursor of the page after the shown one. */
export function noteNext(place: Place, cursor: string): void {
  const step = stepOf(place);
  if (step < 0) return;
  sessionStorage.setItem(storedAs(place), JSON.stringify([...trailOf(place).slice(0, step + 1), cursor]));
}
