// 300 broken sessions against the running daemon; `npm run fuzz` goes on for as long as it is given.
import { describe, it } from 'node:test';
import { startListenerFuzz } from './listener.js';

const CASES = 300;

describe('the listener', () => {
  it('survives recorded sessions with bytes changed, cut and ended anywhere', async (t) => {
    const seed = Date.now() % 2 ** 32;
    t.diagnostic(`seed ${seed}`);
    const fuzz = await startListenerFuzz(t);
    await fuzz.run(CASES, seed);
    await fuzz.check();
  });
});
