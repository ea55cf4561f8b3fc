// Chooses the engine of the data plane, and the number of its workers.
import { availableParallelism } from 'node:os';
import type { Config } from '../../config.js';
import { StartError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { type Libc, loadLibc } from '../../proxy/io/native/libc.js';
import { MAX_WORKERS } from '../../proxy/memory/shared.js';

/** The engine to use on this machine. `reason`: why the native engine is not available; null: the configuration chose node. */
export function engineHere(
  engine: Config['socks']['engine'],
):
  | { readonly name: 'native'; readonly libc: Libc }
  | { readonly name: 'node'; readonly cause: unknown; readonly reason: string | null } {
  if (engine === 'node') return { name: 'node', cause: null, reason: null };
  try {
    return { name: 'native', libc: loadLibc() };
  } catch (cause) {
    // Node adds a list of files to the message of a missing module.
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    return { name: 'node', cause, reason };
  }
}

/** Returns null for the node engine. Throws StartError (`no-native-engine`) when `engine` is native and it is not available. */
export function chooseEngine(engine: Config['socks']['engine'], log: Log): Libc | null {
  const here = engineHere(engine);
  if (here.name === 'native') return here.libc;
  const { cause, reason } = here;
  if (reason === null) return null;
  if (engine === 'native') {
    const todo =
      'Set socks.engine to auto or node, or install the optional package koffi (Linux on x64 or arm64).';
    throw new StartError(
      'no-native-engine',
      `socks.engine: the native engine is not available (${reason}). ${todo}`,
      { cause },
    );
  }
  log.info({ reason }, 'native engine not available; using node engine');
  return null;
}

/** The node engine needs libc too, to duplicate the file descriptors from systemd. */
export function anyLibc(): Libc | null {
  const here = engineHere('auto');
  return here.name === 'native' ? here.libc : null;
}

/** One worker for up to four cores, then one for every two cores, at most 16. */
export function workerCount(workers: Config['socks']['workers']): number {
  if (workers !== 'auto') return workers;
  const cores = availableParallelism();
  return cores <= 4 ? 1 : Math.min(MAX_WORKERS, Math.floor(cores / 2));
}
