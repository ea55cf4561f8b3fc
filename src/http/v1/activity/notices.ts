// /api/v1/notices: the notices, with channel and the receiver's answer.
import { z } from 'zod';
import { CHANNELS, NOTICE_STATES, RECIPIENTS, type StoredNotice } from '../../../core/notices/notice.js';
import { DAY_MS, withTimes } from '../../../core/time/clock.js';
import { failure } from '../../api/problem.js';
import { DONE, routesOf } from '../../api/route.js';
import { Count, component, Guid, openPageOf, Time } from '../../api/schemas.js';
import { idCursors } from '../cursors.js';

export const NoticeChannel = z.enum(CHANNELS).meta({ id: 'NoticeChannel' });
export const NoticeState = z.enum(NOTICE_STATES).meta({ id: 'NoticeState' });

export const Notice = component('Notice', {
  id: Guid,
  /** `account.expiring`, `account.expired`, `account.quota-80`, `accounts.digest`, `logins.failing`, `run.failed`, `token.create` … */
  type: z.string(),
  at: Time,
  channel: NoticeChannel,
  recipient: z.enum(RECIPIENTS),
  /** The account of the announced event; null: none. */
  accountId: Guid.nullable(),
  data: z.record(z.string(), z.unknown()),
  state: NoticeState,
  tries: Count,
  triedAt: Time.nullable(),
  /** Time of the next attempt; null: none follows. */
  nextTryAt: Time.nullable(),
  /** The receiver's answer to the newest attempt, or the reason of its failure. */
  detail: z.string().nullable(),
});

const NoticePage = openPageOf(Notice)
  .extend({
    /** Number of waiting notices of the channel, or of all. */
    waiting: Count,
  })
  .meta({ id: 'NoticePage' });

const { route } = routesOf('Notices');

export const noticeRoutes = [
  route('GET /api/v1/notices', 'listNotices', 'settings:read', {
    summary: 'Notices to the operator and to players, newest first.',
    request: {
      query: idCursors.PageQuery.extend({
        state: NoticeState.optional(),
        channel: NoticeChannel.optional(),
        account: Guid.optional(),
      }),
    },
    success: [200, 'A page.', NoticePage],
    async handle(
      { query: { limit, cursor, account: accountId, ...filter } },
      { notices, noticesSetting, now },
    ) {
      const since = now() - noticesSetting.current().historyDays * DAY_MS;
      const before = idCursors.placeOf(cursor) ?? undefined;
      const found = await notices.list({ ...filter, accountId, before, since, limit: limit + 1 });
      const { items, nextCursor } = idCursors.page(found, limit, ({ id }) => id);
      const waiting = await notices.waiting({ channel: filter.channel });
      return { body: { items: items.map(presentNotice), nextCursor, waiting } };
    },
  }),
  route('POST /api/v1/notices/discard', 'discardNotices', 'settings:write', {
    summary: 'Discards what waits to be sent: all, or the notices of a channel or to a kind of recipient.',
    request: {
      body: component('NoticesToDiscard', {
        channel: NoticeChannel.optional(),
        recipient: z.enum(RECIPIENTS).optional(),
      }),
    },
    success: [200, 'The number of discarded notices.', z.object({ discarded: Count })],
    async handle({ body }, { notices, changes }) {
      const discarded = await notices.discard(body);
      changes.notify('notices');
      return { body: { discarded } };
    },
  }),
  route('POST /api/v1/notices/{id}/retry', 'retryNotice', 'settings:write', {
    summary:
      'Sends a failed notice again, with a new set of attempts; 409 while it waits for its next attempt.',
    success: [204, 'The notice is due now.'],
    problems: [409],
    async handle({ params }, { notices, wakeNotices, now }) {
      const result = await notices.retry(params.id, now());
      if (result === null) return failure('not-found', 'no-notice');
      if (result === 'pending') return failure('conflict', 'notice-waits');
      wakeNotices();
      return DONE;
    },
  }),
];

export function presentNotice(stored: StoredNotice) {
  const {
    key: _,
    keepUntil: _until,
    owner: _owner,
    triesBefore: _before,
    attempts: _all,
    dueAt,
    ...notice
  } = stored;
  return withTimes({ ...notice, nextTryAt: dueAt }, 'at', 'triedAt', 'nextTryAt');
}
