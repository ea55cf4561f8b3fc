// CPU time and memory of a server: its process with all children and threads, from /proc.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Seconds of user and system time that `pid` and its descendants have used, including those that have ended. */
export function cpuSeconds(pid: number): number {
  return sum(pid, (id) => {
    const fields = statFields(id);
    const [user, system, userOfEnded, systemOfEnded] = fields.slice(11, 15).map(Number);
    return ((user ?? 0) + (system ?? 0) + (userOfEnded ?? 0) + (systemOfEnded ?? 0)) / TICKS_PER_SECOND;
  });
}

/**
 * Bytes of memory of `pid` and its descendants; shared pages count in proportion.
 * @param kind all of it, or what belongs to no file
 */
export function memoryBytes(pid: number, kind: 'Pss' | 'Pss_Anon' = 'Pss'): number {
  return sum(pid, (id) => {
    const line = new RegExp(`^${kind}:\\s+(\\d+) kB`, 'm').exec(
      readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'),
    );
    return Number(line?.[1] ?? 0) * 1024;
  });
}

function sum(pid: number, read: (pid: number) => number): number {
  return family(pid).reduce((total, id) => total + (orNull(() => read(id)) ?? 0), 0);
}

function family(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const id = Number(name);
    const parent = id > 0 ? orNull(() => Number(statFields(id)[1])) : null;
    if (parent !== null) parents.set(id, parent);
  }
  const members = [pid];
  for (const member of members) {
    for (const [id, parent] of parents) if (parent === member) members.push(id);
  }
  return members;
}

/** The fields of /proc/pid/stat after the command, which may contain spaces: state, parent, … */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Returns null for a process that has ended. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
