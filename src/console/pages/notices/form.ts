// The fields of the notice settings, each described once: how its value is a text, and how the text is read.
import type { NoticeChannel, NoticeSettings, NoticeSettingsChange } from '../../api-types.js';
import { readNumber } from '../../lib/format.js';
import { type TextKey, t } from '../../lib/i18n.js';
import { LEFT_EXAMPLE } from '../../locales/notices.js';
import { optionsOf } from '../../ui/form.js';

/** The fields as typed, by their path in the request. A secret's field is empty until the operator types one. */
export type NoticeFields = Readonly<Record<string, string>>;

interface Kind {
  readonly text: (value: unknown) => string;
  /** Returns undefined for an invalid text. */
  readonly read: (text: string) => unknown;
  /** Says what is wrong with a text that cannot be read. */
  readonly wrong?: () => string;
}

interface NoticeField extends Kind {
  readonly label: TextKey;
  readonly hint?: TextKey;
  readonly placeholder?: string;
  /** In the configuration. */
  readonly key?: string;
  /** Left out: any text. */
  readonly options?: () => readonly { readonly value: string; readonly label: string }[];
  /** Whether a secret is stored. Such a field is sent only when something was typed. */
  readonly isStored?: (saved: NoticeSettings) => boolean;
}

const text: Kind = { text: (value) => String(value ?? ''), read: (typed) => typed.trim() || null };
const given: Kind = { text: String, read: (typed) => typed.trim() };
const flag: Kind = { text: String, read: (typed) => typed === 'true' };
const secret: Kind = { text: () => '', read: (typed) => typed.trim() };
/** An emptied address becomes that of the service. */
const server = (standard: string): Kind => ({ text: String, read: (typed) => typed.trim() || standard });
const whole = (max: number, min = 1): Kind => ({
  text: String,
  read: (typed) => readNumber(typed, { min, max, whole: true }) ?? undefined,
  wrong: () => t('retention.wrong', { max }),
});
const numbers = (min: number, max: number): Kind => ({
  text: (list) => (list as readonly number[]).join(', '),
  read(typed) {
    const parts = typed.split(/[\s,，、]+/).filter((part) => part !== '');
    const read = parts.map((part) => readNumber(part, { min, max, whole: true }) ?? undefined);
    return parts.length <= 8 && read.every((each) => each !== undefined) ? read : undefined;
  },
  wrong: () => t('notices.numbersWrong', { min, max }),
});

const operator: NoticeField = { ...flag, label: 'notices.toOperator' };
const players: NoticeField = { ...flag, label: 'notices.toPlayers' };
const baseUrl = { label: 'notices.baseUrl', hint: 'notices.baseUrl.hint' } as const;

/** A label that is also the key. */
const keyed = <const Key extends TextKey>(key: Key) => ({ label: key, key });

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour));

export const TEMPLATES = ['expiring', 'expired', 'quota', 'handover'] as const;
export type TemplateName = (typeof TEMPLATES)[number];
export const LANGUAGES = ['zh', 'en'] as const;
export const pathOfTemplate = (name: TemplateName, language: (typeof LANGUAGES)[number]) =>
  `${name === 'handover' ? '' : 'templates.'}${name}.${language}`;

const FIELDS: Readonly<Record<string, NoticeField>> = {
  language: { ...given, label: 'notices.language' },
  timeZone: {
    ...given,
    label: 'notices.timeZone',
    key: 'timeZone',
    placeholder: Intl.DateTimeFormat().resolvedOptions().timeZone,
  },
  expiryDays: { ...numbers(0, 365), ...keyed('notices.expiryDays'), hint: 'notices.expiryDays.hint' },
  quotaPercent: { ...numbers(1, 100), ...keyed('notices.quotaPercent'), hint: 'notices.quotaPercent.hint' },
  digestHour: {
    ...whole(23, 0),
    ...keyed('notices.digestHour'),
    hint: 'notices.digestHour.hint',
    options: () => HOURS.map((hour) => ({ value: hour, label: `${hour.padStart(2, '0')}:00` })),
  },
  trustSellers: { ...flag, label: 'notices.trustSellers' },
  perMinute: { ...whole(600), label: 'notices.perMinute' },
  historyDays: { ...whole(365), label: 'notices.historyDays' },
  'email.host': { ...text, label: 'notices.host', placeholder: 'smtp.example.com' },
  'email.port': { ...whole(65_535), label: 'publicAddress.port' },
  'email.security': {
    ...given,
    label: 'notices.security',
    options: () => optionsOf(['tls', 'starttls', 'none'], (of) => t(`notices.security.${of}`)),
  },
  'email.user': { ...text, label: 'account.username' },
  'email.password': { ...secret, label: 'account.password', isStored: ({ email }) => email.hasPassword },
  'email.from': { ...given, label: 'notices.from', placeholder: 'gate@example.com' },
  'email.to': { ...text, label: 'notices.mailTo', placeholder: 'me@example.com' },
  'email.operator': operator,
  'email.players': players,
  'telegram.token': { ...secret, label: 'notices.token', isStored: ({ telegram }) => telegram.hasToken },
  'telegram.chatId': { ...text, label: 'notices.chatId', placeholder: '123456789' },
  'telegram.baseUrl': { ...server('https://api.telegram.org'), ...baseUrl },
  'telegram.operator': operator,
  'telegram.players': players,
  'wecom.key': { ...secret, label: 'notices.key', isStored: ({ wecom }) => wecom.hasKey },
  'wecom.baseUrl': { ...server('https://qyapi.weixin.qq.com'), ...baseUrl },
  'wecom.operator': operator,
  ...Object.fromEntries(
    TEMPLATES.flatMap((name) =>
      LANGUAGES.map((language) => [
        pathOfTemplate(name, language),
        { ...text, label: `notices.template.${name}` } as const,
      ]),
    ),
  ),
};

/** For each channel: the field whose emptying removes the channel and its secret, and the fields without which it cannot send. */
export const CHANNELS: Readonly<
  Record<NoticeChannel, { readonly target: string; readonly needs: readonly string[] }>
> = {
  email: { target: 'email.host', needs: ['email.host', 'email.from', 'email.to'] },
  telegram: { target: 'telegram.baseUrl', needs: ['telegram.token', 'telegram.chatId'] },
  wecom: { target: 'wecom.baseUrl', needs: ['wecom.key'] },
};

/** The labels of all fields, for the search of the settings, with the keys of the configuration that have the same values. */
export const NOTICE_FIELDS: Readonly<Partial<Record<TextKey, string>>> = Object.fromEntries(
  Object.values(FIELDS).map(({ label, key = '' }) => [label, key]),
);

/** The keys of the configuration by path. */
export const NOTICE_KEYS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(FIELDS).map(([path, { key = '' }]) => [path, key]),
);

/** The labels by the last part of the path. */
export const NOTICE_LABELS: Readonly<Record<string, TextKey>> = Object.fromEntries(
  Object.entries(FIELDS).map(([path, { label }]) => [path.split('.').at(-1), label]),
);

export const pathsOf = (channel: NoticeChannel): readonly string[] =>
  Object.keys(FIELDS).filter((path) => path.startsWith(`${channel}.`));

export function noticeField(path: string): NoticeField {
  const field = FIELDS[path];
  if (!field) throw new Error(`no field ${path}`);
  return field;
}

export function fieldsOf(saved: NoticeSettings): NoticeFields {
  const valueAt = (path: string) =>
    path.split('.').reduce<unknown>((of, name) => (of as Readonly<Record<string, unknown>>)[name], saved);
  return Object.fromEntries(
    Object.entries(FIELDS).map(([path, { isStored, text }]) => [path, isStored ? '' : text(valueAt(path))]),
  );
}

/** Returns the change of these fields; undefined while one of them is invalid. */
export function readFields(
  values: NoticeFields,
  paths: readonly string[] = Object.keys(FIELDS),
): NoticeSettingsChange | undefined {
  const change: Record<string, unknown> = {};
  for (const path of paths) {
    const { read, isStored } = noticeField(path);
    const typed = values[path] ?? '';
    const value = isStored && typed === '' ? keptSecret(path, values) : read(typed);
    if (value === undefined && !isStored) return undefined;
    const parts = path.split('.');
    const name = parts.pop() ?? path;
    let of = change;
    for (const part of parts) {
      of[part] ??= {};
      of = of[part] as Record<string, unknown>;
    }
    if (value !== undefined) of[name] = value;
  }
  return change as NoticeSettingsChange;
}

/** An untouched secret stays: undefined. That of a channel that is removed goes: null. */
function keptSecret(path: string, values: NoticeFields): null | undefined {
  const { target } = CHANNELS[path.split('.')[0] as NoticeChannel];
  return values[target]?.trim() === '' ? null : undefined;
}

/** Returns a template as a player would read it, with example values. A placeholder that there is not stays in its braces. */
export function exampleOf(template: string, language: 'zh' | 'en'): string {
  const values = new Map([
    ['username', 'player01'],
    ['expires', '2026-12-31 23:59'],
    ['left', LEFT_EXAMPLE[language === 'en' ? 0 : 1]],
    ['used', '90'],
    ['traffic', '45.0 GB / 50.0 GB'],
    ['address', 'gate.example.com:1080'],
    ['password', 'k7Rw…'],
    ['plan', 'monthly'],
    ['link', 'https://gate.example.com/sub/…'],
  ]);
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);
}
