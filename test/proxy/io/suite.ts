// What every driver of Io must do. The driver runs in its own thread; clients and destinations run in the test's thread.
import { after, before, describe } from 'node:test';
import { eventually } from '../../helpers/eventually.js';
import { scaled } from '../../helpers/scale.js';
import { datagramSuite } from './datagram-suite.js';
import { Driver, type Engine } from './driver.js';
import { openDescriptors, settled } from './helpers.js';
import { relaySuite } from './relay-suite.js';
import { streamSuite } from './stream-suite.js';

/** Descriptors that stay open: pipes that the native engine keeps for later flows, and one of each Node event loop that listens. */
const KEPT: Record<Engine, number> = { native: 130, node: 2 };

export function ioSuite(engine: Engine): void {
  for (const [name, suite] of [
    ['streams', streamSuite],
    ['relays', relaySuite],
    ['datagrams', datagramSuite],
  ] as const) {
    describe(`${name} of the ${engine} driver`, { timeout: scaled(120_000) }, () => {
      let driver: Driver;
      let descriptors = 0;
      before(async () => {
        driver = await Driver.start(engine);
        descriptors = await settled(openDescriptors);
      });
      suite(() => driver);
      // Runs after what the suite itself closes.
      after(async () => {
        await eventually(() => openDescriptors() <= descriptors + KEPT[engine]);
        await driver.close();
      });
    });
  }
}
