// How many descriptors a process holds: what a leak would show in.
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resolves once `pid` holds at most `most` descriptors; rejects after `timeoutMs` with how many it holds. */
export async function descriptorsBackTo(pid: number, most: number, timeoutMs = 15_000): Promise<void> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const held = openDescriptors(pid);
    if (held <= most) return;
    if (Date.now() > until) throw new Error(`${held} descriptors are open; ${most} were before`);
    await pause(50);
  }
}

/** Resolves once `check` does not throw; rejects with its last error after `timeoutMs`. For what has no event to wait for. */
export async function eventually<T>(check: () => Promise<T> | T, timeoutMs = 10_000): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await pause(50);
    }
  }
}
