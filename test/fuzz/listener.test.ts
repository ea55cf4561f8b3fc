// 300 invalid sessions against the running daemon. `npm run fuzz` runs more.
import { describe, it } from 'node:test';
import { startListenerFuzz } from './listener.js';

const CASES = 300;

describe('the listener', () => {
  it('works after recorded sessions with changed bytes, any packets and any end', async (t) => {
    const seed = Date.now() % 2 ** 32;
    t.diagnostic(`seed ${seed}`);
    const fuzz = await startListenerFuzz(t);
    await fuzz.run(CASES, seed);
    await fuzz.check();
  });
});
