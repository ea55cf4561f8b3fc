// The process after this one: checks that it can start, and gives it what this one hands over, by execve in place or through the
// descriptor store of systemd. Loaded at the start: after an upgrade the files of this program are gone.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { tryOr } from '../../core/errors.js';
import type { Leaving } from '../../daemon.js';
import type { RestartControl } from '../../http/plain-routes.js';
import { type Carried, pack, unpack } from '../../proxy/io/native/carrier.js';
import type { Libc } from '../../proxy/io/native/libc.js';
import { initialNice } from '../../proxy/thread-priority.js';
import { PARCEL_VARIABLE } from './parcel.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The options of the program before are those of the one after. */
const OWN_COMMAND = (): string[] => [...process.execArgv, ...process.argv.slice(1)];
/** Also a large database is checked in this time, in ms. */
const CHECK_MS = 60_000;
const MAX_REPORT_BYTES = 64 * 1024;
/** Time limit for systemd's answer, in ms. Without one, a signal means stop. */
const JOB_MS = 2_000;
const JOB_QUESTIONS = 10;
const JOB_PAUSE_MS = 50;

/** Takes what the process before has handed over; null: nothing, or nothing usable, for the reason in `problem`. */
export function takeHandover(
  parcel: readonly number[],
  libc: Libc | null,
): { readonly handed: Carried | null; readonly problem?: { reason: string; descriptors: number } } {
  if (parcel.length === 0 || libc === null) return { handed: null };
  const taken = unpack(libc, parcel);
  if (taken.problem === undefined) return { handed: taken };
  return { handed: null, problem: { reason: taken.problem, descriptors: taken.count } };
}

export interface Restarts extends RestartControl {
  /** Resolves when a command has asked for a restart. Call it when the daemon is ready. */
  requested(): Promise<'restart'>;
  /** Tells the command that it has failed; the daemon continues. */
  failed(problem: string): void;
}

/** @param isPossible whether this process can hand over */
export function createRestarts(isPossible: boolean): Restarts {
  const instance = randomUUID();
  let problem: string | null = null;
  let isReady = false;
  let begin = (): void => {};
  return {
    state: () => ({ instance: isReady ? instance : null, problem }),
    check: async () =>
      isPossible
        ? programProblem()
        : 'koffi is not available: use systemctl restart, or stop and start the daemon',
    begin: () => begin(),
    failed(why) {
      problem = why;
    },
    requested: () =>
      new Promise((resolve) => {
        isReady = true;
        begin = () => resolve('restart');
      }),
  };
}

/** Lets the program on disk check what it would start with. Resolves with what it prints when it cannot; null: it can. */
function programProblem(): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { timeout: CHECK_MS, maxBuffer: MAX_REPORT_BYTES, killSignal: 'SIGKILL' as const };
    execFile(process.execPath, [...OWN_COMMAND(), '--check'], options, (error, stdout, stderr) => {
      if (error === null) return resolve(null);
      const { code, signal, message } = error;
      const end = signal ? `ended by ${signal}` : typeof code === 'number' ? `exit code ${code}` : message;
      resolve(`${stderr.trim() || stdout.trim()}\n(${end})`.trim());
    });
  });
}

/** Packs what the successor takes, while the daemon writes what else it has. @throws as `pack`, when everything is written */
export async function packWhileStopping(libc: Libc, { carried, stopped }: Leaving): Promise<number[]> {
  const parcel = carried.then(async (each) => {
    await turn();
    return pack(libc, each);
  });
  await Promise.allSettled([parcel, stopped]);
  return parcel;
}

/** Replaces the program of this process, unless a signal has `stopped` it. Returns only when that failed: with the reason. */
export function execute(
  libc: Libc,
  parcel: readonly number[],
  env: Environment,
  stopped: NodeJS.Signals | null,
): string {
  try {
    if (stopped !== null) return `stopped by ${stopped}`;
    // Node has marked the standard streams close-on-exec.
    for (const fd of [0, 1, 2, ...parcel]) libc.keepOnExec(fd);
    const own = [process.pid, parcel.join(','), initialNice()].join(':');
    const passed = { ...env, LISTEN_FDS: undefined, [PARCEL_VARIABLE]: own };
    const variables = Object.entries(passed).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    );
    libc.execute(process.execPath, [process.execPath, ...OWN_COMMAND()], variables);
    return `execve: errno ${libc.errno()}`;
  } catch (error) {
    return String(error);
  } finally {
    for (const fd of parcel) libc.close(fd);
  }
}

/**
 * Whether systemd stops this service in order to start it again. `systemctl stop` and `restart` send the same signal: the job tells
 * them apart. False where that cannot be known. A question that finds no job is asked again: systemd may be busy.
 */
export async function isRestarting(env: Environment): Promise<boolean> {
  const unit = env['NOTIFY_SOCKET'] === undefined ? null : ownUnit();
  if (unit === null) return false;
  for (let asked = 0; asked < JOB_QUESTIONS; asked += 1) {
    const type = await jobOf(unit);
    if (type !== null) return type === 'restart' || type === 'try-restart';
    await pause(JOB_PAUSE_MS);
  }
  return false;
}

/** The type of the job of a unit: `stop`, `restart`; null: none is found. */
function jobOf(unit: string): Promise<string | null> {
  return new Promise((resolve) => {
    const words = ['list-jobs', '--plain', '--no-legend', '--no-pager', '--full'];
    execFile('systemctl', words, { timeout: JOB_MS }, (_error, stdout) => {
      // `123 pulsegate.service restart running`
      const jobs = stdout.split('\n').map((line) => line.trim().split(/\s+/));
      resolve(jobs.find(([, name]) => name === unit)?.[2] ?? null);
    });
  });
}

/** The name of the service whose control group this process is in. */
function ownUnit(): string | null {
  const groups = tryOr('', () => readFileSync('/proc/self/cgroup', 'utf8'))
    .trim()
    .split('/');
  return groups.findLast((name) => name.endsWith('.service')) ?? null;
}
