// Which relay engines this machine gets, for TCP and for UDP.
import { availableParallelism } from 'node:os';
import type { Log } from '../core/log.js';
import type { DatagramEngine } from '../core/sessions/datagram-relay.js';
import type { RelayEngine } from '../core/sessions/relay.js';
import { createDatagramRelay } from './datagram.js';
import { createSpliceDatagrams } from './splice/datagram-engine.js';
import { createSpliceRelay } from './splice/engine.js';
import { type RelayWorker, startRelayWorker } from './splice/relay-worker.js';
import { createStreamRelay } from './stream.js';

export interface ChosenRelay {
  readonly engine: RelayEngine;
  readonly datagrams: DatagramEngine;
  readonly name: 'stream' | 'splice';
  /** Stops the workers. Relays they still have end as failed: end them first. */
  close(): Promise<void>;
}

export interface ChooseOptions {
  readonly log: Log;
  /** A number from 0 up to 1, for choosing UDP ports. */
  readonly random: () => number;
  /** Relay threads; by default one for every two cores. */
  readonly workers?: number;
}

/**
 * Builds the engines for the configured `socks.relay`. 'auto' takes the native ones where they work, and says once
 * in the log why not where they do not; 'splice' throws there.
 */
export async function chooseRelay(
  relay: 'auto' | 'stream' | 'splice',
  { log, random, workers = Math.max(1, availableParallelism() >> 1) }: ChooseOptions,
): Promise<ChosenRelay> {
  if (relay === 'stream') return portable(random);
  const started: RelayWorker[] = [];
  try {
    for (let i = 0; i < workers; i += 1) {
      started.push(await startRelayWorker((error) => log.error({ err: error }, 'relay worker failed')));
    }
  } catch (cause) {
    await Promise.all(started.map((worker) => worker.close()));
    if (relay === 'splice') throw new Error('the splice relay does not work here', { cause });
    log.info({ reason: cause instanceof Error ? cause.message : String(cause) }, 'relaying with streams');
    return portable(random);
  }
  return {
    engine: createSpliceRelay(started),
    datagrams: createSpliceDatagrams(started, random),
    name: 'splice',
    async close() {
      await Promise.all(started.map((worker) => worker.close()));
    },
  };
}

function portable(random: () => number): ChosenRelay {
  return {
    engine: createStreamRelay(),
    datagrams: createDatagramRelay(random),
    name: 'stream',
    close: async () => {},
  };
}
