// The time ranges of charts and their steps.
import { HOUR_MS, MINUTE_MS } from './clock.js';

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
