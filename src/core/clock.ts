// The clock is a parameter of all rules, so that tests can control time; and times as programs read them.

/** Returns the current time in milliseconds since the Unix epoch (UTC). */
export type Clock = () => number;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** Parses a time that the schema accepted. It has `Z` or an offset, so it means one moment. */
export const fromIso = (text: string): number => Date.parse(text);
export const fromIsoOrNull = (text: string | null): number | null => (text === null ? null : fromIso(text));

export type Range = 'hour' | 'day' | 'month';

interface RangeShape {
  readonly stepMs: number;
  readonly steps: number;
}

export const RANGES: Readonly<Record<Range, RangeShape>> = {
  hour: { stepMs: MINUTE_MS, steps: 60 },
  day: { stepMs: 10 * MINUTE_MS, steps: 144 },
  month: { stepMs: 6 * HOUR_MS, steps: 120 },
};

/** The start times of the steps of a range, the current step last, in milliseconds since the epoch. */
export function stepsOf(range: Range, now: number): number[] {
  const { stepMs, steps } = RANGES[range];
  const last = Math.floor(now / stepMs) * stepMs;
  return Array.from({ length: steps }, (_, i) => last - (steps - 1 - i) * stepMs);
}
