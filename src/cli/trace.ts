// `pulsegate trace`: who used a destination at a time, in the answer to an abuse report.
import { formatHostPort } from '../core/ip.js';
import { type Answer, worded } from './shared/api.js';
import { printLine } from './shared/command.js';
import { type AddCommands, printList } from './shared/group.js';
import { parseLimit } from './shared/options.js';
import { formatBytes, formatIso, formatOrigin } from './shared/table.js';

const INCOMPLETE: Readonly<Record<Answer<'GET /trace'>['incomplete'][number]['reason'], string>> = {
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

export const addTraceCommand: AddCommands = (program) => {
  program
    .command('trace', 'find who used a destination at a time; the search is in the audit log', {
      '[destination]': 'address, network or name; or give --outgoing-port',
      '--at <time>': { help: 'with Z or an offset: 2026-11-23T08:00:00+01:00', isRequired: true },
      '--tolerance <time>': 'how far the time may be off, at most 12h (default: 5m)',
      '--port <port>': 'port of the destination',
      '--outgoing <address>': 'address of this server as the destination has seen it',
      '--outgoing-port <port>': 'port of this server as the destination has seen it',
      '--limit <n>': { help: 'maximum number of sessions', read: parseLimit, initial: 100 },
    })
    .examples('trace 198.51.100.7 --port 25 --at 2026-11-23T08:00:00+01:00')
    .answers(async ({ call, io, print }, { json, ...query }) => {
      const answer = await worded(call('GET /trace', { query }), WRONG);
      const { items, nextCursor, incomplete } = answer;
      const show = () => {
        printList(io, items, 'No session found.', {
          'USER NAME': ({ account }) => account.username,
          CLIENT: ({ client }) => client,
          ORIGIN: ({ clientOrigin }) => formatOrigin(clientOrigin),
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
        if (nextCursor !== null) print(`the last ${items.length}; use --limit or --tolerance to see others`);
        for (const { reason, count, since } of incomplete)
          printLine(io.stderr, `Incomplete: ${[count, INCOMPLETE[reason], since].filter(Boolean).join(' ')}`);
      };
      return [answer, show];
    });
};
