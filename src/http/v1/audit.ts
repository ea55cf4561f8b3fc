// /api/v1/audit: every change, its author, and the changed values.
import { z } from 'zod';
import type { AuditFilter, AuditEntry as Entry } from '../../core/audit/audit.js';
import { iso, withMs } from '../../core/clock.js';
import { routesOf } from '../api/route.js';
import { Guid, pageOf, Time, TimeRange } from '../api/schemas.js';
import { withoutUndefined } from '../fields.js';
import type { Services } from '../services.js';
import { idCursors } from './cursors.js';

const AuditEntry = z
  .object({
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
      type: z.enum([
        'account',
        'session',
        'settings',
        'token',
        'run',
        'agent',
        'admin',
        'operator',
        'import',
        'node',
      ]),
      id: z.string().nullable(),
      name: z.string().nullable(),
    }),
    /** Only the fields that differ. Passwords and secrets never appear. `owner` is the seller's name, or its id when it is gone. */
    before: z.record(z.string(), z.unknown()).nullable(),
    after: z.record(z.string(), z.unknown()).nullable(),
    /** The import or bulk action that made the change: the id and action of its entry, and the name of an import's file. */
    import: z.object({ id: Guid, action: z.string(), name: z.string().nullable() }).nullable(),
  })
  .meta({ id: 'AuditEntry' });

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
