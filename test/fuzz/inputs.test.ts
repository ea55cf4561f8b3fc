// 20,000 inputs for the parsers of bytes and texts from outside, with a new seed in every run. `npm run fuzz` runs more.
import { describe, it } from 'node:test';
import { fuzzTargets } from './inputs.js';

const CASES = 20_000;

describe('with any input', () => {
  for (const target of fuzzTargets) {
    it(target.name, () => target.run(Math.ceil(CASES / fuzzTargets.length)));
  }
});
