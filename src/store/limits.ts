// Limits of accounts, and their traffic per day.
import type { Knex } from 'knex';
import type { LimitStore } from '../core/accounts/limit-store.js';
import type { KeptLimits, QuotaPeriod, TrafficOfDay } from '../core/accounts/limits.js';
import { type Actor, type AuditRecord, differences } from '../core/audit/audit.js';
import type { RecordAudit } from './audit.js';
import type { RecordChange } from './changes.js';
import { type Integer, toNumber } from './integers.js';
import { inTransaction } from './transaction.js';

/** Rows in one statement; ten bound values each at most, well under every engine's limit. */
const ROWS_PER_STATEMENT = 200;

interface LimitsRow {
  account_id: string;
  max_sessions: Integer | null;
  max_client_addresses: Integer | null;
  bytes_per_second_up: Integer | null;
  bytes_per_second_down: Integer | null;
  quota_bytes: Integer | null;
  quota_period: QuotaPeriod;
  egress_class: string | null;
  reset_at: Integer | null;
  reset_total_bytes: Integer;
}

interface TrafficRow {
  account_id: string;
  day: number;
  bytes_up: Integer;
  bytes_down: Integer;
  sessions: Integer;
}

export function createLimitStore(db: Knex, recordChange: RecordChange, recordAudit: RecordAudit): LimitStore {
  return {
    async all() {
      const rows: LimitsRow[] = await db('account_limits');
      return rows.map((row) => ({ accountId: row.account_id, ...toKept(row) }));
    },

    async getMany(accountIds) {
      const rows: LimitsRow[] = await db('account_limits').whereIn('account_id', accountIds);
      return new Map(rows.map((row) => [row.account_id, toKept(row)]));
    },

    saveMany: (entries, by) =>
      inTransaction(db, async (trx) => {
        const ids = entries.map(({ accountId }) => accountId);
        const accounts: { id: string; username: string }[] = await trx('accounts')
          .whereIn('id', ids)
          .orderBy('id')
          .forUpdate()
          .select('id', 'username');
        const names = new Map(accounts.map(({ id, username }) => [id, username]));
        const named = entries.flatMap((entry) => {
          const username = names.get(entry.accountId);
          return username === undefined ? [] : [{ ...entry, username }];
        });
        await recordChange(trx, ...accounts.map(({ id }) => ({ topic: 'account', id }) as const));
        await writeLimits(trx, named, by, recordAudit);
        return new Set(names.keys());
      }),

    async addTraffic(rows) {
      await inTransaction(db, async (trx) => {
        for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
          await add(trx, rows.slice(start, start + ROWS_PER_STATEMENT));
        }
      });
    },

    async traffic(accountId, fromDay) {
      const rows: TrafficRow[] = await db('traffic_days')
        .where({ account_id: accountId })
        .where('day', '>=', fromDay)
        .orderBy('day');
      return rows.map((row) => ({
        accountId,
        day: row.day,
        bytesUp: Number(row.bytes_up),
        bytesDown: Number(row.bytes_down),
        sessions: Number(row.sessions),
      }));
    },

    async sums(fromDay, accountIds) {
      const query = db('traffic_days')
        .groupBy('account_id')
        .select(
          'account_id',
          db.raw('sum(bytes_up) as bytes_up'),
          db.raw('sum(bytes_down) as bytes_down'),
          // A day before all days: everything counts.
          db.raw('sum(case when day >= ? then bytes_up + bytes_down else 0 end) as bytes_since', [
            fromDay ?? -1,
          ]),
        );
      const rows: { account_id: string; bytes_up: Integer; bytes_down: Integer; bytes_since: Integer }[] =
        accountIds === undefined ? await query : await query.whereIn('account_id', accountIds);
      return rows.map((row) => ({
        accountId: row.account_id,
        bytesUp: Number(row.bytes_up),
        bytesDown: Number(row.bytes_down),
        bytesSince: Number(row.bytes_since),
      }));
    },
  };
}

/** Writes limits with the transaction that makes or changes their accounts, and notes what differs from `before`. */
export async function writeLimits(
  trx: Knex.Transaction,
  entries: readonly {
    readonly accountId: string;
    readonly username: string;
    readonly kept: KeptLimits;
    readonly before: KeptLimits;
  }[],
  by: Actor,
  recordAudit: RecordAudit,
): Promise<void> {
  for (let start = 0; start < entries.length; start += ROWS_PER_STATEMENT) {
    const rows = entries
      .slice(start, start + ROWS_PER_STATEMENT)
      .map(({ accountId, kept }) => toRow(accountId, kept));
    await trx('account_limits').insert(rows).onConflict('account_id').merge();
  }
  await recordAudit(
    trx,
    entries.map(({ accountId, username, before, kept }) => toAudit(accountId, username, before, kept, by)),
  );
}

/** Rows of accounts that no longer exist fall out in the join. */
async function add(trx: Knex, rows: readonly TrafficOfDay[]): Promise<void> {
  const values = rows
    .map(() => '(?, cast(? as bigint), cast(? as bigint), cast(? as bigint), cast(? as bigint))')
    .join(', ');
  await trx.raw(
    `with moved(account_id, day, bytes_up, bytes_down, sessions) as (values ${values})
     insert into traffic_days (account_id, day, bytes_up, bytes_down, sessions)
     select moved.account_id, moved.day, moved.bytes_up, moved.bytes_down, moved.sessions
     from moved join accounts on accounts.id = moved.account_id where true
     on conflict (account_id, day) do update set bytes_up = traffic_days.bytes_up + excluded.bytes_up,
       bytes_down = traffic_days.bytes_down + excluded.bytes_down, sessions = traffic_days.sessions + excluded.sessions`,
    rows.flatMap((row) => [row.accountId, row.day, row.bytesUp, row.bytesDown, row.sessions]),
  );
}

function toAudit(
  id: string,
  name: string,
  before: KeptLimits,
  after: KeptLimits,
  by: Actor,
): AuditRecord | null {
  const object = { type: 'account', id, name } as const;
  if (after.reset !== before.reset)
    return { by, action: 'account.reset-usage', object, before: null, after: null };
  const changed = differences({ ...before.limits }, { ...after.limits });
  if (!changed.differs) return null;
  return { by, action: 'account.limits', object, before: changed.before, after: changed.after };
}

function toKept(row: LimitsRow): KeptLimits {
  return {
    limits: {
      maxSessions: toNumber(row.max_sessions),
      maxClientAddresses: toNumber(row.max_client_addresses),
      bytesPerSecondUp: toNumber(row.bytes_per_second_up),
      bytesPerSecondDown: toNumber(row.bytes_per_second_down),
      quotaBytes: toNumber(row.quota_bytes),
      quotaPeriod: row.quota_period,
      egressClass: row.egress_class,
    },
    reset:
      row.reset_at === null ? null : { at: Number(row.reset_at), totalBytes: Number(row.reset_total_bytes) },
  };
}

function toRow(accountId: string, { limits, reset }: KeptLimits): LimitsRow {
  return {
    account_id: accountId,
    max_sessions: limits.maxSessions,
    max_client_addresses: limits.maxClientAddresses,
    bytes_per_second_up: limits.bytesPerSecondUp,
    bytes_per_second_down: limits.bytesPerSecondDown,
    quota_bytes: limits.quotaBytes,
    quota_period: limits.quotaPeriod,
    egress_class: limits.egressClass,
    reset_at: reset?.at ?? null,
    reset_total_bytes: reset?.totalBytes ?? 0,
  };
}
