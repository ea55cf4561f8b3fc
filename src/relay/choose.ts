// Which relay engine this machine gets.
import { availableParallelism } from 'node:os';
import type { Log } from '../core/log.js';
import type { RelayEngine } from '../core/relay.js';
import { createSpliceRelay } from './splice/engine.js';
import { type RelayWorker, startRelayWorker } from './splice/relay-worker.js';
import { createStreamRelay } from './stream.js';

export interface ChosenRelay {
  readonly engine: RelayEngine;
  readonly name: 'stream' | 'splice';
  /** Stops the workers. Relays they still have end as failed: end them first. */
  close(): Promise<void>;
}

export interface ChooseOptions {
  readonly log: Log;
  /** Relay threads; by default one for every two cores. */
  readonly workers?: number;
}

/**
 * Builds the engine for the configured `socks.relay`. 'auto' takes the splice engine where it works, and says once
 * in the log why not where it does not; 'splice' throws there.
 */
export async function chooseRelay(
  relay: 'auto' | 'stream' | 'splice',
  { log, workers = Math.max(1, availableParallelism() >> 1) }: ChooseOptions,
): Promise<ChosenRelay> {
  if (relay === 'stream') return streams();
  const started: RelayWorker[] = [];
  try {
    for (let i = 0; i < workers; i += 1) {
      started.push(await startRelayWorker((error) => log.error({ err: error }, 'relay worker failed')));
    }
  } catch (cause) {
    await Promise.all(started.map((worker) => worker.close()));
    if (relay === 'splice') throw new Error('the splice relay does not work here', { cause });
    log.info({ reason: cause instanceof Error ? cause.message : String(cause) }, 'relaying with streams');
    return streams();
  }
  return {
    engine: createSpliceRelay(started),
    name: 'splice',
    async close() {
      await Promise.all(started.map((worker) => worker.close()));
    },
  };
}

function streams(): ChosenRelay {
  return { engine: createStreamRelay(), name: 'stream', close: async () => {} };
}
