// The processes that work in a folder, and ending them: how it is known what something has left behind. Reads /proc; where
// there is none, nothing is found.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** What was killed is in the list for a moment longer. */
const END_TIMEOUT_MS = 15_000;
const POLL_MS = 20;

/** Kills every process that works in `folder` or below it, or has its TMPDIR there; returns them. */
export function killProcessesIn(folder: string): FoundProcess[] {
  const found = processesIn(folder);
  for (const { pid } of found) kill(pid);
  return found;
}

/** Waits until no process works in `folder`; kills those that still do after 15 seconds, and returns them. */
export async function endOfProcessesIn(folder: string): Promise<FoundProcess[]> {
  for (const startedAt = performance.now(); performance.now() - startedAt < END_TIMEOUT_MS; ) {
    if (processesIn(folder).length === 0) return [];
    await pause(POLL_MS);
  }
  return killProcessesIn(folder);
}

function processesIn(folder: string): FoundProcess[] {
  return processIds()
    .filter((pid) => pid !== process.pid && (worksIn(pid, folder) || hasTempFolder(pid, folder)))
    .map((pid) => ({ pid, command: commandOf(pid) }));
}

function processIds(): number[] {
  return look(() => readdirSync('/proc'), [])
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function worksIn(pid: number, folder: string): boolean {
  // A folder that is gone reads as `/tmp/x (deleted)`.
  const at = look(() => readlinkSync(`/proc/${pid}/cwd`), '').replace(/ \(deleted\)$/, '');
  return at === folder || at.startsWith(`${folder}/`);
}

/** A zombie's environment reads as empty: what has ended is not found. */
function hasTempFolder(pid: number, folder: string): boolean {
  return look(() => readFileSync(`/proc/${pid}/environ`, 'latin1'), '')
    .split('\0')
    .some((variable) => `${variable}/`.startsWith(`TMPDIR=${folder}/`));
}

function commandOf(pid: number): string {
  return look(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '')
    .replaceAll('\0', ' ')
    .trim();
}

/** `otherwise` for a process that has ended, or is not ours to see. */
function look<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

function kill(pid: number): void {
  look(() => process.kill(pid, 'SIGKILL'), false);
}
