// Tells the caches in this process what other processes (the command line) have changed in the database.
import type { Change, ChangeFeed } from '../core/ports.js';

export interface FollowOptions {
  readonly feed: ChangeFeed;
  /** How often the database is asked, in ms. */
  readonly intervalMs: number;
  /** Takes in one change; a rejection is reported and the change is tried again. */
  readonly apply: (change: Change) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Starts following; the returned function stops and resolves when nothing is under way any more. */
export function followChanges({ feed, intervalMs, apply, onError }: FollowOptions): () => Promise<void> {
  let missed: Change[] = [];
  let underWay: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    try {
      missed.push(...(await feed.next()));
    } catch (error) {
      onError(error);
    }
    const due = missed;
    missed = [];
    for (const change of due) {
      try {
        await apply(change);
      } catch (error) {
        missed.push(change);
        onError(error);
      }
    }
  };

  const timer = setInterval(() => {
    underWay ??= look().finally(() => {
      underWay = null;
    });
  }, intervalMs);

  return async () => {
    clearInterval(timer);
    await underWay;
  };
}
