// The audit table, whose entries are written in the transaction of their change, and the login log.
import type { Knex } from 'knex';
import type { LoginEntry, LoginFilter, LoginStore } from '../../core/accounts/access/login-log.js';
import type { Actor, AuditEntry, AuditFilter, AuditRecord, AuditStore } from '../../core/audit/audit.js';
import { createOrderedIds } from '../../core/ids.js';
import { EVENT_ACTIONS } from '../../core/notices/event-types.js';
import type { Clock } from '../../core/time/clock.js';
import type { RecordAudit, StoreContext } from '../database.js';
import {
  containingIn,
  countOf,
  deleteFound,
  find,
  having,
  insertJson,
  inTimeRange,
  inTransaction,
  ofOwner,
  runJson,
  slices,
  toRow,
} from '../sql.js';
import { takeKey } from './run-rows.js';

/** The columns of an entry, as fields. */
interface Stored extends Pick<AuditEntry, 'id' | 'at' | 'action'>, Pick<Actor, 'via' | 'address'> {
  readonly actor: string;
  readonly objectType: AuditRecord['object']['type'];
  readonly objectId: string | null;
  readonly objectName: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly importId: string | null;
}

/** Of the entry of an import. */
type Whole = Pick<Stored, 'id' | 'action' | 'objectName'>;

export function createAuditRecorder(now: Clock, isShared: boolean): RecordAudit {
  const newId = createOrderedIds(now);
  return async (trx, records) => {
    const at = now();
    const [first] = records.filter((record) => record?.by.requestKey);
    const { requestKey } = first?.by ?? {};
    if (first && requestKey) await takeKey(trx, requestKey, requestKey.pending(first.object.id), at);
    const rows = records.flatMap((record) => (record ? [toAuditRow(record, newId(), at)] : []));
    for (const slice of slices(rows))
      await runJson(trx, isShared, insertJson(isShared, 'audit', Object.keys(slice[0] ?? {})), slice);
    return rows.map(({ id }) => String(id));
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
      const entries = await find<Stored>(query);
      const ids = new Set(entries.flatMap(({ importId }) => importId ?? []));
      const wholes = reads('audit')
        .whereIn('id', [...ids])
        .select('id', 'action', 'object_name');
      const imports = ids.size === 0 ? [] : await find<Whole>(wholes);
      const byId = new Map(imports.map((one) => [one.id, one]));
      return entries.map((entry) => toEntry(entry, byId.get(entry.importId ?? '')));
    },

    count: (filter) => countOf(matching(filter)),

    trim: (before, limit) =>
      deleteFound(db, 'audit', db('audit').where('at', '<', before).orderBy('at').limit(limit)),
  };
}

const toAuditRow = ({ by, action, object, before, after }: AuditRecord, id: string, at: number) =>
  toRow({
    id,
    at,
    action,
    actor: by.name,
    via: by.via,
    address: by.address,
    operatorId: by.operatorId ?? null,
    objectType: object.type,
    objectId: object.id,
    objectName: object.name,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
    importId: by.importId ?? null,
    eventDue: EVENT_ACTIONS.has(action) ? true : null,
  });

/** Returns entries with the seller of their account, in order; an account that is no more had the one of its last entry. */
export async function entriesWithOwner(db: Knex, ids: readonly string[]) {
  const query = db('audit').leftJoin('accounts', 'accounts.id', 'object_id').whereIn('audit.id', ids);
  const found = await find<Stored & { readonly owner: string | null }>(
    query.orderBy('audit.id').select('audit.*', 'accounts.owner'),
  );
  const removed = new Map(
    found.map((each) => [each.objectId, each.action === 'account.delete' && parse(each.before)?.['owner']]),
  );
  return found.map(({ owner, ...stored }) => {
    const before = removed.get(stored.objectId);
    return { ...toEntry(stored, undefined), owner: owner ?? (typeof before === 'string' ? before : null) };
  });
}

/** @param whole the entry of the import to which the change belongs */
function toEntry(stored: Stored, whole: Whole | undefined): AuditEntry {
  const { id, at, actor: name, via, address, action, importId } = stored;
  return {
    id,
    at,
    by: { name, via, address },
    action,
    object: { type: stored.objectType, id: stored.objectId, name: stored.objectName },
    before: parse(stored.before),
    after: parse(stored.after),
    import:
      importId === null
        ? null
        : { id: importId, action: whole?.action ?? 'account.import', name: whole?.objectName ?? null },
  };
}

const parse = (text: string | null): Record<string, unknown> | null =>
  text === null ? null : (JSON.parse(text) as Record<string, unknown>);

type LoginContext = Pick<StoreContext, 'db' | 'reads' | 'scans' | 'loginSearch'>;

export function createLoginStore({ db, reads, scans, loginSearch: index }: LoginContext): LoginStore {
  const readerOf = (search: string): Knex => (search === '' || index?.covers(search) ? reads : scans);

  /** The query for matching rows, and the column with their id. Uses the index if it covers the search text. */
  function matching({ accountId, owner, search = '', failed, from, to }: LoginFilter): {
    query: Knex.QueryBuilder;
    id: string;
  } {
    const byIndex = index?.covers(search) ? index : null;
    const on = readerOf(search);
    const query = byIndex ? byIndex.rows(on, search) : on('logins');
    const id = byIndex?.id ?? 'logins.id';
    const isFiltered = [accountId, owner, failed, from, to].some((each) => each !== undefined);
    if (byIndex && isFiltered) query.join('logins', 'logins.id', id);
    having(query, { 'logins.account_id': accountId });
    ofOwner(on, query, 'logins.account_id', owner);
    if (failed === true) query.whereNot('logins.outcome', 'success');
    if (failed === false) query.where('logins.outcome', 'success');
    inTimeRange(query, 'logins.at', { from, to });
    if (!byIndex && search !== '') containingIn(on, query, ['logins.username', 'logins.client'], search);
    return { query, id };
  }

  return {
    add: (entries) =>
      inTransaction(db, async (trx) => {
        const places: number[] = [];
        for (const slice of slices(entries)) {
          const rows: { id: number }[] = await trx('logins').insert(slice.map(toRow)).returning('id');
          // An insert of several rows numbers them in their order.
          places.push(...rows.map(({ id }) => id).sort((a, b) => a - b));
        }
        return places;
      }),

    repeated: (entries) =>
      inTransaction(db, async (trx) => {
        for (const { place, times } of entries) await trx('logins').where({ id: place }).update({ times });
      }),

    async list(filter, before, limit) {
      const { query, id } = matching(filter);
      if (before !== null) query.where(id, '<', before);
      const ids: number[] = await query.orderBy(id, 'desc').limit(limit).pluck(id);
      const found = reads('logins').whereIn('id', ids).orderBy('id', 'desc');
      const entries = await find<LoginEntry & { readonly id: number }>(found);
      return entries.map(({ id: place, ...entry }) => ({ ...entry, place }));
    },

    count: (filter) => countOf(matching(filter).query),

    async trim(before, keep, limit) {
      const newest = await db('logins').max({ id: 'id' }).first();
      const lastKept = (newest?.id ?? 0) - keep;
      const old = db('logins').where('at', '<', before).orWhere('id', '<=', lastKept);
      return deleteFound(db, 'logins', old.orderBy('id').limit(limit));
    },
  };
}
