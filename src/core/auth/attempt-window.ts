// The rule of every limit of attempts: so many within a window that begins with the first one; then none until it ends.

/** What is remembered of one source. All zeros: nothing. */
export interface AttemptWindow {
  /** Attempts that count as failures. */
  count: number;
  /** When everything is forgiven, by the clock of the caller. */
  endsAt: number;
}

/**
 * Counts an attempt before it is checked, so that no burst gets past the limit. What is refused is not checked, so it is no
 * guess and does not count.
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

/** Takes attempts back that were right. */
export function forgiveAttempts(window: AttemptWindow, attempts = 1): void {
  window.count = Math.max(0, window.count - attempts);
}
