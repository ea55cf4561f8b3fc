// `pulsegate trace`: who used a destination at a time, in the answer to an abuse report.
import { formatHostPort } from '../core/ip.js';
import { type Answer, worded } from './shared/api.js';
import { apiCommand } from './shared/api-command.js';
import { type AddCommands, printJson, printLine } from './shared/command.js';
import { parseLimit } from './shared/options.js';
import { formatBytes, formatIso, printTable } from './shared/table.js';

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
      if (found.items.length === 0) printLine(io.stderr, 'No session found.');
      else printItems(found.items);
      if (found.nextCursor !== null)
        printLine(io.stdout, `the last ${found.items.length}; use --limit or --tolerance to see others`);
      for (const { reason, count, since } of found.incomplete)
        printLine(io.stderr, `Incomplete: ${[count, INCOMPLETE[reason], since].filter(Boolean).join(' ')}`);
    });

  const printItems = (items: Trace['items']): void =>
    printTable(
      io,
      ['USER NAME', 'CLIENT', 'DESTINATION', 'OUTGOING', 'NODE', 'FROM', 'TO', 'UP', 'DOWN', 'SESSION'],
      items.map(({ account, client, destination, protocol, outgoing, exit, ...each }) => [
        account.username,
        client,
        formatHostPort(destination.host, destination.port) + (protocol === 'udp' ? '/udp' : ''),
        outgoing ? formatHostPort(outgoing.address, outgoing.port) : (exit ?? ''),
        each.node,
        formatIso(each.startedAt, ''),
        formatIso(each.endedAt, each.isLive ? 'live' : ''),
        each.bytesUp === null ? '' : formatBytes(each.bytesUp),
        each.bytesDown === null ? '' : formatBytes(each.bytesDown),
        each.session,
      ]),
    );
};
