// Who is sent events: the receivers of the administrator and of sellers, as one setting.
import { randomBytes } from 'node:crypto';
import { type Actor, differences } from '../audit/audit.js';
import { createAuditedSetting, type SettingStore } from '../settings/setting.js';
import { type EventName, eventNameOf, isOfAccount } from './event-types.js';
import type { Announcement, Notice } from './notice.js';

export interface EventReceiver {
  readonly id: string;
  /** The seller whose it is; null: the administrator's. */
  readonly owner: string | null;
  readonly url: string;
  readonly types: readonly EventName[];
  readonly isEnabled: boolean;
  /** `whsec_` and base64; null: without signatures, which only the configuration can say. */
  readonly secret: string | null;
  readonly createdAt: number;
}

export type ReceiverRefusal = 'no-receiver' | 'too-many-receivers';

/** Of the receiver of the configuration (`notices.url`), and of that which had its settings before version 3. */
export const CONFIGURED_RECEIVER_ID = '00000000-0000-4000-8000-000000000000';
/** Most receivers of all owners: they are one setting. */
const MAX_RECEIVERS = 1_000;
const SECRET_BYTES = 32;

export const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** What happened, whoever gets it. Its key is the same whenever and wherever it is found. */
export type Event = Omit<Announcement, 'keepUntil'>;

export const eventNotice = (event: Event, { id: recipient, owner }: EventReceiver, id: string): Notice => ({
  keepUntil: event.at,
  ...event,
  key: `${event.key} webhook ${recipient}`,
  id,
  channel: 'webhook',
  recipient,
  owner,
});

/** Returns the notices of an event: to the administrator's receivers of its type, and to those of the seller whose account it is. */
export function eventNotices(
  event: Event,
  ofSeller: string | null,
  receivers: readonly EventReceiver[],
  newId: () => string,
): Notice[] {
  const type = eventNameOf(event.type) as EventName;
  return receivers
    .filter(({ types }) => types.includes(type))
    .filter(({ owner }) => owner === null || (owner === ofSeller && isOfAccount(type)))
    .map((receiver) => eventNotice({ ...event, type }, receiver, newId()));
}

export type EventReceivers = ReturnType<typeof createEventReceivers>;

/**
 * @param ofFile that of the configuration, until an operator saves others
 * @param maxPerOwner most receivers of one seller, or of the administrator
 */
export function createEventReceivers(
  store: SettingStore,
  ofFile: readonly EventReceiver[],
  maxPerOwner: number,
) {
  const setting = createAuditedSetting<readonly EventReceiver[]>({
    store,
    key: 'event-receivers',
    name: 'event-receivers',
    initial: ofFile,
    // Also a new secret, which the log does not show, is a change.
    audited: (before, after) => ({ ...differences(shown(before), shown(after)), differs: true }),
  });

  /** Writes what `change` makes of a receiver; null: removes it. */
  const replace = (id: string, change: (stored: EventReceiver) => EventReceiver | null, by: Actor) =>
    setting.save<ReceiverRefusal>(
      (stored) => stored.flatMap((each) => (each.id === id ? (change(each) ?? []) : [each])),
      by,
      (stored) => (stored.some((each) => each.id === id) ? null : 'no-receiver'),
    );

  return {
    ...setting,
    get: (id: string): EventReceiver | undefined => setting.current().find((each) => each.id === id),

    add: (receiver: EventReceiver, by: Actor) =>
      setting.save<ReceiverRefusal>(
        (stored) => [...stored, receiver],
        by,
        (stored) => {
          const own = stored.filter(({ owner }) => owner === receiver.owner);
          const isFull = own.length >= maxPerOwner || stored.length >= MAX_RECEIVERS;
          return isFull ? 'too-many-receivers' : null;
        },
      ),
    set: (id: string, change: Partial<EventReceiver>, by: Actor) =>
      replace(id, (stored) => ({ ...stored, ...change }), by),
    remove: (id: string, by: Actor) => replace(id, () => null, by),
  };
}

/** As the audit log shows them: without secrets. */
const shown = (receivers: readonly EventReceiver[]): Record<string, object> =>
  Object.fromEntries(receivers.map(({ id, secret: _, ...fields }) => [id, fields]));
