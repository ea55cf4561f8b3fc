// The audit table: each entry is written in the transaction of its change.
import type { Knex } from 'knex';
import type {
  Actor,
  AuditEntry,
  AuditFilter,
  AuditObjectType,
  AuditRecord,
  AuditStore,
} from '../../core/audit/audit.js';
import type { Clock } from '../../core/clock.js';
import { createOrderedIds } from '../../core/ids.js';
import type { RecordAudit, StoreContext } from '../database.js';
import { containingIn, countOf, deleteFound, having, inTimeRange, slices } from '../sql.js';

interface AuditRow {
  id: string;
  at: number;
  actor: string;
  via: string;
  address: string | null;
  action: string;
  object_type: string;
  object_id: string | null;
  object_name: string | null;
  before: string | null;
  after: string | null;
  import_id: string | null;
  operator_id: string | null;
}

/** Rows in one statement; thirteen bound values each. */
const ROWS_PER_STATEMENT = 200;

export function createAuditRecorder(now: Clock): RecordAudit {
  const newId = createOrderedIds(now);
  return async (trx, records) => {
    const at = now();
    const rows = records.flatMap((record) => (record ? [toRow(record, newId(), at)] : []));
    for (const slice of slices(rows, ROWS_PER_STATEMENT)) await trx('audit').insert(slice);
    return rows.map(({ id }) => id);
  };
}

export function createAuditStore({ db, reads, scans, recordAudit }: StoreContext): AuditStore {
  const readerOf = ({ search }: AuditFilter): Knex => (search ? scans : reads);

  const matching = (filter: AuditFilter): Knex.QueryBuilder => {
    const query = readerOf(filter)('audit');
    if (filter.action !== undefined) query.whereIn('action', [filter.action].flat());
    const { via, objectId, importId, operatorId, search } = filter;
    having(query, { via, object_id: objectId, import_id: importId, operator_id: operatorId });
    if (importId === undefined && objectId === undefined) query.whereNull('import_id');
    inTimeRange(query, 'at', filter);
    if (search) containingIn(db, query, ['actor', 'address', 'action', 'object_name'], search);
    return query;
  };

  return {
    async add(records) {
      await recordAudit(db, records);
    },

    async begin(record) {
      const [id = ''] = await recordAudit(db, [record]);
      return id;
    },

    async revise(id, after) {
      await db('audit')
        .where({ id })
        .update({ after: after && JSON.stringify(after) });
    },

    async list(filter, before, limit) {
      const query = matching(filter).orderBy('id', 'desc').limit(limit);
      if (before !== null) query.where('id', '<', before);
      const rows: AuditRow[] = await query;
      const ids = new Set(rows.flatMap(({ import_id }) => import_id ?? []));
      const imports: Pick<AuditRow, 'id' | 'action' | 'object_name'>[] =
        ids.size === 0
          ? []
          : await reads('audit')
              .whereIn('id', [...ids])
              .select('id', 'action', 'object_name');
      const byId = new Map(imports.map((one) => [one.id, one]));
      return rows.map((row) => toEntry(row, byId));
    },

    count: (filter) => countOf(matching(filter)),

    trim: (before, limit) =>
      deleteFound(db, 'audit', db('audit').where('at', '<', before).orderBy('at').limit(limit)),
  };
}

function toRow({ by, action, object, before, after }: AuditRecord, id: string, at: number): AuditRow {
  return {
    id,
    at,
    actor: by.name,
    via: by.via,
    address: by.address,
    action,
    object_type: object.type,
    object_id: object.id,
    object_name: object.name,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
    import_id: by.importId ?? null,
    operator_id: by.operatorId ?? null,
  };
}

function toEntry(
  row: AuditRow,
  imports: ReadonlyMap<string, Pick<AuditRow, 'action' | 'object_name'>>,
): AuditEntry {
  const whole = row.import_id === null ? undefined : imports.get(row.import_id);
  return {
    id: row.id,
    at: row.at,
    by: { name: row.actor, via: row.via as Actor['via'], address: row.address },
    action: row.action,
    object: { type: row.object_type as AuditObjectType, id: row.object_id, name: row.object_name },
    before: parse(row.before),
    after: parse(row.after),
    import:
      row.import_id === null
        ? null
        : { id: row.import_id, action: whole?.action ?? 'account.import', name: whole?.object_name ?? null },
  };
}

function parse(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
