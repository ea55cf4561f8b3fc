// Finds and kills the processes that work in a folder, to detect processes that a test left running. Reads /proc; without /proc it
// finds none.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** Killed processes stay in the list for a moment. */
const END_TIMEOUT_MS = 15_000;
const POLL_MS = 20;

/** Kills every process that works in `folder` or below it, or whose TMPDIR is there. Returns the killed processes. */
export function killProcessesIn(folder: string): FoundProcess[] {
  const found = processesIn(folder);
  for (const { pid } of found) kill(pid);
  return found;
}

/** Waits until no process works in `folder`. Kills the remaining ones after 15 seconds, and returns them. */
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
  return tryRead(() => readdirSync('/proc'), [])
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function worksIn(pid: number, folder: string): boolean {
  // A removed folder appears as `/tmp/x (deleted)`.
  const at = tryRead(() => readlinkSync(`/proc/${pid}/cwd`), '').replace(/ \(deleted\)$/, '');
  return at === folder || at.startsWith(`${folder}/`);
}

/** A zombie's environment is empty, so a process that has ended is not found. */
function hasTempFolder(pid: number, folder: string): boolean {
  return tryRead(() => readFileSync(`/proc/${pid}/environ`, 'latin1'), '')
    .split('\0')
    .some((variable) => `${variable}/`.startsWith(`TMPDIR=${folder}/`));
}

function commandOf(pid: number): string {
  return tryRead(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '')
    .replaceAll('\0', ' ')
    .trim();
}

/** Returns `otherwise` for a process that has ended, or that this user may not read. */
function tryRead<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Sends a signal. Does nothing when the process has ended. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  tryRead(() => process.kill(pid, signal), false);
}
