// /api/v1/traffic: the traffic of a range of days by account, tag, plan, seller, game or exit, as a list and as a file.
import { z } from 'zod';
import { writeTable } from '../../../account-files/csv.js';
import type { Traffic } from '../../../core/accounts/usage/limits.js';
import {
  groupTraffic,
  sumOf,
  TRAFFIC_BY,
  TRAFFIC_SORTS,
  type TrafficBy,
  type TrafficLine,
  trafficKeys,
} from '../../../core/accounts/usage/traffic-report.js';
import { OTHER_GAMES } from '../../../core/accounts/usage/usage.js';
import { DAY_MS } from '../../../core/time/clock.js';
import { invalid, type ProblemAnswer } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { Bytes, Count, component, Day, pageOf } from '../../api/schemas.js';
import type { Services } from '../../services.js';
import { pageSortedBy, type SortKeys, sortedCursors } from '../cursors.js';

const TrafficItem = component('TrafficItem', {
  /** Id of the account or seller; the tag, plan, GameID or exit. null: without one; of sellers the administrator's accounts. */
  key: z.string().nullable(),
  /** User name of the account, or name of the seller; otherwise as `key`. */
  label: z.string().nullable(),
  /** Whether it is the sum of an account's games beyond `heartbeats.gamesPerAccount` a day. */
  isOthers: z.boolean(),
  /** Accounts with traffic; null: unknown. */
  accounts: Count.nullable(),
  /** Sessions that began in the range; null: unknown, by game and by exit. */
  sessions: Count.nullable(),
  bytesUp: Bytes,
  bytesDown: Bytes,
});

const TrafficReport = component('TrafficReport', {
  ...pageOf(TrafficItem).shape,
  from: Day,
  until: Day,
  /** The time zone of both days. Earlier days keep the zone in which they were counted. */
  zone: z.string(),
  /** Of all lines. An account with several tags counts once. */
  sum: z.object({ bytesUp: Bytes, bytesDown: Bytes }),
  /** Traffic of which game or exit are not known: older than `traffic.retention.days`, or counted by an earlier version. */
  unknown: z.object({ bytesUp: Bytes, bytesDown: Bytes }),
});

type Item = z.input<typeof TrafficItem>;

const SORTS: SortKeys<Item, null> = {
  label: ({ label }) => label,
  accounts: ({ accounts }) => accounts,
  sessions: ({ sessions }) => sessions,
  bytesUp: ({ bytesUp }) => bytesUp,
  bytesDown: ({ bytesDown }) => bytesDown,
  bytes: ({ bytesUp, bytesDown }) => bytesUp + bytesDown,
};

const Question = z.object({
  by: z.enum(TRAFFIC_BY).default('account'),
  /** The first day, in the time zone `timeZone`. Left out: 29 days before `until`. */
  from: Day.optional(),
  /** The last day. Left out: today. */
  until: Day.optional(),
  /** `bytes`: both directions. */
  sort: z.enum(TRAFFIC_SORTS).default('-bytes'),
});

const DEFAULT_DAYS = 30;
const NOTHING = { bytesUp: 0, bytesDown: 0 };
const FILE_COLUMNS = ['label', 'key', 'accounts', 'sessions', 'bytesUp', 'bytesDown'] as const;

const { route } = routesOf('Activity');

export const trafficRoutes = [
  route('GET /api/v1/traffic', 'getTrafficReport', 'accounts:read', {
    summary: 'Traffic of a range of days by account, tag, plan, seller, game or exit; the largest first.',
    request: { query: Question.extend(sortedCursors.PageQuery.shape) },
    success: [200, 'A page. With several tags, an account counts for each.', TrafficReport],
    async handle({ query }, deps) {
      const report = await readReport(query, deps);
      if ('problem' in report) return report;
      const { items, ...rest } = report;
      return { body: { ...rest, ...pageOfItems(items, query), total: items.length } };
    },
  }),
  route('GET /api/v1/traffic/export', 'exportTraffic', 'accounts:read', {
    summary: 'The same report as a CSV file, streamed.',
    request: { query: Question },
    success: [
      200,
      'The file, as an attachment. CSV cells that a spreadsheet could evaluate as formulas get an apostrophe.',
      { contentType: 'text/csv' },
    ],
    async handle({ query }, deps) {
      const report = await readReport(query, deps);
      if ('problem' in report) return report;
      const { items } = pageOfItems(report.items, { ...query, limit: Math.max(1, report.items.length) });
      const rows = items.map((item) => FILE_COLUMNS.map((name) => item[name]));
      const name = `traffic-${query.by}-${report.from}-${report.until}.csv`;
      return {
        body: writeTable(FILE_COLUMNS, rows),
        headers: {
          'Content-Type': 'text/csv; charset=utf-8',
          'Content-Disposition': `attachment; filename="${name}"`,
        },
      };
    },
  }),
];

const pageOfItems = (
  items: readonly Item[],
  query: { readonly sort: string; readonly limit: number; readonly cursor?: string | undefined },
) => pageSortedBy(items, query, SORTS, null, ({ key, isOthers }) => `${isOthers}${key ?? ''}`);

type ReportDeps = Pick<
  Services,
  'accounts' | 'calendar' | 'now' | 'operators' | 'trafficLimits' | 'trafficReport' | 'usage'
>;

async function readReport(
  { by, ...asked }: z.output<typeof Question>,
  { calendar, now, trafficLimits, usage, ...deps }: ReportDeps,
) {
  const { date: today, zone } = calendar.dateOf(calendar.dayOf(now()));
  const until = asked.until ?? today;
  const from = asked.from ?? dateBefore(until, DEFAULT_DAYS - 1);
  const count = (Date.parse(until) - Date.parse(from)) / DAY_MS + 1;
  const { maxDays, retention } = trafficLimits;
  if (count < 1 || count > maxDays) return tooLong(maxDays);
  await usage.flush();
  const days = calendar.daysBetween(from, until);
  const knownFrom = calendar.dayOf(now() - retention.days * DAY_MS);
  const { lines, sum, unknown = NOTHING } = await linesOf(by, days, knownFrom, deps);
  const items = lines.map((line) => present(by, line, deps));
  return { items, from, until, zone, sum, unknown };
}

const tooLong = (max: number): ProblemAnswer => invalid('query.from', 'day-range', { max });

const dateBefore = (date: string, days: number): string =>
  new Date(Date.parse(date) - days * DAY_MS).toISOString().slice(0, 10);

async function linesOf(
  by: TrafficBy,
  days: Parameters<ReportDeps['trafficReport']['byAccount']>[0],
  knownFrom: number,
  { accounts, trafficReport }: Pick<ReportDeps, 'accounts' | 'trafficReport'>,
): Promise<{ lines: TrafficLine[]; sum: Traffic; unknown?: Traffic }> {
  if (by === 'game' || by === 'exit') {
    const { sums, unknown } = await trafficReport.byPart(by, days, knownFrom);
    const lines = sums.map(({ name: key, ...each }) => ({ key, sessions: null, ...each }));
    return { lines, sum: sumOf([...lines, unknown]), unknown };
  }
  const traffic = await trafficReport.byAccount(days);
  const keysOf = (id: string): readonly (string | null)[] => {
    const view = accounts.get(id);
    return view ? trafficKeys(by, view.account) : [];
  };
  return { lines: groupTraffic(traffic, keysOf), sum: sumOf(traffic) };
}

function present(
  by: TrafficBy,
  { key, ...line }: TrafficLine,
  { accounts, operators }: Pick<ReportDeps, 'accounts' | 'operators'>,
): Item {
  const isOthers = by === 'game' && key === OTHER_GAMES;
  if (isOthers || key === null) return { key: isOthers ? null : key, label: null, isOthers, ...line };
  const named = by === 'account' ? accounts.get(key)?.account.username : operators.get(key)?.name;
  return { key, label: by === 'account' || by === 'seller' ? (named ?? key) : key, isOthers, ...line };
}
