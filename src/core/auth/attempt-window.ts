// The rule of all attempt limits: a maximum number of failures within a window that starts with the first failure.

/** The state of one source. All zeros: no failures. */
export interface AttemptWindow {
  /** Attempts that count as failures. */
  count: number;
  /** End of the window, in units of the caller's clock. */
  endsAt: number;
}

/**
 * Counts an attempt before it is checked, so that a burst cannot exceed the limit. A refused attempt is not checked and does not
 * count.
 * @param length of the window, in units of the caller's clock, as `now`
 * @returns whether the attempt may be checked
 */
export function countAttempt(window: AttemptWindow, max: number, length: number, now: number): boolean {
  if (window.count === 0 || window.endsAt <= now) {
    window.count = 0;
    window.endsAt = now + length;
  }
  if (window.count >= max) return false;
  window.count += 1;
  return true;
}

/** Uncounts correct attempts. */
export function forgiveAttempts(window: AttemptWindow, attempts = 1): void {
  window.count = Math.max(0, window.count - attempts);
}
