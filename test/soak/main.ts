// `npm run soak -- --minutes 60 --engine node` (or --seconds; auto, native or node): reports once a minute, and what it found at the end. Fails when
// anything broke, when descriptors stay open, or when memory goes on growing.
import { parseArgs } from 'node:util';
import { soak } from './soak.js';

/** More than this, measured over the second half, is a leak; short runs are too noisy to tell. */
const MOST_MIB_PER_HOUR = 20;
const LONG_ENOUGH_S = 600;
/** Connections of the API calls that HTTP keeps open for a while. */
const KEPT_ALIVE = 8;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    engine: { type: 'string', default: 'auto' },
    pace: { type: 'string', default: '1' },
  },
});
const seconds = Number(values.seconds ?? 0) + Number(values.minutes ?? (values.seconds ? 0 : 1)) * 60;
if (!(seconds > 0)) {
  console.error(
    'usage: npm run soak -- [--minutes N] [--seconds N] [--engine auto|native|node] [--pace 0.2]',
  );
  process.exit(2);
}

const closers: (() => unknown)[] = [];
try {
  let reportAt = 0;
  const report = await soak({ after: (close) => closers.push(close) }, seconds, {
    engine: values.engine,
    pace: Number(values.pace),
    onSample(line) {
      if (Date.now() < reportAt) return;
      reportAt = Date.now() + Math.min(60_000, seconds * 100);
      console.log(line);
    },
  });
  console.log(report);
  const isLeaking = seconds >= LONG_ENOUGH_S && report.memoryMiBPerHour > MOST_MIB_PER_HOUR;
  const isHolding = report.descriptorsAfter > report.descriptorsBefore + KEPT_ALIVE;
  if (isLeaking || isHolding || Object.keys(report.errors).length > 0) process.exitCode = 1;
} finally {
  for (const close of closers.reverse()) await close();
}
