// Addresses of players that a seller wrote down. Before anything else is sent to one, the player confirms it by a code: the daemon
// sends the code, without any text of the seller, and the player tells it to the seller, who enters it. The code, and the message
// that hands an account over, are sent at once: they have secrets, which are not stored.
import { createHash } from 'node:crypto';
import type { Account } from '../accounts/account.js';
import { type Contacts, maskedContact, NO_CONTACTS } from '../accounts/fields/contacts.js';
import type { DeliveryOutcome } from '../agents/runs.js';
import { newCode, plainCode } from '../auth/second-factor.js';
import { type Clock, DAY_MS, MINUTE_MS } from '../time/clock.js';
import { createTurns } from '../time/turns.js';
import { CHANNELS, type Notice, type NoticeStore, type SentAtOnce } from './notice.js';
import { addressOf, type NoticeSettings, sendsTo } from './notice-settings.js';
import { codeText, type NoticeText } from './texts.js';

export const CONFIRMED_CHANNELS = ['email', 'telegram'] as const;
export type ConfirmedChannel = (typeof CONFIRMED_CHANNELS)[number];

export interface PlayerAddress {
  readonly accountId: string;
  readonly channel: ConfirmedChannel;
  readonly address: string;
}

export interface ConfirmationStore {
  /** Returns the confirmed addresses, of one account or of all. */
  confirmed(accountId?: string): Promise<PlayerAddress[]>;
  /**
   * Stores the code of an address in place of an earlier one. Returns false when a code was sent to the address, for any account,
   * after `pauseSince`.
   */
  putCode(
    to: PlayerAddress,
    code: { readonly hash: string; readonly sentAt: number; readonly expiresAt: number },
    pauseSince: number,
  ): Promise<boolean>;
  /** Confirms an address by its code, which then ends. Counts a wrong code; after `maxTries` of them the code is invalid. */
  confirm(to: PlayerAddress, hash: string, now: number, maxTries: number): Promise<boolean>;
}

/** The accounts whose addresses count: confirmed by a code, or written down by the operator, or by sellers that the operator trusts. */
export type IsTrusted = (account: Account, channel: ConfirmedChannel) => boolean;

export function trustOf(
  { trustSellers }: Pick<NoticeSettings, 'trustSellers'>,
  confirmed: readonly PlayerAddress[],
): IsTrusted {
  const name = ({ accountId, channel, address }: PlayerAddress) => `${accountId} ${channel} ${address}`;
  const names = new Set(confirmed.map(name));
  return ({ id, owner, contacts }, channel) =>
    trustSellers ||
    owner === null ||
    names.has(name({ accountId: id, channel, address: contacts[channel] ?? '' }));
}

/** Returns the contacts of an account without addresses that nobody confirmed. */
export function trustedContacts(account: Account, isTrusted: IsTrusted): Contacts {
  const only = (channel: ConfirmedChannel) =>
    isTrusted(account, channel) ? account.contacts[channel] : null;
  return { ...account.contacts, email: only('email'), telegram: only('telegram') };
}

export type Sent =
  | { readonly ok: true; readonly delivered: boolean }
  | {
      readonly ok: false;
      readonly reason: 'channel-not-set' | 'no-address' | 'unconfirmed' | 'too-many-messages';
    };

/** Sends to an address of the account. */
type SendTo = (to: PlayerAddress) => Promise<Sent>;

export type Confirmations = ReturnType<typeof createConfirmations>;

const CODE_LIFE_MS = DAY_MS;
/** At most one code to an address within this time. */
const CODE_PAUSE_MS = 10 * MINUTE_MS;
const MAX_TRIES = 5;
const TOO_MANY = { ok: false, reason: 'too-many-messages' } as const;

const hashOf = (code: string): string => createHash('sha256').update(plainCode(code)).digest('hex');

export function createConfirmations(options: {
  readonly store: ConfirmationStore & Pick<NoticeStore, 'addSent' | 'tried'>;
  readonly settings: () => NoticeSettings;
  readonly sendTo: (notice: Notice, to: string, text: NoticeText) => Promise<DeliveryOutcome>;
  /** Most messages to the players of one seller within an hour. */
  readonly sellerPerHour: number;
  readonly now: Clock;
  readonly newId: () => string;
}) {
  const { store, settings, now } = options;
  const inTurn = createTurns();

  /** null: the account has no address of this kind. */
  async function states(
    account: Account,
  ): Promise<Record<ConfirmedChannel, 'trusted' | 'unconfirmed' | null>> {
    const isTrusted = trustOf(settings(), await store.confirmed(account.id));
    const stateOf = (channel: ConfirmedChannel) =>
      account.contacts[channel] === null ? null : isTrusted(account, channel) ? 'trusted' : 'unconfirmed';
    return { email: stateOf('email'), telegram: stateOf('telegram') };
  }

  const isOn = (channel: ConfirmedChannel) => sendsTo(settings(), { channel, recipient: 'player' });

  async function inTurnTo(account: Account, channel: ConfirmedChannel, send: SendTo): Promise<Sent> {
    const address = account.contacts[channel];
    if (address === null) return { ok: false, reason: 'no-address' };
    if (!isOn(channel)) return { ok: false, reason: 'channel-not-set' };
    // One at a time, so that the bounds hold.
    return inTurn(account.owner ?? '', () => send({ accountId: account.id, channel, address }));
  }

  async function sendAtOnce(
    account: Account,
    to: PlayerAddress,
    type: SentAtOnce,
    text: NoticeText,
  ): Promise<Sent> {
    const [at, id] = [now(), options.newId()];
    const notice: Notice = {
      id,
      key: `${type} ${id}`,
      type,
      at,
      keepUntil: at,
      channel: to.channel,
      recipient: 'player',
      data: { account: account.id, username: account.username, to: maskedContact(to.address) },
      accountId: account.id,
      owner: account.owner,
    };
    const bounds = { sellerPerHour: options.sellerPerHour, perMinute: settings().perMinute };
    if (!(await store.addSent(notice, bounds))) return TOO_MANY;
    const { ok, detail } = await options.sendTo(notice, to.address, text);
    await store.tried(notice.key, { state: ok ? 'delivered' : 'failed', dueAt: null, detail });
    return { ok: true, delivered: ok };
  }

  return {
    states,

    sendCode: (account: Account, channel: ConfirmedChannel): Promise<Sent> =>
      inTurnTo(account, channel, async (to) => {
        const [at, code] = [now(), newCode()];
        const stored = { hash: hashOf(code), sentAt: at, expiresAt: at + CODE_LIFE_MS };
        if (!(await store.putCode(to, stored, at - CODE_PAUSE_MS))) return TOO_MANY;
        const text = codeText(code, account.contacts.language ?? settings().language);
        return sendAtOnce(account, to, 'contact.code', text);
      }),

    /** The channels by which the message that hands the account over can be sent. */
    async handoverChannels(account: Account): Promise<readonly ConfirmedChannel[]> {
      const of = await states(account);
      return CONFIRMED_CHANNELS.filter((channel) => of[channel] === 'trusted' && isOn(channel));
    },

    sendHandover: (account: Account, channel: ConfirmedChannel, text: NoticeText): Promise<Sent> =>
      inTurnTo(account, channel, async (to) => {
        const { [channel]: state } = await states(account);
        if (state !== 'trusted') return { ok: false, reason: 'unconfirmed' };
        return sendAtOnce(account, to, 'account.handover', text);
      }),

    /** Returns false for a wrong code, or one that has expired or was replaced. */
    async confirm({ id, contacts }: Account, channel: ConfirmedChannel, code: string): Promise<boolean> {
      const address = contacts[channel];
      return (
        address !== null && store.confirm({ accountId: id, channel, address }, hashOf(code), now(), MAX_TRIES)
      );
    },
  };
}

export interface NoticeReach {
  /** Number of channels that send the daily digest to the operator. */
  readonly digests: number;
  /** Number of addresses of players that get reminders. */
  readonly players: number;
  /** Number of messages to players about an expiry within the next 24 hours. */
  readonly nextDay: number;
}

export function reachOf(
  settings: NoticeSettings,
  accounts: Iterable<Account>,
  isTrusted: IsTrusted,
  now: number,
): NoticeReach {
  const digests = CHANNELS.filter((channel) => sendsTo(settings, { channel, recipient: 'operator' })).length;
  let [players, nextDay] = [0, 0];
  for (const account of accounts) {
    const { isEnabled, expiresAt } = account;
    if (!isEnabled || account.contacts === NO_CONTACTS) continue;
    const contacts = trustedContacts(account, isTrusted);
    const addresses = CHANNELS.filter(
      (channel) => addressOf(settings, { channel, recipient: 'player' }, contacts) !== null,
    );
    players += addresses.length;
    if (expiresAt === null) continue;
    const steps = settings.expiryDays.map((days) => expiresAt - days * DAY_MS);
    nextDay += addresses.length * steps.filter((at) => at > now && at <= now + DAY_MS).length;
  }
  return { digests, players, nextDay };
}
