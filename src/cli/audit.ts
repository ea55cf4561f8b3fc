// `pulsegate audit`, `pulsegate trace` and `pulsegate traffic`: the audit log; who used a destination at a time, in the answer to an
// abuse report; who used how much in a range of days.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { TRAFFIC_BY, TRAFFIC_SORTS } from '../core/accounts/usage/traffic-report.js';
import { formatHostPort } from '../core/addresses/ip.js';
import { AUDIT_ACTIONS, type AuditEntry } from '../core/audit/audit.js';
import { codeOf } from '../core/errors.js';
import { withoutUndefined } from '../core/maps.js';
import { findAccount } from './account/find.js';
import type { Answer, ItemOf } from './shared/api.js';
import { CommandError, STDIO, wrongUsage } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { limitOption, pastTime } from './shared/options.js';
import { choice, param, type ValuesOf } from './shared/params.js';
import type { Run } from './shared/run.js';
import { type Columns, formatBytes, formatIso, printTable } from './shared/table.js';

const VIA = ['console', 'api', 'token', 'cli', 'daemon', 'player'] as const;

export const addAuditCommands: AddCommands = (program) =>
  program
    .command('audit', 'print the audit log, newest entries first', {
      search: '--search <text>  filter by text in actor, address, action or object name',
      objectId: param('--account <account>  filter by account').finds(
        async (run, account) => (await findAccount(run, account)).id,
      ),
      action: choice('--action <action>  filter by action', AUDIT_ACTIONS),
      via: choice('--via <interface>  filter by the interface used', VIA),
      from: pastTime('--since <when>  entries from this time on: an age (24h) or a date in UTC'),
      to: pastTime('--until <when>  entries before this time'),
      limit: limitOption('entries', 50),
    })
    .examples('audit --since 24h', 'audit --account player --json')
    .lists('No audit entries found.', 'GET /audit', [
      { TIME: 'at', ACTOR: 'actor', VIA: 'via', ADDRESS: 'address', ACTION: 'action' },
      { OBJECT: ({ object }) => object.name ?? '', CHANGE: changeOf },
    ])
    .also(({ print }, { items, matched }) => {
      if (items.length > 0 && matched > items.length)
        print(`${items.length} of ${matched} entries; use --limit to show more`);
    });

/** `remarks: "a" → "b"`; only one value for an object that was added or removed. */
function changeOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => {
      const shown = [before, after].flatMap((values) => (values ? JSON.stringify(values[name] ?? null) : []));
      return `${name}: ${shown.join(' → ')}`;
    })
    .join(', ');
}

const INCOMPLETE: Readonly<Record<Answer<'GET /trace'>['incomplete'][number]['reason'], string>> = {
  'not-recorded': 'sessions are not recorded now (trace.retention.days)',
  'before-records': 'the range begins before the oldest record',
  'records-dropped': 'records were dropped, because the database did not take them',
  'destinations-beyond-limit': 'associations had more destinations than are recorded',
  'addresses-unknown': 'sessions went to names that only an upstream proxy has resolved',
  'in-the-future': 'the time is in the future; check the date and the zone',
};

const TRACE_COLUMNS: Columns<ItemOf<'GET /trace'>> = [
  { 'USER NAME': ({ account }) => account.username, CLIENT: 'client', ORIGIN: 'clientOrigin' },
  {
    DESTINATION: ({ destination: { host, port }, protocol }) =>
      formatHostPort(host, port) + (protocol === 'udp' ? '/udp' : ''),
    OUTGOING: ({ outgoing, exit }) =>
      outgoing ? formatHostPort(outgoing.address ?? '*', outgoing.port) : (exit ?? ''),
  },
  { NODE: 'node', FROM: ({ startedAt }) => formatIso(startedAt, '', 19) },
  { TO: ({ endedAt, isLive }) => formatIso(endedAt, isLive ? 'live' : '', 19) },
  { UP: 'bytesUp', DOWN: 'bytesDown', SESSION: 'session' },
];

const PORT = 'Use a port from 1 to 65535.';
const HAS_ZONE = /(?:Z|[+-]\d\d:\d\d)$/;
const AT = 'Use --at with Z or an offset: 2026-11-23T08:00:00+01:00.';
const WRONG = {
  'query.destination': 'Give an address, a network or a name as the destination, or --outgoing-port.',
  'query.at': AT,
  'query.tolerance': 'Use --tolerance 90s, 5m or 2h; at most 12h.',
  'query.outgoing': 'Use --outgoing with an address.',
  'query.port': PORT,
  'query.outgoingPort': PORT,
};

const QUESTION = {
  destination: '[destination]  address, network or name; or give --outgoing-port',
  at: '--at <time>  with Z or an offset: 2026-11-23T08:00:00+01:00',
  port: '--port <port>  port of the destination',
  outgoing: '--outgoing <address>  address of this server as the destination has seen it',
  outgoingPort: '--outgoing-port <port>  port of this server as the destination has seen it',
} as const;

export const addTraceCommand: AddCommands = (program) =>
  program
    .command('trace', 'find who used a destination at a time; the search is in the audit log', {
      report:
        '--report <file>  read the abuse report in a file (-: stdin) for what is not given; nothing is guessed',
      ...QUESTION,
      tolerance: '--tolerance <time>  how far the time may be off, at most 12h (default: 5m)',
      limit: limitOption('sessions', 100),
    })
    .examples('trace 198.51.100.7 --port 25 --at 2026-11-23T08:00:00+01:00', 'trace --report mail.txt')
    .answers(async (run, { report, ...given }) => {
      const { call, io, print, note } = run;
      const query = report === undefined ? given : { ...given, ...(await withReport(report, given, run)) };
      if (query.at === undefined) throw wrongUsage(AT);
      const answer = await call('GET /trace', { query }, WRONG);
      const { items, nextCursor, incomplete } = answer;
      const show = () => {
        printTable(io, items, TRACE_COLUMNS, 'No session found.');
        if (nextCursor !== null) print(`the last ${items.length}; use --limit or --tolerance to see others`);
        for (const { reason, count, since } of incomplete)
          note(`Incomplete: ${[count, INCOMPLETE[reason], since].filter(Boolean).join(' ')}`);
      };
      return [answer, show];
    });

export const addTrafficCommand: AddCommands = (program) =>
  program
    .command('traffic', 'list the traffic of a range of days, the largest first', {
      by: choice('--by <what>  account (default), tag, plan, seller, game or exit', TRAFFIC_BY),
      from: '--since <day>  first day: 2026-11-01 (default: 29 days before the last)',
      until: '--until <day>  last day (default: today, in the time zone of the daemon)',
      sort: choice('--sort <field>  with a leading minus descending (default: -bytes)', TRAFFIC_SORTS),
      limit: limitOption('lines', 100),
    })
    .examples('traffic --since 2026-11-24 --until 2026-11-24', 'traffic --by plan --sort label --json')
    .lists('No traffic.', 'GET /traffic', [
      { NAME: ({ label, isOthers }) => label ?? (isOthers ? '(other games)' : '(none)') },
      { ACCOUNTS: 'accounts', SESSIONS: 'sessions', UP: 'bytesUp', DOWN: 'bytesDown' },
    ])
    .also(({ note }, { unknown: { bytesUp, bytesDown } }) => {
      const more = formatBytes(bytesUp + bytesDown);
      if (bytesUp + bytesDown > 0)
        note(`Incomplete: ${more} more, of which this is not known (older, or imported)`);
    });

type Question = ValuesOf<typeof QUESTION>;

/**
 * The question with what a report says in its place: only what it says once, and with words that name the part.
 * @throws CommandError with all that was found, when more must be given
 */
async function withReport(file: string, given: Question, { call, io, note }: Run): Promise<Question> {
  const content = file === STDIO ? text(io.stdin) : readFile(file, 'utf8');
  const body = {
    text: await content.catch((error: unknown) => {
      throw new CommandError(`Cannot read ${file}: ${codeOf(error)}.`);
    }),
  };
  const refusals = { 'body.text': 'A report has 1 to 60000 characters.' };
  const { ends, times } = await call('POST /trace/report', { body }, refusals);
  const only = (found: readonly string[]): string | undefined =>
    new Set(found).size === 1 ? found[0] : undefined;
  const of = (role: 'destination' | 'outgoing', part: 'address' | 'port'): string | undefined =>
    only(ends.flatMap((end) => (end.role === role ? (end[part]?.toString() ?? []) : [])));
  const said = {
    destination: of('destination', 'address'),
    port: of('destination', 'port'),
    outgoing: of('outgoing', 'address'),
    outgoingPort: of('outgoing', 'port'),
    at: only(times.map(({ local, offset }) => local + (offset ?? ''))),
  };
  const question = withoutUndefined<Question>({ ...said, ...given });
  const { destination, outgoingPort, at = '' } = question;
  if ((destination ?? outgoingPort) !== undefined && HAS_ZONE.test(at)) {
    const read = Object.keys(said).flatMap((part) => {
      const value = question[part as keyof Question];
      return value === undefined ? [] : `${part} ${value}`;
    });
    note(`Searching: ${read.join(', ')}`);
    return question;
  }
  const found = [
    ...ends.map(({ address, port, role }) => [address, port && `port ${port}`, role && `(${role})`]),
    ...times.map(({ text: written, offset }) => [written, offset ?? '(give --at with its zone)']),
  ];
  const lines = found.map((words) => `  ${words.filter(Boolean).join(' ')}`);
  throw wrongUsage(
    ['The report does not say clearly what to search for. Give it by arguments. Found:', ...lines].join('\n'),
  );
}
