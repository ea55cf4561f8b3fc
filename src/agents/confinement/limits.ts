// The limits of each program of an agent (setrlimit(2)), which a shell sets before it becomes the program.

export interface Limits {
  /** Memory of a process that it can write to and that is its own, in bytes (RLIMIT_DATA). */
  readonly memoryBytes: number;
  /** Processes and threads of the daemon's user, from which on the program starts no more (RLIMIT_NPROC). */
  readonly processes: number;
  /** Processor time of a process, in s (RLIMIT_CPU). */
  readonly cpuSeconds: number;
}

/** dash and busybox call the number of processes -p, bash -u. A limit of the daemon that is lower stays. */
const SCRIPT =
  '{ ulimit -c 0; ulimit -d "$1"; ulimit -t "$2"; ulimit -p "$3" || ulimit -u "$3"; } 2>/dev/null; shift 3; exec "$@"';

/** The command that runs `command` with the limits. */
export function limited(
  command: readonly string[],
  { memoryBytes, processes, cpuSeconds }: Limits,
): readonly string[] {
  const numbers = [Math.floor(memoryBytes / 1024), cpuSeconds, processes].map(String);
  return ['/bin/sh', '-c', SCRIPT, 'sh', ...numbers, ...command];
}
