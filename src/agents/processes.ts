// Processes of agents: sends signals to process groups, and finds processes that survived a crash of the daemon.
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { RUN_ID_VARIABLE } from '../core/agents/run-store.js';
import { succeeds, tryOr } from '../core/errors.js';

const MAX_ROUNDS = 100;

/** Signals every process of a group. Returns false when the group has no process. */
export const signalGroup = (groupId: number, signal: NodeJS.Signals): boolean =>
  succeeds(() => process.kill(-groupId, signal));

/**
 * Kills every process with one of these run ids in its environment, in any process group. Finds none without /proc. Returns the
 * number of killed processes.
 */
export function killRunProcesses(runIds: ReadonlySet<string>): number {
  const killed = new Set<number>();
  if (runIds.size === 0) return 0;
  // A process may start another one during the scan: repeat until none is found, at most MAX_ROUNDS times.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = processIds().filter(
      (pid) => pid !== process.pid && !killed.has(pid) && runIds.has(runIdOf(pid) ?? ''),
    );
    if (found.length === 0) break;
    for (const pid of found) {
      // It fails for a process that has ended by itself.
      succeeds(() => process.kill(pid, 'SIGKILL'));
      killed.add(pid);
    }
  }
  return killed.size;
}

const processIds = (): number[] =>
  tryOr([], () => readdirSync('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** The run id in the initial environment of a process; null when there is none or it cannot be read. */
function runIdOf(pid: number): string | null {
  const variables = tryOr('', () => readFileSync(`/proc/${pid}/environ`, 'latin1')).split('\0');
  const mark = variables.find((variable) => variable.startsWith(`${RUN_ID_VARIABLE}=`));
  // A zombie's environment is empty, so a killed process is not found again.
  return mark?.slice(RUN_ID_VARIABLE.length + 1) ?? null;
}

/** Identifies this machine and its boot: a process id has a meaning only within one boot. */
export const thisHost = (): string =>
  `${hostname()} ${readText('/proc/sys/kernel/random/boot_id')}`.trim().slice(0, 255);

/** Returns the start time of a process, in the kernel's clock ticks; empty when there is no such process, or no /proc. */
export function processStart(pid: number): string {
  // proc(5): field 22. Fields are counted after the name, which may contain spaces and parentheses.
  const fields = readText(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  const state = fields[0];
  return state === undefined || state === 'Z' || state === 'X' ? '' : (fields[19] ?? '');
}

/** Returns whether the process that started at `start` still runs. */
export const isAlive = (pid: number, start: string): boolean =>
  start === '' ? succeeds(() => process.kill(pid, 0)) : processStart(pid) === start;

const readText = (path: string): string => tryOr('', () => readFileSync(path, 'utf8')).trim();
