// On Linux the threads that serve players have names, for `top -H`, and come before all other threads of the process when the
// processors are busy: an export, a search or an import then waits for players, and not they for it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { succeeds, tryOr } from '../core/errors.js';

const IS_LINUX = process.platform === 'linux';
const PREFIX = 'players:';
/** The largest nice value, setpriority(2). */
const MAX_NICE = 19;
/** Under this key a thread finds the nice value that the process was started with. */
const INITIAL_NICE = 'pulsegate.initial-nice';

/** Undefined: `preparePriorities` has not been called. */
export const initialNice = (): number | undefined =>
  getEnvironmentData(INITIAL_NICE) as unknown as number | undefined;

/**
 * For the main thread, before it starts the threads that serve players, if it will call `yieldToPlayers`. Otherwise these threads
 * get no names: a thread that has a name costs the kernel much at the end of the process, because its entry in /proc is removed by
 * the thread and by the parent process at the same time.
 * @param nice the value that the process was started with, if this program has replaced another one
 */
export function preparePriorities(nice = initialNice() ?? getPriority()): void {
  // A nice value belongs to a thread on Linux (setpriority(2)), and a new thread has that of the thread which starts it.
  setEnvironmentData(INITIAL_NICE, nice);
  tryToHave(nice);
}

/** Takes back the priority that this thread has given up. Returns false without CAP_SYS_NICE or RLIMIT_NICE. */
const tryToHave = (nice: number): boolean =>
  succeeds(() => {
    if (nice !== getPriority()) setPriority(nice);
  });

/**
 * For a thread that serves players, before anything else. A thread that is started later than `yieldToPlayers` also takes back the
 * priority that the main thread has given up; without CAP_SYS_NICE or RLIMIT_NICE it cannot.
 * @param name of at most 7 characters: Linux keeps 15 bytes (pthread_setname_np(3))
 * @returns false when it could not
 */
export function prioritizeThread(name: string): boolean {
  const nice = initialNice();
  if (!IS_LINUX || nice === undefined) return true;
  // Without /proc the main thread gives up nothing.
  succeeds(() => writeFileSync('/proc/thread-self/comm', PREFIX + name));
  return tryToHave(nice);
}

/**
 * Adds `nice` to the nice value of every thread that does not serve players, those of libuv's pool, in which the database works,
 * included. Threads and programs that these start later have it too.
 * @returns false when the system does not allow it
 */
export function yieldToPlayers(nice: number): boolean {
  if (!IS_LINUX || nice === 0) return true;
  const value = Math.min(MAX_NICE, (initialNice() ?? getPriority()) + nice);
  return succeeds(() => {
    for (const tid of readdirSync('/proc/self/task')) {
      if (!isOfPlayers(tid)) setPriority(Number(tid), value);
    }
  });
}

/** A thread that has ended meanwhile serves nobody, and needs no other priority. */
const isOfPlayers = (tid: string): boolean =>
  tryOr(true, () => readFileSync(`/proc/self/task/${tid}/comm`, 'utf8').startsWith(PREFIX));
