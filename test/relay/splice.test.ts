// The splice engine against the suite every engine passes, handing over at once and as it does in the daemon.
import { createSpliceRelay, HAND_OVER } from '../../src/relay/splice/engine.js';
import { startRelayWorker } from '../../src/relay/splice/relay-worker.js';
import { engineSuite } from './engine-suite.js';

const POLICIES = [
  ['splice engine, handing over at the first chance', { chunks: 0, bytes: 0 }],
  ['splice engine', HAND_OVER],
] as const;

for (const [name, policy] of POLICIES) {
  engineSuite(name, async () => {
    const worker = await startRelayWorker((error) => {
      throw error;
    });
    return { engine: createSpliceRelay([worker], policy), close: () => worker.close() };
  });
}
