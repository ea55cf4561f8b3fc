// Both datagram engines against the suite every one of them passes.
import { createDatagramRelay } from '../../src/relay/datagram.js';
import { createSpliceDatagrams, LEND_AFTER } from '../../src/relay/splice/datagram-engine.js';
import { startRelayWorker } from '../../src/relay/splice/relay-worker.js';
import { datagramSuite } from './datagram-suite.js';

datagramSuite('dgram engine', async () => ({
  engine: createDatagramRelay(Math.random),
  close: async () => {},
}));

for (const [name, lendAfter] of [
  ['splice datagrams, lent at the first chance', 1],
  ['splice datagrams', LEND_AFTER],
] as const) {
  datagramSuite(name, async () => {
    const worker = await startRelayWorker((error) => {
      throw error;
    });
    return {
      engine: createSpliceDatagrams([worker], Math.random, lendAfter),
      close: () => worker.close(),
    };
  });
}
