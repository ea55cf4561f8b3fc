// Notices to the operator and to players: finds events once a minute, and delivers the notices of each channel from an outbox.
import { createNoticeSender, type NoticeMessage, type SendNotice } from '../agents/channels/notices.js';
import { createOutbox, nextTryAt, type Outbox } from '../agents/channels/outbox.js';
import type { Config } from '../config.js';
import { type Contacts, NO_CONTACTS } from '../core/accounts/fields/contacts.js';
import type { DeliveryOutcome } from '../core/agents/runs.js';
import { MINUTE_MS } from '../core/clock.js';
import { createOrderedIds } from '../core/ids.js';
import type { Log } from '../core/log.js';
import {
  createConfirmations,
  type IsTrusted,
  type NoticeReach,
  reachOf,
  trustedContacts,
  trustOf,
} from '../core/notices/confirmations.js';
import { CHANNELS, type DueNotice, type Notice, type NoticeChannel } from '../core/notices/notice.js';
import { addressOf, type NoticeSettings, operatorAddress, sendsTo } from '../core/notices/notice-settings.js';
import { createNotices } from '../core/notices/notices.js';
import { textOf } from '../core/notices/texts.js';
import type { ChangeSignal } from '../core/stats/change-signal.js';
import type { Core } from './core.js';
import type { NodePart } from './database/node.js';
import { createTasks } from './lifecycle.js';
import type { OperatorSettings } from './operator-settings.js';
import { createStateAlerts } from './state-alerts.js';

interface NoticePreview {
  readonly before: NoticeReach;
  readonly after: NoticeReach;
  readonly discarded: number;
}

export type NoticesPart = ReturnType<typeof createNoticesPart>;

export function createNoticesPart(deps: {
  readonly config: Pick<Config, 'notices' | 'admin' | 'socks'>;
  readonly node: Pick<NodePart, 'nodeName'>;
  readonly core: Pick<Core, 'store' | 'directory' | 'usage'>;
  readonly settings: Pick<OperatorSettings, 'noticesSetting'>;
  readonly stats: { readonly changes: Pick<ChangeSignal, 'notify'> };
  readonly log: Log;
  readonly now: () => number;
}) {
  const { core, log, now } = deps;
  const { timeoutMs, lookEveryMs, maxTries, backoffMs, sellerPerHour, ...file } = deps.config.notices;
  const { contactCodes } = core.store;
  const { changes } = deps.stats;
  const store = core.store.notices;
  const setting = deps.settings.noticesSetting;
  const newId = createOrderedIds(now);
  const notices = createNotices({
    store,
    contactCodes,
    audit: core.store.audit,
    stateAlerts: createStateAlerts({
      config: deps.config,
      nodes: core.store.nodes,
      nodeName: deps.node.nodeName,
      now,
    }),
    settings: setting.current,
    accounts: () => core.directory.all(),
    account: (id) => core.directory.byId(id),
    quotaUse(account) {
      const { quotaBytes } = account.limits;
      if (quotaBytes === null) return null;
      const { periodBytes, periodStartedAt, periodEndsAt } = core.usage.lastView(account);
      return { usedBytes: periodBytes, quotaBytes, period: String(periodStartedAt), endsAt: periodEndsAt };
    },
    midnight: (at) => core.store.calendar.periodStart('day', at) ?? at,
    maxLoginFailures: file.loginFailures,
    loginFailureWindowMs: file.loginFailureWindowMs,
    now,
    newId,
  });

  const senderOf = (
    channel: NoticeChannel,
    settings: NoticeSettings = setting.current(),
  ): SendNotice | null => createNoticeSender(channel, settings, { timeoutMs, now });

  const contactsOf = (
    { recipient, accountId }: Pick<Notice, 'recipient' | 'accountId'>,
    isTrusted: IsTrusted = () => true,
  ): Contacts => {
    const account = recipient === 'player' ? core.directory.byId(accountId ?? '') : undefined;
    return account ? trustedContacts(account, isTrusted) : NO_CONTACTS;
  };

  function messageOf(notice: Omit<Notice, 'key' | 'keepUntil'>, to: string): NoticeMessage {
    const { id, type, at, data, recipient } = notice;
    const settings = setting.current();
    const language = contactsOf(notice).language ?? settings.language;
    const text = textOf(notice, recipient, language, settings, now());
    return { id, to, ...text, body: { id, type, at: new Date(at).toISOString(), data } };
  }

  /** Returns null when the channel was switched off, or the player's address removed or not confirmed. */
  async function send(notice: DueNotice, signal: AbortSignal): Promise<DeliveryOutcome | null> {
    const { channel, recipient } = notice;
    const sender = senderOf(channel);
    // Use the current settings, so that a corrected address applies to the next attempt.
    const isTrusted = trustOf(
      setting.current(),
      recipient === 'player' ? await contactCodes.confirmed(notice.accountId ?? '') : [],
    );
    const to = addressOf(setting.current(), channel, recipient, contactsOf(notice, isTrusted));
    if (!sender || to === null) return null;
    return sender(messageOf(notice, to), signal);
  }

  async function attempt(notice: DueNotice, signal: AbortSignal): Promise<void> {
    const { key, type, channel } = notice;
    // Twice the time limit of an attempt: if this daemon ends during the attempt, another attempt follows.
    if (!(await store.claim(notice, now(), now() + 2 * timeoutMs))) return;
    const outcome = await send(notice, signal);
    if (outcome === null)
      return store.tried(key, { state: 'discarded', dueAt: null, detail: 'no longer set up, or no address' });
    // The shutdown interrupted this attempt: it does not count, and the notice is due again at the next start.
    if (!outcome.ok && signal.aborted) return store.release(notice);
    const dueAt = nextTryAt(outcome, notice.tries + 1, { maxTries, backoffMs }, now(), Math.random);
    const state = outcome.ok ? 'delivered' : dueAt === null ? 'failed' : 'pending';
    await store.tried(key, { state, dueAt, detail: outcome.detail });
    changes.notify('notices');
    if (state === 'failed') log.warn({ type, key, channel, detail: outcome.detail }, 'notice not delivered');
  }

  /** Each channel has its own outbox, so that a channel that is slow or at its limit delays no other. */
  function outboxOf(channel: NoticeChannel): Outbox {
    const tried = () => store.triedBetween(channel, now() - MINUTE_MS, now());
    const room = (count: number) => Math.max(0, setting.current().perMinute - count);
    return createOutbox<DueNotice>({
      name: 'notices',
      due: async (limit) =>
        store.due(channel, now(), Math.min(limit, room((await tried()).count)), sellerPerHour),
      async nextDueAt() {
        const at = await store.nextDueAt(channel, now(), sellerPerHour);
        const { count, first } = await tried();
        if (at === null || first === null || room(count) > 0) return at;
        return Math.max(at, first + MINUTE_MS);
      },
      keyOf: ({ key }) => key,
      attempt,
      concurrency: 1,
      now,
      log,
    });
  }

  const confirmations = createConfirmations({
    store: { ...store, ...contactCodes },
    settings: setting.current,
    async sendTo({ id, type, at, channel }, to, text) {
      const message = { id, to, ...text, body: { id, type, at: new Date(at).toISOString() } };
      const sent = await senderOf(channel)?.(message, AbortSignal.timeout(timeoutMs));
      changes.notify('notices');
      return sent ?? { ok: false, detail: 'no longer set up', again: false };
    },
    sellerPerHour,
    now,
    newId,
  });

  /** Loads what a channel needs before it is used: by then an upgrade may have replaced the program's files. */
  const prepare = () => {
    for (const channel of CHANNELS) senderOf(channel);
  };
  const outboxes = CHANNELS.map(outboxOf);
  const wake = () => {
    for (const outbox of outboxes) outbox.wake();
  };
  const tasks = createTasks(log);
  const announce = async (): Promise<void> => {
    if (await notices.announce()) changes.notify('notices');
    wake();
  };
  return {
    name: 'notices',
    /** Counts a guess of a client address at a player's name or password. */
    guessed: notices.guessed,
    /** A limit of the guard has slowed or refused uses of an account, or has suspended it until a time. */
    guarded: notices.guarded,
    confirmations,
    /** Delivers due notices of all channels. Call it when a notice became due. */
    wake,

    /** Returns what the current settings send and what others would, and how many waiting notices these would discard. */
    async preview(settings: NoticeSettings): Promise<NoticePreview> {
      const current = setting.current();
      const off = (await store.channels()).filter((way) => sendsTo(current, way) && !sendsTo(settings, way));
      const waiting = await Promise.all(
        off.map(({ channel, recipient }) => store.waiting({ channel, recipient })),
      );
      const confirmed = await contactCodes.confirmed();
      const reach = (of: NoticeSettings) => reachOf(of, core.directory.all(), trustOf(of, confirmed), now());
      return {
        before: reach(current),
        after: reach(settings),
        discarded: waiting.reduce((sum, each) => sum + each, 0),
      };
    },

    /**
     * Sends a test message to the operator now, by these settings. Returns its outcome, or null when the channel or the address is not
     * set.
     */
    async test(
      channel: NoticeChannel,
      settings: NoticeSettings,
      signal: AbortSignal,
    ): Promise<DeliveryOutcome | null> {
      const sender = senderOf(channel, settings);
      const to = operatorAddress(settings, channel);
      if (!sender || to === null) return null;
      const test = { id: newId(), type: 'test', at: now(), data: {}, accountId: null } as const;
      return sender(messageOf({ ...test, channel, recipient: 'operator' }, to), signal);
    },

    start() {
      prepare();
      wake();
      setting.onChanged(() => {
        prepare();
        notices.discardOff().then(wake, (err) => log.error({ err }, 'discarding notices failed; will retry'));
      });
      tasks.every(lookEveryMs, 'notices', announce);
    },
    async stop() {
      await Promise.all([tasks.stop(), ...outboxes.map((outbox) => outbox.stop(0))]);
    },
  };
}
