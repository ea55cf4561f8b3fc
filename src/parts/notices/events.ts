// Events to receivers, which are notices by the channel `webhook`: finds those of changes, logins and sessions, and sends them.
import { createSignedPost } from '../../agents/channels/http.js';
import type { Config } from '../../config.js';
import { parseIp } from '../../core/addresses/ip.js';
import type { DeliveryOutcome } from '../../core/agents/runs.js';
import type { Operators } from '../../core/auth/operators.js';
import { createOrderedIds } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import { getOrAdd } from '../../core/maps.js';
import { auditEvents, type EventName, isOfNotices } from '../../core/notices/event-types.js';
import type { Announcement, Notice } from '../../core/notices/notice.js';
import type { Event, EventReceiver, EventReceivers } from '../../core/notices/receivers.js';
import { eventNotice, eventNotices } from '../../core/notices/receivers.js';
import type { Session, SessionSummary } from '../../core/sessions/session.js';
import { iso } from '../../core/time/clock.js';
import { createEgressPolicies } from '../../proxy/connection/target.js';
import { createIsLocalAddress } from '../../proxy/local-addresses.js';
import type { ProxyPlane } from '../../proxy/plane/plane.js';
import type { Core } from '../core.js';
import type { GeoPart } from '../geo.js';
import { createTasks } from '../lifecycle.js';

/** How often the audit log is looked at for events, in ms. */
const LOOK_MS = 500;
/** Entries of the audit log in one transaction. */
const BATCH = 200;
/** Most sessions in one event. */
const MAX_SESSIONS = 500;

export type EventsPart = ReturnType<typeof createEventsPart>;

export function createEventsPart(deps: {
  readonly config: Pick<Config, 'events' | 'egress'>;
  readonly core: Pick<Core, 'store' | 'directory' | 'sessions'>;
  readonly settings: { readonly eventReceivers: EventReceivers };
  readonly operators: Pick<Operators, 'get'>;
  readonly plane: Pick<ProxyPlane, 'ownPorts'>;
  readonly geo: Pick<GeoPart, 'geo'>;
  readonly log: Log;
  readonly now: () => number;
}) {
  const { log, now, operators } = deps;
  const { directory, sessions, store } = deps.core;
  const { timeoutMs, sellerPerHour, sessionBatchMs } = deps.config.events;
  const { eventReceivers } = deps.settings;
  const tasks = createTasks(log);
  const newId = createOrderedIds(now);
  const wasWritten = store.watchWrites();
  /** Whether the audit log may have something new. */
  let isDue = true;
  let onAdded = (_receivers: ReadonlySet<string>): void => undefined;

  const { classes: _, ...rules } = deps.config.egress;
  const egressOf = createEgressPolicies(
    { egress: { ...rules, private: 'deny' }, egressClasses: {} },
    deps.plane.ownPorts,
    createIsLocalAddress(() => performance.now()),
    deps.geo.geo,
  );
  /** A seller reaches what its players reach, and of private addresses only those that `egress.allow` names. */
  function maySellerConnect(host: string, address: string, port: number): boolean {
    const ip = parseIp(address);
    return (
      ip !== null && egressOf(null)?.judge({ host: host === address ? null : host, ip, port }).ok === true
    );
  }

  function isActive({ owner, isEnabled }: EventReceiver): boolean {
    const seller = owner === null ? null : operators.get(owner);
    return isEnabled && (seller === null || (seller?.role === 'seller' && seller.isEnabled));
  }
  const active = (): readonly EventReceiver[] => eventReceivers.current().filter(isActive);
  const noticesOf = (event: Event, ofSeller: string | null) => eventNotices(event, ofSeller, active(), newId);

  async function add(event: Event, ofSeller: string | null): Promise<void> {
    const notices = noticesOf(event, ofSeller);
    await store.notices.add(notices);
    onAdded(new Set(notices.map(({ recipient }) => recipient)));
  }

  async function announce(): Promise<void> {
    isDue = wasWritten() || isDue;
    if (!isDue) return;
    const added = new Set<string>();
    const make: Parameters<typeof store.notices.announce>[1] = (entry, owner) => {
      const made = auditEvents(entry).flatMap((event) => noticesOf(event, owner));
      for (const { recipient } of made) added.add(recipient);
      return made;
    };
    while ((await store.notices.announce(BATCH, make)) === BATCH);
    isDue = false;
    onAdded(added);
  }

  let batches = new Map<string, { type: EventName; owner: string | null; sessions: object[] }>();
  function note(type: 'session.opened' | 'session.closed', session: Session, summary?: SessionSummary): void {
    if (!eventReceivers.current().some(({ types }) => types.includes(type))) return;
    const { id, accountId: account, username, client, openedAt } = session;
    const { host, port } = session.destination;
    const { bytesUp, bytesDown, durationMs, end } = summary ?? {};
    const owner = directory.byId(account)?.owner ?? null;
    const batch = getOrAdd(batches, `${type} ${owner}`, () => ({ type, owner, sessions: [] }));
    batch.sessions.push({
      id,
      account,
      username,
      client: client.address,
      destination: { host, port },
      openedAt: iso(openedAt),
      bytesUp,
      bytesDown,
      durationMs,
      end,
    });
  }
  async function addSessions(): Promise<void> {
    const all = [...batches.values()];
    batches = new Map();
    for (const { type, owner, sessions } of all)
      while (sessions.length > 0) {
        const data = { sessions: sessions.splice(0, MAX_SESSIONS) };
        await add({ key: `sessions ${newId()}`, type, at: now(), accountId: null, data }, owner);
      }
  }
  sessions.subscribe({
    opened: (session) => note('session.opened', session),
    closed: (session, summary) => note('session.closed', session, summary),
    passed(session, summary) {
      note('session.opened', session);
      note('session.closed', session, summary);
    },
  });

  /** Returns null when the receiver was switched off or removed. */
  async function send(
    { id, type, at, data, recipient }: Omit<Notice, 'key'>,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome | null> {
    const receiver = eventReceivers.get(recipient);
    if (!receiver || !(isActive(receiver) || type === 'test')) return null;
    const { url, secret, owner } = receiver;
    const mayConnect = owner === null ? undefined : maySellerConnect;
    const post = createSignedPost({ url, secret, timeoutMs, now, mayConnect });
    return post(id, JSON.stringify({ id, type, at: iso(at), data }), signal);
  }

  return {
    name: 'events',
    active,
    send,
    /** @param listener gets the ids of the receivers for which something was added */
    onAdded(listener: typeof onAdded): void {
      onAdded = listener;
    },

    /** Returns the notices of what notices have found; none if it is no event, or one that another source has. */
    noticesOf: (found: Announcement, ofSeller: string | null): Notice[] =>
      isOfNotices(found.type) ? noticesOf(found, ofSeller) : [],

    /** Call it at a login of an account that had none before. */
    firstLogin(accountId: string, at: number): void {
      const account = directory.byId(accountId);
      if (!account) return;
      const data = { account: accountId, username: account.username };
      const event = { key: `first-login ${accountId}`, type: 'account.first-login' } as const;
      add({ ...event, at, accountId, data }, account.owner).catch((err: unknown) =>
        log.error({ err }, 'announcing a first login failed'),
      );
    },

    /** Sends a test event now. Returns its outcome; null: the seller has made as many attempts as it may. */
    async test(receiver: EventReceiver): Promise<DeliveryOutcome | null> {
      const at = now();
      const event = { key: `test ${newId()}`, type: 'test', at, accountId: null, data: {} } as const;
      const notice = eventNotice(event, receiver, newId());
      const ofSeller = receiver.owner === null ? Number.POSITIVE_INFINITY : sellerPerHour;
      const bounds = { sellerPerHour: ofSeller, perMinute: Number.POSITIVE_INFINITY };
      if (!(await store.notices.addSent(notice, bounds))) return null;
      const sent = await send(notice, AbortSignal.timeout(timeoutMs));
      const outcome = sent ?? { ok: false, detail: 'the receiver was removed', again: false };
      const { ok: delivered, detail } = outcome;
      const state = delivered ? 'delivered' : 'failed';
      const attempts = [{ at, tookMs: Math.max(0, now() - at), delivered, detail }];
      await store.notices.tried(notice.key, { state, dueAt: null, detail, attempts });
      return outcome;
    },

    start() {
      tasks.every(LOOK_MS, 'events', announce);
      tasks.every(sessionBatchMs, 'events of sessions', addSessions);
    },
    async stop() {
      await tasks.stop();
      await addSessions();
    },
  };
}
