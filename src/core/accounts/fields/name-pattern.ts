// Name patterns: `player{001-120}` means player001 to player120.

const RANGE = /^([^{}]*)\{(\d{1,9})-(\d{1,9})\}([^{}]*)$/;

/** The names of a pattern in order; null for an invalid pattern, no names, or more than `max` names. */
export function namesOfPattern(pattern: string, max: number): string[] | null {
  const [, before = '', first = '', last = '', after = ''] = RANGE.exec(pattern) ?? [];
  if (first === '') return null;
  const count = Number(last) - Number(first) + 1;
  if (count < 1 || count > max) return null;
  const width = first.startsWith('0') ? first.length : 1;
  return Array.from(
    { length: count },
    (_, i) => `${before}${String(Number(first) + i).padStart(width, '0')}${after}`,
  );
}
