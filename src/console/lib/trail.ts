// The way through the pages of a list. Cursors only lead forward: the ones passed are kept, for the way back.
import type { Place } from './router.js';

const FIRST = '';
const storedAs = ({ path, query }: Place): string => {
  const rest = new URLSearchParams(query);
  for (const name of ['cursor', 'back', 'new']) rest.delete(name);
  return `pulsegate.trail.${path.join('/')}?${rest}`;
};

/** The cursors of the pages seen of the list that `place` shows, the first page first; kept as long as the tab. */
export function trailOf(place: Place): readonly string[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storedAs(place)) ?? '[]') as string[];
    return kept.length > 0 ? kept : [FIRST];
  } catch {
    return [FIRST];
  }
}

/** Which of them is shown, counted from 0; -1 for one that was reached by a link. */
export function stepOf(place: Place): number {
  return trailOf(place).indexOf(place.query.get('cursor') ?? FIRST);
}

/** Notes what comes after the page that is shown. */
export function noteNext(place: Place, cursor: string): void {
  const step = stepOf(place);
  if (step < 0) return;
  sessionStorage.setItem(storedAs(place), JSON.stringify([...trailOf(place).slice(0, step + 1), cursor]));
}
