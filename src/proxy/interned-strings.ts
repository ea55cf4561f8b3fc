// Interned strings: thousands of sessions come from few addresses and go to few, and share one string for each.

/** At this number the table is cleared, so that addresses which players choose do not fill the memory. */
const MAX_STRINGS = 10_000;
const strings = new Map<string, string>();

/** Returns a string equal to `text`, the same one for equal texts of this thread while the table has it. */
export function intern(text: string): string {
  const known = strings.get(text);
  if (known !== undefined) return known;
  if (strings.size >= MAX_STRINGS) strings.clear();
  strings.set(text, text);
  return text;
}
