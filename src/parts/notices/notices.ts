// Notices to the operator and to players: finds events once a minute, and delivers the notices of each channel from an outbox.
import { createNoticeSender, type NoticeMessage } from '../../agents/channels/notices.js';
import { createOutbox, nextTryAt, type Outbox } from '../../agents/channels/outbox.js';
import type { Config } from '../../config.js';
import { type Contacts, NO_CONTACTS } from '../../core/accounts/fields/contacts.js';
import type { DeliveryOutcome } from '../../core/agents/runs.js';
import { createOrderedIds } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import { getOrAdd } from '../../core/maps.js';
import type { IsTrusted } from '../../core/notices/confirmations.js';
import { createConfirmations, reachOf, trustedContacts, trustOf } from '../../core/notices/confirmations.js';
import { CHANNELS, type DueNotice, type Notice, type NoticeChannel } from '../../core/notices/notice.js';
import {
  addressOf,
  type NoticeSettings,
  operatorAddress,
  sendsTo,
} from '../../core/notices/notice-settings.js';
import { createNotices } from '../../core/notices/notices.js';
import { textOf } from '../../core/notices/texts.js';
import type { ChangeSignal } from '../../core/stats/change-signal.js';
import { MINUTE_MS } from '../../core/time/clock.js';
import type { Core } from '../core.js';
import type { StoragePart } from '../database/database.js';
import type { NodePart } from '../database/node.js';
import { createTasks } from '../lifecycle.js';
import type { OperatorSettings } from '../operator-settings.js';
import type { EventsPart } from './events.js';
import { createStateAlerts } from './state-alerts.js';

/** Of one notice, the newest that are kept. */
const MAX_ATTEMPTS = 50;
/** Most attempts to one receiver at once. */
const MAX_TO_RECEIVER = 4;

export type NoticesPart = ReturnType<typeof createNoticesPart>;

export function createNoticesPart(deps: {
  readonly config: Pick<Config, 'notices' | 'events' | 'admin' | 'socks'>;
  readonly node: Pick<NodePart, 'nodeName'>;
  readonly core: Pick<Core, 'store' | 'directory' | 'usage'>;
  readonly settings: Pick<OperatorSettings, 'noticesSetting'>;
  readonly events: Pick<EventsPart, 'active' | 'send' | 'noticesOf' | 'onAdded'>;
  readonly storage: Pick<StoragePart, 'endedTroubles'>;
  readonly stats: { readonly changes: Pick<ChangeSignal, 'notify'> };
  readonly log: Log;
  readonly now: () => number;
}) {
  const { core, events, log, now } = deps;
  const ofEvents = deps.config.events;
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
      endedTroubles: deps.storage.endedTroubles,
      now,
    }),
    settings: setting.current,
    eventsOf: events.noticesOf,
    hasReceivers: () => events.active().length > 0,
    keptPerReceiver: ofEvents.keptPerReceiver,
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

  const senderOf = (channel: NoticeChannel, settings: NoticeSettings = setting.current()) =>
    createNoticeSender(channel, settings, { timeoutMs, now });

  const contactsOf = (
    { recipient, accountId }: Pick<Notice, 'recipient' | 'accountId'>,
    isTrusted: IsTrusted = () => true,
  ): Contacts => {
    const account = recipient === 'player' ? core.directory.byId(accountId ?? '') : undefined;
    return account ? trustedContacts(account, isTrusted) : NO_CONTACTS;
  };

  function messageOf(
    notice: Pick<Notice, 'id' | 'type' | 'data' | 'recipient' | 'accountId'>,
    to: string,
  ): NoticeMessage {
    const recipient = notice.recipient === 'player' ? 'player' : 'operator';
    const settings = setting.current();
    const language = contactsOf(notice).language ?? settings.language;
    const text = textOf(notice, recipient, language, settings, now());
    return { id: notice.id, to, ...text };
  }

  /** Returns null when the channel was switched off, or the player's address removed or not confirmed. */
  async function send(notice: DueNotice, signal: AbortSignal): Promise<DeliveryOutcome | null> {
    const { channel, recipient } = notice;
    if (channel === 'webhook') return events.send(notice, signal);
    const sender = senderOf(channel);
    // Use the current settings, so that a corrected address applies to the next attempt.
    const isTrusted = trustOf(
      setting.current(),
      recipient === 'player' ? await contactCodes.confirmed(notice.accountId ?? '') : [],
    );
    const to = addressOf(setting.current(), notice, contactsOf(notice, isTrusted));
    if (!sender || to === null) return null;
    return sender(messageOf(notice, to), signal);
  }

  async function attempt(notice: DueNotice, signal: AbortSignal): Promise<void> {
    const { key, type, channel, tries, triesBefore } = notice;
    const schedule = channel === 'webhook' ? ofEvents : deps.config.notices;
    const at = now();
    // Twice the time limit of an attempt: if this daemon ends during the attempt, another attempt follows.
    if (!(await store.claim(notice, at, at + 2 * schedule.timeoutMs))) return;
    const outcome = await send(notice, signal);
    if (outcome === null)
      return store.tried(key, { state: 'discarded', dueAt: null, detail: 'no longer set up, or no address' });
    // The shutdown interrupted this attempt: it does not count, and the notice is due again at the next start.
    if (!outcome.ok && signal.aborted) return store.release(notice);
    const dueAt = nextTryAt(outcome, tries - triesBefore + 1, schedule, now(), Math.random);
    const state = outcome.ok ? 'delivered' : dueAt === null ? 'failed' : 'pending';
    const { ok: delivered, detail } = outcome;
    const made = { at, tookMs: Math.max(0, now() - at), delivered, detail };
    const attempts = [...notice.attempts, made].slice(-MAX_ATTEMPTS);
    await store.tried(key, { state, dueAt, detail, attempts });
    changes.notify('notices');
    if (state === 'failed') log.warn({ type, key, channel, detail }, 'notice not delivered');
  }

  /** Each channel and each receiver has its own outbox, so that one that is slow or at its limit delays no other. */
  function outboxOf(of: Pick<Notice, 'channel'> & { readonly recipient?: string }): Outbox {
    const isWebhook = of.channel === 'webhook';
    const perSeller = isWebhook ? ofEvents.sellerPerHour : sellerPerHour;
    /** How many notices may be tried now, and when the first of the last minute was. */
    async function room(): Promise<{ left: number; first: number | null }> {
      if (isWebhook) return { left: Number.POSITIVE_INFINITY, first: null };
      const { count, first } = await store.triedBetween(of.channel, now() - MINUTE_MS, now());
      return { left: Math.max(0, setting.current().perMinute - count), first };
    }
    return createOutbox<DueNotice>({
      name: 'notices',
      due: async (limit) => store.due(of, now(), Math.min(limit, (await room()).left), perSeller),
      async nextDueAt() {
        const at = await store.nextDueAt(of, now(), perSeller);
        const { left, first } = await room();
        return at === null || first === null || left > 0 ? at : Math.max(at, first + MINUTE_MS);
      },
      keyOf: ({ key }) => key,
      attempt,
      concurrency: isWebhook ? MAX_TO_RECEIVER : 1,
      now,
      log,
    });
  }

  const confirmations = createConfirmations({
    store: { ...store, ...contactCodes },
    settings: setting.current,
    async sendTo({ id, channel }, to, text) {
      const sender = channel === 'webhook' ? null : senderOf(channel);
      const sent = await sender?.({ id, to, ...text }, AbortSignal.timeout(timeoutMs));
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
  const outboxes = new Map<string, Outbox>(CHANNELS.map((channel) => [channel, outboxOf({ channel })]));
  let isStopping = false;
  /** Delivers due events of receivers. Call it when one became due. */
  function wakeReceivers(ids: Iterable<string>): void {
    if (isStopping) return;
    for (const recipient of ids) {
      const outbox = getOrAdd(outboxes, recipient, () => outboxOf({ channel: 'webhook', recipient }));
      outbox.wake();
    }
  }
  events.onAdded(wakeReceivers);
  const wake = () => {
    wakeReceivers(events.active().map(({ id }) => id));
    for (const outbox of outboxes.values()) outbox.wake();
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
    async preview(settings: NoticeSettings) {
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
      const test = { id: newId(), type: 'test', data: {}, accountId: null, recipient: 'operator' } as const;
      return sender(messageOf(test, to), signal);
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
      isStopping = true;
      await Promise.all([tasks.stop(), ...Array.from(outboxes.values(), (outbox) => outbox.stop(0))]);
    },
  };
}
