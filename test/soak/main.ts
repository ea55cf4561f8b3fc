// `npm run soak -- --minutes 60 --engine node` (or --seconds; auto, native or node): prints a line each minute, and a report at the
// end. Fails when there were errors, when descriptors stay open, or when memory keeps growing.
import { parseArgs } from 'node:util';
import { soak } from './soak.js';

/** A larger growth of memory over the second half is a leak. Short runs vary too much for this check. */
const MAX_MIB_PER_HOUR = 20;
const LONG_ENOUGH_S = 600;
/** Connections of API calls that HTTP keeps open. */
const KEPT_CONNECTIONS = 8;

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
    onError: (line) => console.log(`${new Date().toISOString()} ${line}`),
  });
  console.log(report);
  const leaksMemory = seconds >= LONG_ENOUGH_S && report.memoryMiBPerHour > MAX_MIB_PER_HOUR;
  const leaksDescriptors = report.descriptorsAfter > report.descriptorsBefore + KEPT_CONNECTIONS;
  if (leaksMemory || leaksDescriptors || Object.keys(report.errors).length > 0) process.exitCode = 1;
} finally {
  for (const close of closers.reverse()) await close();
}
