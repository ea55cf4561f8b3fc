// One string for equal ones: thousands of sessions come from few addresses and go to few, and each would keep texts of its own.

/** Then it begins anew, so that strangers' addresses do not fill the memory. */
const MOST = 10_000;
const known = new Map<string, string>();

/** A string equal to `text`: the one that was asked for first, if it is still known to this thread. */
export function sharedString(text: string): string {
  const shared = known.get(text);
  if (shared !== undefined) return shared;
  if (known.size >= MOST) known.clear();
  known.set(text, text);
  return text;
}
