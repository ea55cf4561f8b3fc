// The notices table.
import type { Knex } from 'knex';
import {
  CHANNELS,
  type ChannelState,
  type DueNotice,
  type Notice,
  type NoticeScope,
  type NoticeStore,
  type Reminder,
  SENT_AT_ONCE,
  type StoredNotice,
} from '../../core/notices/notice.js';
import { HOUR_MS, MINUTE_MS } from '../../core/time/clock.js';
import type { StoreContext } from '../database.js';
import { countOf, find, fromRow, having, inTransaction, isDue, slices, toRow } from '../sql.js';
import { entriesWithOwner } from './logs.js';

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

const inScope = (db: Knex, { channel, recipient, owner }: NoticeScope): Knex.QueryBuilder =>
  having(db('notices').whereIn('channel', channel === undefined ? CHANNELS : [channel]), {
    recipient,
    owner_id: owner,
  });

const waitingIn = (db: Knex, which: NoticeScope): Knex.QueryBuilder =>
  inScope(db, which).whereNotNull('due_at');

const discard = (db: Knex, which: NoticeScope): Promise<number> =>
  waitingIn(db, which).update({ state: 'discarded', due_at: null });

/** The notices to players, or those to receivers, that were tried after `since`. */
const triedSince = (db: Knex, channel: NoticeScope['channel'], since: number): Knex.QueryBuilder =>
  (channel === 'webhook'
    ? db('notices').where({ channel })
    : db('notices').whereIn('channel', CHANNELS).where({ recipient: 'player' })
  ).where('tried_at', '>', since);

/** The notices without those of sellers who must wait, joined with the attempts `by_owner` within the window. */
function allowed(db: Knex, of: NoticeScope, now: number, sellerPerHour: number) {
  const ofOwner = triedSince(db, of.channel, now - FAIRNESS_WINDOW_MS)
    .groupByRaw("coalesce(owner_id, '')")
    .select({ of_owner: db.raw("coalesce(owner_id, '')") })
    .sum({ by_owner: 'tries' });
  return waitingIn(db, of)
    .leftJoin(ofOwner.as('owners'), (on) =>
      on.on('owners.of_owner', db.raw("coalesce(notices.owner_id, '')")),
    )
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

    async due(of, now, limit, sellerPerHour) {
      const ofAccount = triedSince(db, of.channel, now - FAIRNESS_WINDOW_MS)
        .whereIn('channel', [of.channel ?? ''])
        .groupBy('account_id')
        .select({ of_account: 'account_id' })
        .sum({ by_account: 'tries' });
      const rows: object[] = await allowed(db, of, now, sellerPerHour)
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
      const of = await triedSince(db, notice.channel, notice.at - FAIRNESS_WINDOW_MS)
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
      return (
        of === 'accounts'
          ? query.whereNotNull('account_id').whereNot({ channel: 'webhook' })
          : query.whereNull('account_id')
      ).pluck('key');
    },

    async nextDueAt(of, now, sellerPerHour) {
      const row = await allowed(db, of, now, sellerPerHour).min({ at: 'due_at' }).first();
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

    async tried(key, { state, dueAt, detail, attempts }) {
      const query = db('notices').where({ key });
      // One that `addSent` added is failed already.
      if (state !== 'delivered') query.whereIn('state', ['pending', state === 'failed' ? state : 'pending']);
      const all = attempts && { attempts: JSON.stringify(attempts) };
      await query.update({ state, due_at: dueAt, detail, ...all });
    },

    async list({ state, accountId, before, since, limit, ...scope }) {
      const query = inScope(db, scope).where('at', '>=', since).orderBy('id', 'desc').limit(limit);
      having(query, { state, account_id: accountId });
      if (before !== undefined) query.where('id', '<', before);
      const rows: object[] = await query;
      return rows.map(toNotice);
    },

    async retry(id, now, scope = {}) {
      const queued = await inScope(db, scope)
        .where({ id })
        .whereNotIn('type', SENT_AT_ONCE)
        .whereNull('due_at')
        .update({ state: 'pending', due_at: now, tries_before: db.ref('tries') });
      if (queued > 0) return 'queued';
      return (await waitingIn(db, scope).where({ id }).first('id')) ? 'pending' : null;
    },

    async failedRuns(since, limit) {
      return db('runs')
        .whereIn('status', ['failed', 'timeout'])
        .where('finished_at', '>=', since)
        .orderBy('finished_at')
        .limit(limit)
        .select('id', 'agent', 'status', 'error', { finishedAt: 'finished_at' });
    },

    async announce(limit, noticesOf) {
      const due = (on: Knex = db) => on('audit').whereNotNull('event_due');
      const ids: string[] = await due().orderBy('id').limit(limit).pluck('id');
      if (ids.length === 0) return 0;
      return inTransaction(db, async (trx) => {
        // Another daemon may take some of them meanwhile.
        const taken = await due(trx)
          .whereIn('id', ids)
          .update({ event_due: null })
          .returning<{ id: string }[]>('id');
        const isTaken = taken.map(({ id }) => id);
        const entries = await entriesWithOwner(trx, isTaken);
        const notices = entries.flatMap(({ owner, ...entry }) => noticesOf(entry, owner));
        await insert(trx, notices.map(toNoticeRow));
        return ids.length;
      });
    },

    async trim(before, now, perReceiver) {
      const over = db('notices').where({ channel: 'webhook' }).groupBy('recipient');
      for (const recipient of await over.havingRaw('count(*) > ?', [perReceiver]).pluck('recipient')) {
        const ofReceiver = () => db('notices').where({ channel: 'webhook', recipient });
        const oldest = await ofReceiver().orderBy('id', 'desc').offset(perReceiver).first('id');
        if (oldest) await ofReceiver().where('id', '<=', oldest.id).delete();
      }
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
    triesBefore: 0,
    dueAt: notice.at,
    attempts: '[]',
  });

const toRecordedRow = (reminder: Reminder): Row => ({
  ...toNoticeRow({ ...reminder, channel: 'webhook', recipient: 'operator' }),
  channel: RECORDED,
  state: 'recorded',
  due_at: null,
});

/** A notice with all columns of its row, more than most callers ask for. */
function toNotice(row: object): StoredNotice & DueNotice {
  type Texts = Readonly<Record<'data' | 'attempts' | 'ownerId' | 'nextAt', string>>;
  type Columns = Omit<StoredNotice & DueNotice, keyof Texts> & Texts;
  // Only older versions use `nextAt`.
  const { data, attempts, ownerId: owner, nextAt: _, ...notice } = fromRow<Columns>(row);
  return { ...notice, owner, data: JSON.parse(data), attempts: JSON.parse(attempts) };
}
