// `npm run fuzz -- --minutes 10` (or --seconds, or --seed N to repeat a run): inputs in this process and invalid sessions
// against a running daemon, in turn, until the time is over. Stops at the first failure, and prints its seed.
import { parseArgs } from 'node:util';
import { fuzzTargets } from './inputs.js';
import { startListenerFuzz } from './listener.js';

const CASES_PER_TARGET = 20_000;
const SESSIONS_PER_ROUND = 1_000;

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seconds: { type: 'string' }, seed: { type: 'string' } },
});
const seconds = Number(values.seconds ?? 0) + Number(values.minutes ?? (values.seconds ? 0 : 1)) * 60;
const firstSeed = Number(values.seed ?? Date.now() % 2 ** 31);
if (!(seconds > 0) || !Number.isInteger(firstSeed)) {
  console.error('usage: npm run fuzz -- [--minutes N] [--seconds N] [--seed N]');
  process.exit(2);
}

const closers: (() => unknown)[] = [];
try {
  const listener = await startListenerFuzz({ after: (close) => closers.push(close) });
  const until = Date.now() + seconds * 1000;
  let [inputs, sessions] = [0, 0];
  for (let seed = firstSeed; Date.now() < until; seed += 1) {
    console.log(`seed ${seed}: ${inputs} inputs and ${sessions} sessions so far`);
    for (const target of fuzzTargets) {
      target.run(CASES_PER_TARGET, seed);
      inputs += CASES_PER_TARGET;
    }
    await listener.run(SESSIONS_PER_ROUND, seed);
    await listener.check();
    sessions += SESSIONS_PER_ROUND;
  }
  console.log(`no failure in ${inputs} inputs and ${sessions} sessions`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const close of closers.reverse()) await close();
}
