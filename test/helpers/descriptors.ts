// Counts the open file descriptors of a process, to detect leaks.
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { eventually } from './eventually.js';

/** Leaves out event loops and the database: the daemon opens connections to it when it needs them, some with a thread of their own. */
const NOT_COUNTED = /^anon_inode:|\/pulsegate\.db/;

export const openDescriptors = (pid: number): number => targetsOf(pid).length;

function targetsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const targets = readdirSync(folder).map((fd) => targetOf(`${folder}/${fd}`));
  return targets.filter((target) => !NOT_COUNTED.test(target));
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
    const held = targetsOf(pid);
    assert.ok(
      held.length <= most,
      `${held.length} descriptors are open; ${most} were before: ${held.join(', ')}`,
    );
  }, timeoutMs);
}
