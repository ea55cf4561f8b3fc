// /api/v1/event-receivers and /api/v1/event-deliveries: who is sent events, and what each was sent, with every attempt. Sellers have
// receivers of their own.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isHttpUrl } from '../../../core/addresses/endpoints.js';
import { withoutUndefined } from '../../../core/maps.js';
import { EVENT_NAMES, type EventName, isOfAccount } from '../../../core/notices/event-types.js';
import { type EventReceiver, newSecret, type ReceiverRefusal } from '../../../core/notices/receivers.js';
import { withTimes } from '../../../core/time/clock.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import { DONE, routesOf } from '../../api/route.js';
import { Count, component, fault, Guid, openPageOf, Time } from '../../api/schemas.js';
import { actorOf, type Caller } from '../../caller.js';
import type { Services } from '../../services.js';
import { idCursors } from '../cursors.js';
import { TestResult } from '../settings/notices.js';
import { Notice, NoticeState, presentNotice } from './notices.js';

const EventType = z.enum(EVENT_NAMES).meta({ id: 'EventType' });
const Fields = z.object({
  url: z.string().max(2_000).refine(isHttpUrl, fault('url')),
  types: z.array(EventType).min(1).max(EVENT_NAMES.length),
  isEnabled: z.boolean(),
});
const Receiver = Fields.extend({
  id: Guid,
  /** Name of the seller whose it is; null: the administrator. */
  owner: z.string().nullable(),
  /** `whsec_…`, the key of the signatures, in the answer that makes it; null in all others. */
  secret: z.string().nullable(),
  createdAt: Time,
}).meta({ id: 'EventReceiver' });

const Delivery = Notice.omit({ channel: true, recipient: true })
  .extend({
    receiver: Guid,
    /** The newest ones, oldest first. */
    attempts: z.array(z.object({ at: Time, tookMs: Count, delivered: z.boolean(), detail: z.string() })),
  })
  .meta({ id: 'EventDelivery' });

const { route } = routesOf('Event receivers');
const path = '/api/v1/event-receivers';
// A receiver outlasts the console session that makes it.
const needsConfirmation = true;

export const eventReceiverRoutes = [
  route(`GET ${path}`, 'listEventReceivers', 'events:read', {
    summary: 'The caller’s receivers, or all for the administrator, and the types that they may have.',
    success: [
      200,
      'All of them.',
      component('EventReceivers', { items: z.array(Receiver), types: z.array(EventType) }),
    ],
    async handle({ caller }, services) {
      const own = services.eventReceivers.current().filter((each) => isOwn(caller, each));
      return { body: { items: own.map((each) => presented(services, each, null)), types: typesFor(caller) } };
    },
  }),
  route(`POST ${path}`, 'addEventReceiver', 'events:write', {
    summary: 'Adds a receiver of events, which are signed as Standard Webhooks.',
    needsConfirmation,
    request: { body: Fields.partial({ isEnabled: true }).meta({ id: 'NewEventReceiver' }) },
    success: [201, 'Added; only this answer has the secret.', Receiver],
    problems: [409],
    async handle({ body, caller, kept }, services) {
      const refused = typesProblem(caller, body.types);
      if (refused) return refused;
      const of = { id: randomUUID(), owner: caller.operator?.id ?? null, createdAt: services.now() };
      const secret = kept.secret('secret', newSecret);
      const receiver = { isEnabled: true, ...withoutUndefined(body), ...of, secret };
      const refusal = await services.eventReceivers.add(receiver, actorOf(caller));
      return refusal ? problemOf(refusal) : saved(services, receiver, secret);
    },
  }),
  route(`PATCH ${path}/{id}`, 'changeEventReceiver', 'events:write', {
    summary: 'Changes the given fields. What waits for a receiver that is switched off is discarded.',
    needsConfirmation,
    renews: true,
    request: {
      body: Fields.partial()
        /** Replaces the secret; the answer has the new one. */
        .extend({ newSecret: z.boolean().optional() })
        .meta({ id: 'EventReceiverChange' }),
    },
    success: [200, 'Changed.', Receiver],
    async handle({ params: { id }, body: { newSecret: isNew, ...fields }, caller, kept }, services) {
      const own = ownOf(services, caller, id);
      const refused = own ? typesProblem(caller, fields.types) : problemOf('no-receiver');
      if (refused) return refused;
      const secret = isNew ? kept.secret('secret', newSecret) : null;
      const change = { ...withoutUndefined(fields), ...(secret === null ? {} : { secret }) };
      const refusal = await services.eventReceivers.set(id, change, actorOf(caller));
      if (refusal) return problemOf(refusal);
      if (fields.isEnabled === false) await services.notices.discard({ channel: 'webhook', recipient: id });
      const receiver = services.eventReceivers.get(id);
      return receiver ? saved(services, receiver, secret) : problemOf('no-receiver');
    },
  }),
  route(`DELETE ${path}/{id}`, 'removeEventReceiver', 'events:write', {
    summary: 'Removes a receiver; what waits for it is discarded.',
    success: [204, 'Removed.'],
    async handle({ params: { id }, caller }, services) {
      if (!ownOf(services, caller, id)) return problemOf('no-receiver');
      const refusal = await services.eventReceivers.remove(id, actorOf(caller));
      if (refusal) return problemOf(refusal);
      await services.notices.discard({ channel: 'webhook', recipient: id });
      services.onSettingChanged();
      return DONE;
    },
  }),
  route(`POST ${path}/{id}/test`, 'testEventReceiver', 'events:write', {
    summary: 'Sends an event of the type `test` now, whatever types the receiver has.',
    success: [200, 'How it went.', TestResult],
    problems: [409],
    async handle({ params: { id }, caller }, services) {
      const receiver = ownOf(services, caller, id);
      if (!receiver) return problemOf('no-receiver');
      const outcome = await services.testReceiver(receiver);
      services.changes.notify('notices');
      if (outcome === null) return failure('conflict', 'seller-attempts');
      return { body: { delivered: outcome.ok, detail: outcome.detail } };
    },
  }),
  route('GET /api/v1/event-deliveries', 'listEventDeliveries', 'events:read', {
    summary: 'What receivers were sent, newest first, with each attempt.',
    request: {
      query: idCursors.PageQuery.extend({ receiver: Guid.optional(), state: NoticeState.optional() }),
    },
    success: [200, 'A page.', openPageOf(Delivery, 'EventDeliveryPage')],
    async handle({ query: { limit, cursor, receiver: recipient, state }, caller }, { notices }) {
      const before = idCursors.placeOf(cursor) ?? undefined;
      const of = { ...scopeOf(caller), recipient, state, since: 0, before };
      const found = await notices.list({ ...of, limit: limit + 1 });
      const { items, nextCursor } = idCursors.page(found, limit, ({ id }) => id);
      const shown = items.map((notice) => {
        const { channel: _, recipient: receiver, ...delivery } = presentNotice(notice);
        return { ...delivery, receiver, attempts: notice.attempts.map((each) => withTimes(each, 'at')) };
      });
      return { body: { items: shown, nextCursor } };
    },
  }),
  route('POST /api/v1/event-deliveries/{id}/retry', 'retryEventDelivery', 'events:write', {
    summary: 'Sends an event again, with a new set of attempts; 409 while it waits for its next attempt.',
    success: [204, 'The delivery is due now.'],
    problems: [409],
    async handle({ params: { id }, caller }, { notices, wakeNotices, now }) {
      const result = await notices.retry(id, now(), scopeOf(caller));
      if (result === null) return failure('not-found', 'no-delivery');
      if (result === 'pending') return failure('conflict', 'delivery-waits');
      wakeNotices();
      return DONE;
    },
  }),
];

const scopeOf = ({ operator }: Caller) => ({ channel: 'webhook', owner: operator?.id }) as const;

const isOwn = ({ operator }: Caller, { owner }: EventReceiver): boolean =>
  operator === null || owner === operator.id;

function ownOf({ eventReceivers }: Services, caller: Caller, id: string): EventReceiver | null {
  const receiver = eventReceivers.get(id);
  return receiver && isOwn(caller, receiver) ? receiver : null;
}

/** Sellers are sent no others than those of accounts. */
const typesFor = ({ operator }: Caller) =>
  EVENT_NAMES.filter((name) => operator === null || isOfAccount(name));

function typesProblem(caller: Caller, types: readonly EventName[] = []): ProblemAnswer | null {
  const allowed = typesFor(caller);
  const index = types.findIndex((type) => !allowed.includes(type));
  return index < 0 ? null : invalid(`body.types.${index}`, 'option', { allowed: allowed.join(', ') });
}

function saved(services: Services, receiver: EventReceiver, secret: string | null) {
  services.onSettingChanged();
  return { body: presented(services, receiver, secret) };
}

function presented({ operators }: Services, receiver: EventReceiver, secret: string | null) {
  const { owner } = receiver;
  const name = owner === null ? null : (operators.get(owner)?.name ?? owner);
  return { ...withTimes(receiver, 'createdAt'), owner: name, secret };
}

const problemOf = (refusal: ReceiverRefusal): ProblemAnswer =>
  failure(refusal === 'no-receiver' ? 'not-found' : 'conflict', refusal);
