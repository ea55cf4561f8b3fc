// The settings of notices: the announced steps, the channels, their recipients, and what the channels need for sending.
import { CONTACT_LANGUAGES, type Contacts } from '../accounts/fields/contacts.js';
import { differences } from '../audit/audit.js';
import { type AuditedSetting, createAuditedSetting, type SettingStore } from '../settings/setting.js';
import { CHANNELS, type NoticeChannel, type Way } from './notice.js';

export const LANGUAGES = CONTACT_LANGUAGES;
export type Language = (typeof LANGUAGES)[number];

/** The texts to players that an operator can replace. */
const TEMPLATE_NAMES = ['expiring', 'expired', 'quota'] as const;
export type TemplateName = (typeof TEMPLATE_NAMES)[number];
/** null: the built-in text. */
export type Templates = Readonly<Record<TemplateName, Readonly<Record<Language, string | null>>>>;

interface Receivers {
  readonly operator: boolean;
  readonly players: boolean;
}

/** The settings of all channels. A channel that is not set up sends nothing: `isSetUp` checks the fields that a channel needs. */
export interface NoticeSettings {
  /** The language of texts to the operator, and to players without a language. */
  readonly language: Language;
  /** IANA time zone of the dates in texts. */
  readonly timeZone: string;
  /** Steps before an account's expiry that are announced, in days; 0 is the expiry itself. */
  readonly expiryDays: readonly number[];
  /** Shares of an account's quota that are announced, in per cent. */
  readonly quotaPercent: readonly number[];
  /** The hour of the daily digest to the operator, in `timeZone`. */
  readonly digestHour: number;
  /** Most attempts of one channel within a minute, over all daemons. */
  readonly perMinute: number;
  readonly historyDays: number;
  readonly templates: Templates;
  /** The message with which an account is handed to its player; null: the built-in text. */
  readonly handover: Readonly<Record<Language, string | null>>;
  /** Notices also go to addresses of sellers' players that nobody has confirmed. */
  readonly trustSellers: boolean;
  readonly email: Receivers & {
    /** null: not set up. */
    readonly host: string | null;
    readonly port: number;
    /** TLS from the first byte, TLS by STARTTLS, or no TLS. */
    readonly security: 'tls' | 'starttls' | 'none';
    /** null: without authentication. */
    readonly user: string | null;
    readonly password: string | null;
    readonly from: string;
    /** The operator's address. */
    readonly to: string | null;
  };
  readonly telegram: Receivers & {
    readonly baseUrl: string;
    /** The bot's token; null: not set up. */
    readonly token: string | null;
    /** Id of the operator's chat. */
    readonly chatId: string | null;
  };
  /** A robot of a WeCom group. Sends only to the operator. */
  readonly wecom: {
    readonly operator: boolean;
    readonly baseUrl: string;
    /** null: not set up. */
    readonly key: string | null;
  };
}

const NO_TEMPLATES: Templates = {
  expiring: { zh: null, en: null },
  expired: { zh: null, en: null },
  quota: { zh: null, en: null },
};

const TELEGRAM_URL = 'https://api.telegram.org';
const WECOM_URL = 'https://qyapi.weixin.qq.com';

export const NOTICE_DEFAULTS: NoticeSettings = {
  language: 'zh',
  timeZone: 'UTC',
  expiryDays: [7, 1, 0],
  quotaPercent: [80, 100],
  digestHour: 9,
  perMinute: 20,
  historyDays: 30,
  templates: NO_TEMPLATES,
  handover: { zh: null, en: null },
  trustSellers: false,
  email: {
    operator: true,
    players: false,
    host: null,
    port: 465,
    security: 'tls',
    user: null,
    password: null,
    from: '',
    to: null,
  },
  telegram: { operator: true, players: false, baseUrl: TELEGRAM_URL, token: null, chatId: null },
  wecom: { operator: true, baseUrl: WECOM_URL, key: null },
};

/**
 * The secret of each channel, and the fields that determine where the channel sends it. A secret is kept only while those fields
 * stay unchanged.
 */
export const SECRETS = {
  email: { field: 'password', sentTo: ['host', 'port', 'security', 'user'] },
  telegram: { field: 'token', sentTo: ['baseUrl'] },
  wecom: { field: 'key', sentTo: ['baseUrl'] },
} as const;

/** What each channel needs for sending. */
const NEEDED = { email: ['host', 'from'], telegram: ['token'], wecom: ['key'] };

const isChannel = (name: string): name is NoticeChannel => (CHANNELS as readonly string[]).includes(name);

export const isSetUp = (settings: NoticeSettings, channel: NoticeChannel): boolean =>
  NEEDED[channel].every((field) => Boolean(Reflect.get(settings[channel], field)));

export function sendsTo(settings: NoticeSettings, { channel, recipient }: Way): boolean {
  // A channel of another version is off.
  if (!isChannel(channel) || !isSetUp(settings, channel)) return false;
  if (recipient === 'operator')
    return settings[channel].operator && operatorAddress(settings, channel) !== null;
  return (channel === 'email' || channel === 'telegram') && settings[channel].players;
}

/**
 * Returns the address of a recipient in a channel: '' is the channel's only receiver; null: the channel does not send to the
 * recipient.
 */
export function addressOf(
  settings: NoticeSettings,
  { channel, recipient }: Way,
  contacts: Contacts,
): string | null {
  if (!isChannel(channel) || !sendsTo(settings, { channel, recipient })) return null;
  if (recipient === 'operator') return operatorAddress(settings, channel);
  return channel === 'email' || channel === 'telegram' ? contacts[channel] : null;
}

/** Returns the operator's address in a channel, even when the channel is disabled for the operator. */
export function operatorAddress(settings: NoticeSettings, channel: NoticeChannel): string | null {
  if (channel === 'email') return settings.email.to;
  return channel === 'telegram' ? settings.telegram.chatId : '';
}

export interface SavedNoticeSettings extends NoticeSettings {
  /** Raised by each change, also of a secret alone: shows that a secret was changed without showing anything of it. */
  readonly revision: number;
}

export type NoticesSetting = AuditedSetting<SavedNoticeSettings>;

/** @param ofFile the configured values, which apply until an operator saves others */
export function createNoticesSetting(store: SettingStore, ofFile: NoticeSettings): NoticesSetting {
  const initial: SavedNoticeSettings = { ...ofFile, revision: 0 };
  const setting = createAuditedSetting<SavedNoticeSettings>({
    store,
    key: 'notices',
    name: 'notices',
    initial,
    parse: (text) => ({
      ...initial,
      ...(text === '' ? {} : (JSON.parse(text) as Partial<SavedNoticeSettings>)),
    }),
    // Stores only values that differ from the configuration file, so that later changes of the file apply to the others.
    format: (value) => JSON.stringify(differences({ ...initial }, { ...value }).after),
    audited(stored, value) {
      const { before, after, differs } = differences(flat(stored), flat(value));
      return { before: withoutSecrets(before), after: withoutSecrets(after), differs };
    },
  });
  return {
    ...setting,
    save: (next, by, refuse) =>
      setting.save(
        (stored) => {
          const value = next(stored);
          return value && { ...value, revision: stored.revision + 1 };
        },
        by,
        refuse,
      ),
  };
}

/** Returns one entry per field: `email.host`. */
function flat({ revision: _, ...settings }: SavedNoticeSettings): Record<string, unknown> {
  const entries = Object.entries(settings).flatMap(([name, value]): [string, unknown][] =>
    isChannel(name)
      ? Object.entries(value as object).map(([field, of]) => [`${name}.${field}`, of])
      : [[name, value]],
  );
  return Object.fromEntries(entries);
}

/** Hides secrets. The audit log only contains whether there is one. */
function withoutSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  const secrets = new Set(Object.entries(SECRETS).map(([channel, { field }]) => `${channel}.${field}`));
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      secrets.has(name) && value !== null ? '(hidden)' : value,
    ]),
  );
}
