// Counts the open file descriptors of a process, to detect leaks.
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { eventually } from './eventually.js';

/** Leaves out event loops and the database: the daemon opens connections to it when it needs them, some with a thread of their own. */
const NOT_COUNTED = /^anon_inode:|\/pulsegate\.db/;

export function openDescriptors(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((fd) => !NOT_COUNTED.test(targetOf(`${folder}/${fd}`))).length;
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    // Closed meanwhile.
    return 'anon_inode:';
  }
}

/** Resolves when `pid` holds at most `most` descriptors. Rejects after `timeoutMs` with the number that it holds. */
export async function descriptorsBackTo(pid: number, most: number, timeoutMs?: number): Promise<void> {
  await eventually(() => {
    const held = openDescriptors(pid);
    assert.ok(held <= most, `${held} descriptors are open; ${most} were before`);
  }, timeoutMs);
}
