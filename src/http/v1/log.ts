// /api/v1/log: the newest lines of this daemon's log.
import { z } from 'zod';
import { LOG_LEVELS, type RecentLog, type RecentLogFilter } from '../../core/stats/recent-log.js';
import { routesOf } from '../api/route.js';
import { pageOf, Time } from '../api/schemas.js';
import { withoutUndefined } from '../fields.js';
import { numberCursors } from './cursors.js';

const Level = z.enum(LOG_LEVELS);

const LogLine = z
  .object({
    /** The ids of later lines are higher. */
    id: z.int().min(0),
    at: Time,
    level: Level,
    message: z.string(),
    /** The other fields, in the order of the line. Secrets never appear. */
    fields: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'LogLine' });

const LogPage = z
  .object({
    ...pageOf(LogLine).shape,
    /** The daemon that answers: each has a log of its own. */
    node: z.string(),
  })
  .meta({ id: 'LogPage' });

const { route } = routesOf('Log');

export const logRoutes = [
  route('GET /api/v1/log', 'listLog', 'log:read', {
    summary: 'The newest log lines of this daemon, kept in memory (log.recent); newest first.',
    request: {
      query: z.object({
        ...numberCursors.PageQuery.shape,
        /** Lines of this level, and of more severe ones. */
        level: Level.optional(),
        /** Words that a line contains, without regard to case. */
        search: z.string().max(255).optional(),
        /** The id of a line: only later ones. */
        after: z.coerce.number().int().min(0).optional(),
      }),
    },
    success: [200, 'A page.', LogPage],
    async handle({ query: { limit, cursor, ...named } }, { recentLog, node }) {
      const filter = withoutUndefined<RecentLogFilter>({
        ...named,
        before: numberCursors.placeOf(cursor) ?? undefined,
      });
      const { lines, matched, total } = recentLog.read(filter, limit + 1);
      const { items, nextCursor } = numberCursors.page(lines, limit, ({ id }) => id);
      return { body: { items: items.map(presentLine), matched, total, nextCursor, node: node.nodeName } };
    },
  }),
];

function presentLine({ id, level, text }: ReturnType<RecentLog['read']>['lines'][number]) {
  const { level: _, time: at, msg: message, ...fields } = JSON.parse(text) as Record<string, unknown>;
  return { id, at, level, message: message ?? '', fields };
}
