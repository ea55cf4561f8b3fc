// `npm run fleet -- --minutes 10` (or --seconds 90): a fleet under load whose parts are killed, frozen and restarted in turn.
// Prints the numbers of requests that were sent, answered, lost and executed twice. Exits with 1 when a promise was broken.
// `npm run fleet -- --outage-minutes 10`: only the faults of the database, the first of which lasts that long, and half of the players
// keep one session for the whole campaign.
// `npm run fleet -- --measure --nodes 3` instead measures the work of this number of nodes per second; without --nodes, of one, two
// and three nodes.
import { parseArgs } from 'node:util';
import { findProgram } from '../helpers/programs.js';
import { campaign } from './campaign.js';
import { measure } from './measure.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    'outage-minutes': { type: 'string' },
    nodes: { type: 'string' },
    measure: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds ?? 0) + Number(values.minutes ?? (values.seconds ? 0 : 10)) * 60;
const outageMs = values['outage-minutes'] === undefined ? null : Number(values['outage-minutes']) * 60_000;
const nodes = Number(values.nodes ?? 3);
if (!(seconds > 0) || (outageMs !== null && !(outageMs > 0)) || ![1, 2, 3].includes(nodes)) {
  console.error(
    'usage: npm run fleet -- [--minutes N] [--seconds N] | --outage-minutes N | --measure [--nodes 1|2|3]',
  );
  process.exit(2);
}
if (!findProgram('haproxy')) {
  console.log('skipped: haproxy is not installed');
  process.exit(process.env['TEST_REQUIRE_ALL'] === 'true' ? 1 : 0);
}

const closers: (() => unknown)[] = [];
const scope = { after: (close: () => unknown) => void closers.push(close) };
try {
  if (values.measure) {
    const counts = values.nodes ? [nodes] : [1, 2, 3];
    for (const count of counts) console.log(await measure(scope, count));
  } else if (!(await campaign(scope, seconds, outageMs))) process.exitCode = 1;
} finally {
  for (const close of closers.reverse()) await close();
}
