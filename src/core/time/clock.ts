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

type WithTimes<Item, Name extends keyof Item> = Omit<Item, Name> & {
  readonly [K in Name]: null extends Item[K] ? string | null : string;
};

/** Returns `item` with the named times, in ms since the epoch or null, as programs read them. */
export function withTimes<Item extends object, const Name extends keyof Item>(
  item: Item,
  ...names: readonly Name[]
): WithTimes<Item, Name> {
  const shown: { [K in keyof Item]: unknown } = { ...item };
  for (const name of names) shown[name] = isoOrNull(item[name] as number | null);
  return shown as WithTimes<Item, Name>;
}

/** Returns a filter with its times in ms since the epoch. */
export function withMs<
  Filter extends { readonly from?: string | undefined; readonly to?: string | undefined },
>({ from, to, ...filter }: Filter) {
  const msOf = (text: string | undefined) => (text === undefined ? undefined : fromIso(text));
  return { ...filter, from: msOf(from), to: msOf(to) };
}

export type Range = 'hour' | 'day' | 'month';

export const RANGES: Readonly<Record<Range, { readonly stepMs: number; readonly steps: number }>> = {
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

/** In ms since the epoch: `from` is inside the range, `to` is not. */
export interface TimeRange {
  readonly from?: number;
  readonly to?: number;
}
