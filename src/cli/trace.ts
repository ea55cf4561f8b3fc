// `pulsegate trace`: who used a destination at a time, in the answer to an abuse report.
import { formatHostPort } from '../core/ip.js';
import { type Answer, worded } from './shared/api.js';
import { apiCommand, printList } from './shared/api-command.js';
import { type AddCommands, printJson, printLine } from './shared/command.js';
import { parseLimit } from './shared/options.js';
import { formatBytes, formatIso } from './shared/table.js';

type Trace = Answer<'GET /trace'>;

interface TraceOptions {
  at: string;
  tolerance?: string;
  port?: string;
  outgoing?: string;
  outgoingPort?: string;
  limit: number;
  json?: true;
}

const INCOMPLETE: Readonly<Record<Trace['incomplete'][number]['reason'], string>> = {
  'not-recorded': 'sessions are not recorded now (trace.retention.days)',
  'before-records': 'the range begins before the oldest record',
  'records-dropped': 'records were dropped, because the database did not take them',
  'destinations-beyond-limit': 'associations had more destinations than are recorded',
  'addresses-unknown': 'sessions went to names that only an upstream proxy has resolved',
};

const PORT = 'Use a port from 1 to 65535.';
const WRONG = {
  'query.destination': 'Give an address, a network or a name as the destination, or --outgoing-port.',
  'query.at': 'Use --at with Z or an offset: 2026-11-23T08:00:00+01:00.',
  'query.tolerance': 'Use --tolerance 90s, 5m or 2h; at most 12h.',
  'query.outgoing': 'Use --outgoing with an address.',
  'query.port': PORT,
  'query.outgoingPort': PORT,
};

export const addTraceCommand: AddCommands = (program, io) => {
  apiCommand(program, io, 'trace')
    .argument('[destination]', 'address, network or name; or give --outgoing-port')
    .description('find who used a destination at a time; the search is in the audit log')
    .requiredOption('--at <time>', 'with Z or an offset: 2026-11-23T08:00:00+01:00')
    .option('--tolerance <time>', 'how far the time may be off, at most 12h (default: 5m)')
    .option('--port <port>', 'port of the destination')
    .option('--outgoing <address>', 'address of this server as the destination has seen it')
    .option('--outgoing-port <port>', 'port of this server as the destination has seen it')
    .option('--limit <n>', 'maximum number of sessions', parseLimit, 100)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  pulsegate trace 198.51.100.7 --port 25 --at 2026-11-23T08:00:00+01:00',
    )
    .calls(async ({ call }, destination: string | undefined, options: TraceOptions) => {
      const { json, ...asked } = options;
      const found = await worded(call('GET /trace', { query: { destination, ...asked } }), WRONG);
      if (json) return printJson(io, found);
      printList(io, {}, found.items, 'No session found.', {
        'USER NAME': ({ account }) => account.username,
        CLIENT: ({ client }) => client,
        DESTINATION: ({ destination: { host, port }, protocol }) =>
          formatHostPort(host, port) + (protocol === 'udp' ? '/udp' : ''),
        OUTGOING: ({ outgoing, exit }) =>
          outgoing ? formatHostPort(outgoing.address, outgoing.port) : (exit ?? ''),
        NODE: ({ node }) => node,
        FROM: ({ startedAt }) => formatIso(startedAt, ''),
        TO: ({ endedAt, isLive }) => formatIso(endedAt, isLive ? 'live' : ''),
        UP: ({ bytesUp }) => (bytesUp === null ? '' : formatBytes(bytesUp)),
        DOWN: ({ bytesDown }) => (bytesDown === null ? '' : formatBytes(bytesDown)),
        SESSION: ({ session }) => session,
      });
      if (found.nextCursor !== null)
        printLine(io.stdout, `the last ${found.items.length}; use --limit or --tolerance to see others`);
      for (const { reason, count, since } of found.incomplete)
        printLine(io.stderr, `Incomplete: ${[count, INCOMPLETE[reason], since].filter(Boolean).join(' ')}`);
    });
};
