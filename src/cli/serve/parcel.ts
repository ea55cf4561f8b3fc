// The parcel of descriptors that the process before has left for this one. It is a file of its own in the built program, which
// bin/start.js loads before everything else, because sessions wait for the thread that it starts.
import type { Worker } from 'node:worker_threads';
import { prepareThread } from '../../proxy/plane/threads.js';
import { storedParcel } from '../../systemd/sockets.js';

/**
 * `PID:FD,FD,…:NICE`: the parcel of the program that this one has replaced, and the nice value that the process was started with. A
 * process with another id inherited the variable by mistake.
 */
export const PARCEL_VARIABLE = 'HANDOVER_FDS';

export interface Parcel {
  /** Empty: there is none. */
  readonly descriptors: readonly number[];
  /** The thread of the first worker, if there is a parcel. */
  readonly thread: Worker | null;
}

export function findParcel(env: NodeJS.ProcessEnv): Parcel {
  const [pid, fds = '', nice] = env[PARCEL_VARIABLE]?.split(':') ?? [];
  delete env[PARCEL_VARIABLE];
  const isOurs = pid === String(process.pid);
  const descriptors = [...(isOurs ? fds.split(',').map(Number) : []), ...storedParcel(env)];
  const thread = descriptors.length > 0 ? prepareThread(isOurs && nice ? Number(nice) : undefined) : null;
  return { descriptors, thread };
}
