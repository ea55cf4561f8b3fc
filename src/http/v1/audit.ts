// /api/v1/audit and log: every change, its author and the changed values; and the newest lines of this daemon’s log.
import { z } from 'zod';
import { AUDIT_OBJECT_TYPES, type AuditFilter, type AuditEntry as Entry } from '../../core/audit/audit.js';
import { withoutUndefined } from '../../core/maps.js';
import { LOG_LEVELS, type RecentLog, type RecentLogFilter } from '../../core/stats/recent-log.js';
import { iso, withMs } from '../../core/time/clock.js';
import { routesOf } from '../api/route.js';
import { component, Guid, pageOf, Time, TimeRange } from '../api/schemas.js';
import type { Services } from '../services.js';
import { idCursors, numberCursors } from './cursors.js';

const AuditEntry = component('AuditEntry', {
  id: Guid,
  at: Time,
  /**
   * User name; name of the token (with the operator's name and a slash before an operator's token); system user of the command
   * line; or the player's user name.
   */
  actor: z.string(),
  via: z.enum(['console', 'api', 'token', 'cli', 'daemon', 'player']),
  /** null: the change did not come over the network. */
  address: z.string().nullable(),
  /** `account.create`, `account.update`, `account.delete`, `account.password`, `settings.whitelist`, … */
  action: z.string(),
  object: z.object({
    type: z.enum(AUDIT_OBJECT_TYPES),
    id: z.string().nullable(),
    name: z.string().nullable(),
  }),
  /** Only the fields that differ. Passwords and secrets never appear. `owner` is the seller's name, or its id when it is gone. */
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  /** The import or bulk action that made the change: the id and action of its entry, and the name of an import's file. */
  import: z.object({ id: Guid, action: z.string(), name: z.string().nullable() }).nullable(),
});

const { route } = routesOf('Audit');

export const auditRoutes = [
  route('GET /api/v1/audit', 'listAudit', 'audit:read', {
    summary:
      'Every change: who, from where, old and new values; newest first. Operators see only their own changes.',
    request: {
      query: z.object({
        ...idCursors.PageQuery.shape,
        /** In actor, address, action and object name. */
        search: z.string().max(255).optional(),
        action: z.string().max(100).optional(),
        via: AuditEntry.shape.via.optional(),
        /** Id of the object. The list then also contains changes that imports and bulk actions made to it. */
        objectId: z.string().max(255).optional(),
        /** Id of the entry of an import or bulk action: lists its changes. Without `importId`, each of these is one entry. */
        importId: Guid.optional(),
        ...TimeRange,
      }),
    },
    success: [200, 'A page.', pageOf(AuditEntry, 'AuditPage')],
    async handle({ query: { limit, cursor, ...named } }, { audit, operators }) {
      const filter = withoutUndefined<AuditFilter>(withMs(named));
      const [found, matched, total] = await Promise.all([
        audit.list(filter, idCursors.placeOf(cursor), limit + 1),
        audit.count(filter),
        audit.count({}),
      ]);
      const { items, nextCursor } = idCursors.page(found, limit, ({ id }) => id);
      const shown = items.map((each) => presentEntry(each, operators));
      return { body: { items: shown, matched, total, nextCursor } };
    },
  }),
];

function presentEntry({ id, at, by, before, after, ...entry }: Entry, operators: Services['operators']) {
  const shown = (fields: Entry['before']) => withOwnerName(fields, operators);
  const author = { actor: by.name, via: by.via, address: by.address };
  return { id, at: iso(at), ...author, ...entry, before: shown(before), after: shown(after) };
}

/** The log has the id of an account's owner: the name can change. */
function withOwnerName(fields: Entry['before'], operators: Services['operators']): Entry['before'] {
  const owner = fields?.['owner'];
  if (typeof owner !== 'string') return fields;
  return { ...fields, owner: operators.get(owner)?.name ?? owner };
}

const Level = z.enum(LOG_LEVELS);

const LogLine = component('LogLine', {
  /** The ids of later lines are higher. */
  id: z.int().min(0),
  at: Time,
  level: Level,
  message: z.string(),
  /** The other fields, in the order of the line. Secrets never appear. */
  fields: z.record(z.string(), z.unknown()),
});

const LogPage = component('LogPage', {
  ...pageOf(LogLine).shape,
  /** The daemon that answers: each has a log of its own. */
  node: z.string(),
});

export const logRoutes = [
  routesOf('Log').route('GET /api/v1/log', 'listLog', 'log:read', {
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
