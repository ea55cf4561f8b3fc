// Counts the open file descriptors of a process, to detect leaks.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { eventually } from './eventually.js';

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resolves when `pid` holds at most `most` descriptors. Rejects after `timeoutMs` with the number that it holds. */
export async function descriptorsBackTo(pid: number, most: number, timeoutMs?: number): Promise<void> {
  await eventually(() => {
    const held = openDescriptors(pid);
    assert.ok(held <= most, `${held} descriptors are open; ${most} were before`);
  }, timeoutMs);
}
