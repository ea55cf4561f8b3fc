// 20,000 inputs for everything that reads what strangers send, at every run from another seed; `npm run fuzz` goes on.
import { describe, it } from 'node:test';
import { fuzzTargets } from './inputs.js';

const CASES = 20_000;

describe('any input', () => {
  for (const target of fuzzTargets) {
    it(target.name, () => target.run(Math.ceil(CASES / fuzzTargets.length)));
  }
});
