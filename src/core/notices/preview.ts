// What settings of notices would send, counted before they are saved.
import type { Account } from '../accounts/account.js';
import { NO_CONTACTS } from '../accounts/fields/contacts.js';
import { DAY_MS } from '../clock.js';
import { type IsTrusted, trustedContacts } from './confirmations.js';
import { CHANNELS } from './notice.js';
import { addressOf, type NoticeSettings, sendsTo } from './notice-settings.js';

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
    const addresses = CHANNELS.filter((channel) => addressOf(settings, channel, 'player', contacts) !== null);
    players += addresses.length;
    if (expiresAt === null) continue;
    const steps = settings.expiryDays.map((days) => expiresAt - days * DAY_MS);
    nextDay += addresses.length * steps.filter((at) => at > now && at <= now + DAY_MS).length;
  }
  return { digests, players, nextDay };
}
