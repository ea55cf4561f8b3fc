// The notices table.
import type { Knex } from 'knex';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.js';
import type {
  ChannelState,
  DueNotice,
  Notice,
  NoticeChannel,
  NoticeStore,
  Reminder,
  StoredNotice,
  WaitingFilter,
} from '../../core/notices/notice.js';
import type { StoreContext } from '../database.js';
import { countOf, find, fromRow, having, inTransaction, isDue, slices, toRow } from '../sql.js';

/** Accounts with the fewest attempts in this time come first, so that many notices of one account delay no other. */
const FAIRNESS_WINDOW_MS = HOUR_MS;

/** The channel of recorded reminders: no channel sends them. */
const RECORDED = 'digest';

/** Inserts rows with new keys. Returns these keys. */
async function insert(db: Knex, rows: readonly Row[]): Promise<string[]> {
  const keys: string[] = [];
  for (const slice of slices(rows)) {
    const inserted: { key: string }[] = await db('notices')
      .insert(slice)
      .onConflict('key')
      .ignore()
      .returning('key');
    keys.push(...inserted.map(({ key }) => key));
  }
  return keys;
}

/** The query of the waiting notices. */
function waitingIn(db: Knex, { channel, recipient }: WaitingFilter): Knex.QueryBuilder {
  return having(db('notices').whereNotNull('due_at'), { channel, recipient });
}

const discard = (db: Knex, which: WaitingFilter): Promise<number> =>
  waitingIn(db, which).update({ state: 'discarded', due_at: null });

/** The notices to players that were tried after `since`. */
const playersSince = (db: Knex, since: number): Knex.QueryBuilder =>
  db('notices').where({ recipient: 'player' }).where('tried_at', '>', since);

/** The channel's notices without those of sellers who must wait, joined with the attempts `by_owner` within the window. */
function allowed(db: Knex, channel: NoticeChannel, now: number, sellerPerHour: number): Knex.QueryBuilder {
  const ofOwner = playersSince(db, now - FAIRNESS_WINDOW_MS)
    .groupByRaw("coalesce(owner_id, '')")
    .select({ of_owner: db.raw("coalesce(owner_id, '')") })
    .sum({ by_owner: 'tries' });
  return db('notices')
    .leftJoin(ofOwner.as('owners'), (on) =>
      on
        .on('owners.of_owner', db.raw("coalesce(notices.owner_id, '')"))
        .andOnVal('notices.recipient', 'player'),
    )
    .where({ channel })
    .where((may) => may.whereNull('owner_id').orWhereRaw('coalesce(by_owner, 0) < ?', [sellerPerHour]));
}

export function createNoticeStore({ db }: StoreContext): NoticeStore {
  const triedBetween: NoticeStore['triedBetween'] = async (channel, since, until) => {
    const row = await db('notices')
      .where({ channel })
      .where('tried_at', '>', since)
      .where('tried_at', '<=', until)
      .count({ count: '*' })
      .min({ first: 'tried_at' })
      .first();
    return { count: Number(row?.['count']), first: row?.['first'] ?? null };
  };

  return {
    add: async (notices) => (await insert(db, notices.map(toNoticeRow))).length,

    async record(reminders, noticesOf) {
      let added = 0;
      for (const batch of slices(reminders)) {
        added += await inTransaction(db, async (trx) => {
          const keys = new Set(await insert(trx, batch.map(toRecordedRow)));
          const notices = batch.filter(({ key }) => keys.has(key)).flatMap(noticesOf);
          return (await insert(trx, notices.map(toNoticeRow))).length;
        });
      }
      return added;
    },

    async recorded(since, until) {
      const rows: object[] = await db('notices')
        .where({ channel: RECORDED })
        .where('at', '>', since)
        .where('at', '<=', until)
        .orderBy('id');
      return rows.map(toNotice);
    },

    channels: () => find<ChannelState>(db('notice_channels')),

    async switchOn(way, at) {
      await db('notice_channels')
        .insert({ ...way, since: at, digested_at: at })
        .onConflict(['channel', 'recipient'])
        .ignore();
    },

    switchOff: (ways) =>
      inTransaction(db, async (trx) => {
        for (const way of ways) {
          await trx('notice_channels').where(way).delete();
          await discard(trx, way);
        }
      }),

    addDigest: ({ channel, since, until }, notice) =>
      inTransaction(db, async (trx) => {
        const moved = await trx('notice_channels')
          .where({ channel, recipient: 'operator', digested_at: since })
          .update({ digested_at: until });
        return moved === 1 && notice !== null && (await insert(trx, [toNoticeRow(notice)])).length > 0;
      }),

    waiting: (which) => countOf(waitingIn(db, which)),

    discard: (which) => discard(db, which),

    async due(channel, now, limit, sellerPerHour) {
      const ofAccount = playersSince(db, now - FAIRNESS_WINDOW_MS)
        .where({ channel })
        .groupBy('account_id')
        .select({ of_account: 'account_id' })
        .sum({ by_account: 'tries' });
      const rows: object[] = await allowed(db, channel, now, sellerPerHour)
        .leftJoin(ofAccount.as('lately'), (on) =>
          on.on('lately.of_account', 'notices.account_id').andOnVal('notices.recipient', 'player'),
        )
        .where(isDue('due_at', now))
        .orderByRaw("case recipient when 'operator' then 0 else 1 end, coalesce(by_owner, 0)")
        .orderByRaw('coalesce(by_account, 0), due_at, id')
        .limit(limit)
        .select('notices.*');
      return rows.map(toNotice);
    },

    async addSent(notice, { sellerPerHour, perMinute }) {
      const of = await playersSince(db, notice.at - FAIRNESS_WINDOW_MS)
        .where({ owner_id: notice.owner ?? null })
        .sum({ tries: 'tries' })
        .first();
      const { count } = await triedBetween(notice.channel, notice.at - MINUTE_MS, notice.at);
      if (Number(of?.['tries'] ?? 0) >= sellerPerHour || count >= perMinute) return false;
      const row = { ...toNoticeRow(notice), state: 'failed', due_at: null, tries: 1, tried_at: notice.at };
      return (await insert(db, [row])).length > 0;
    },

    async keysSince(since, of) {
      const query = db('notices').where('at', '>=', since);
      return (of === 'accounts' ? query.whereNotNull('account_id') : query.whereNull('account_id')).pluck(
        'key',
      );
    },

    async nextDueAt(channel, now, sellerPerHour) {
      const row = await allowed(db, channel, now, sellerPerHour).min({ at: 'due_at' }).first();
      return row?.at ?? null;
    },

    triedBetween,

    async claim({ key, dueAt }, at, until) {
      const claimed = await db('notices')
        .where({ key, due_at: dueAt })
        .update({ due_at: until, tried_at: at })
        .increment('tries', 1);
      return claimed === 1;
    },

    async release({ key, dueAt, tries }) {
      await db('notices').where({ key, state: 'pending' }).update({ due_at: dueAt, tries });
    },

    async tried(key, { state, dueAt, detail }) {
      const query = db('notices').where({ key });
      if (state !== 'delivered') query.where({ state: 'pending' });
      await query.update({ state, due_at: dueAt, detail });
    },

    async list({ state, channel, accountId, before, since, limit }) {
      const query = db('notices').where('at', '>=', since).orderBy('id', 'desc').limit(limit);
      having(query.whereNot({ channel: RECORDED }), { state, channel, account_id: accountId });
      if (before !== undefined) query.where('id', '<', before);
      const rows: object[] = await query;
      return rows.map(toNotice);
    },

    async retry(id, now) {
      const queued = await db('notices')
        .where({ id })
        .whereNot({ channel: RECORDED })
        // A code is not stored.
        .whereNot({ type: 'contact.code' })
        .whereNull('due_at')
        .update({ state: 'pending', due_at: now, tries: 0 });
      if (queued > 0) return 'queued';
      return (await db('notices').where({ id }).whereNotNull('due_at').first('id')) ? 'pending' : null;
    },

    async failedRuns(since, limit) {
      return db('runs')
        .whereIn('status', ['failed', 'timeout'])
        .where('finished_at', '>=', since)
        .orderBy('finished_at')
        .limit(limit)
        .select('id', 'agent', 'status', 'error', { finishedAt: 'finished_at' });
    },

    async trim(before, now) {
      const accounts = db('accounts').select('id');
      await db('notices')
        .where('at', '<', before)
        .whereNull('due_at')
        .where((ended) =>
          ended
            .where('keep_until', '<', now)
            .orWhere((gone) => gone.whereNotNull('account_id').whereNotIn('account_id', accounts)),
        )
        .delete();
    },
  };
}

type Row = ReturnType<typeof toRow>;

const toNoticeRow = ({ data, owner = null, ...notice }: Notice): Row =>
  toRow({
    ...notice,
    ownerId: owner,
    data: JSON.stringify(data),
    state: 'pending',
    tries: 0,
    dueAt: notice.at,
  });

const toRecordedRow = (reminder: Reminder): Row => ({
  ...toNoticeRow({ ...reminder, channel: 'webhook', recipient: 'operator' }),
  channel: RECORDED,
  state: 'recorded',
  due_at: null,
});

/** A notice with all columns of its row, more than most callers ask for. */
function toNotice(row: object): StoredNotice & DueNotice {
  type Columns = Omit<StoredNotice & DueNotice, 'data'> & { readonly data: string; readonly ownerId: string };
  const { data, ownerId: owner, ...notice } = fromRow<Columns>(row);
  return { ...notice, owner, data: JSON.parse(data) as Record<string, unknown> };
}
