// The form of the notice settings: the texts of its fields, and the settings that they describe.

import type { NoticeSettings, NoticeSettingsChange } from '../../../api-types.js';
import type { Draft } from '../../../lib/draft.js';
import { readNumber } from '../../../lib/number-text.js';
import { notices } from '../../../locales/notices.js';

/** The value of a field that the operator empties. */
const TELEGRAM = 'https://api.telegram.org';
const WECOM = 'https://qyapi.weixin.qq.com';

export const TEMPLATES = ['expiring', 'expired', 'quota'] as const;
type Template = (typeof TEMPLATES)[number];

/** The texts of the fields as typed. A secret's field is empty until the operator types one. */
export interface NoticeFields {
  readonly language: 'zh' | 'en';
  readonly timeZone: string;
  readonly expiryDays: string;
  readonly quotaPercent: string;
  readonly digestHour: string;
  readonly trustSellers: boolean;
  readonly perMinute: string;
  readonly historyDays: string;
  readonly templates: Readonly<Record<Template, Readonly<Record<'zh' | 'en', string>>>>;
  readonly webhookOperator: boolean;
  readonly url: string;
  readonly secret: string;
  readonly emailOperator: boolean;
  readonly emailPlayers: boolean;
  readonly host: string;
  readonly port: string;
  readonly security: 'tls' | 'starttls' | 'none';
  readonly user: string;
  readonly password: string;
  readonly from: string;
  readonly mailTo: string;
  readonly telegramOperator: boolean;
  readonly telegramPlayers: boolean;
  readonly telegramUrl: string;
  readonly token: string;
  readonly chatId: string;
  readonly wecomOperator: boolean;
  readonly wecomUrl: string;
  readonly key: string;
}

export function fieldsOf({
  webhook,
  email,
  telegram,
  wecom,
  templates,
  ...common
}: NoticeSettings): NoticeFields {
  const text = (of: string | null) => of ?? '';
  return {
    language: common.language,
    timeZone: common.timeZone,
    expiryDays: common.expiryDays.join(', '),
    quotaPercent: common.quotaPercent.join(', '),
    digestHour: String(common.digestHour),
    trustSellers: common.trustSellers,
    perMinute: String(common.perMinute),
    historyDays: String(common.historyDays),
    templates: {
      expiring: { zh: text(templates.expiring.zh), en: text(templates.expiring.en) },
      expired: { zh: text(templates.expired.zh), en: text(templates.expired.en) },
      quota: { zh: text(templates.quota.zh), en: text(templates.quota.en) },
    },
    ...{ webhookOperator: webhook.operator, url: text(webhook.url), secret: '' },
    ...{ emailOperator: email.operator, emailPlayers: email.players, host: text(email.host) },
    ...{ port: String(email.port), security: email.security, user: text(email.user), password: '' },
    ...{ from: email.from, mailTo: text(email.to) },
    ...{ telegramOperator: telegram.operator, telegramPlayers: telegram.players },
    ...{ telegramUrl: telegram.baseUrl, token: '', chatId: text(telegram.chatId) },
    ...{ wecomOperator: wecom.operator, wecomUrl: wecom.baseUrl, key: '' },
  };
}

/** Returns the newest fields with the operator's changes of them. */
export function withChanges(
  now: NoticeFields,
  { base, changes }: Pick<Draft<NoticeFields>, 'base' | 'changes'>,
): NoticeFields {
  const { templates = base.templates, ...others } = changes;
  const text = (name: Template, language: 'zh' | 'en') => {
    const isChanged = templates[name][language] !== base.templates[name][language];
    return (isChanged ? templates : now.templates)[name][language];
  };
  const both = (name: Template) => ({ zh: text(name, 'zh'), en: text(name, 'en') });
  const merged = { expiring: both('expiring'), expired: both('expired'), quota: both('quota') };
  return { ...now, ...others, templates: merged };
}

/** Reads whole numbers separated by commas; undefined while one is invalid. */
export function readNumbers(text: string, min: number, max: number): number[] | undefined {
  const parts = text.split(/[\s,，、]+/).filter((part) => part !== '');
  const numbers = parts.map((part) => readNumber(part, { min, max, whole: true }) ?? undefined);
  return parts.length <= 8 && numbers.every((each) => each !== undefined) ? numbers : undefined;
}

export const readWhole = (text: string, max: number): number | undefined =>
  readNumber(text, { min: 1, max, whole: true }) ?? undefined;

/** Returns the change to send; undefined while a number is invalid. */
export function readFields(values: NoticeFields): NoticeSettingsChange | undefined {
  const expiryDays = readNumbers(values.expiryDays, 0, 365);
  const quotaPercent = readNumbers(values.quotaPercent, 1, 100);
  const perMinute = readWhole(values.perMinute, 600);
  const historyDays = readWhole(values.historyDays, 365);
  const channels = readChannels(values);
  if (!expiryDays || !quotaPercent || !perMinute || !historyDays || !channels) return undefined;
  const both = ({ zh, en }: { readonly zh: string; readonly en: string }) => ({ zh: or(zh), en: or(en) });
  return {
    ...{ language: values.language, timeZone: values.timeZone.trim() },
    ...{ expiryDays, quotaPercent, digestHour: Number(values.digestHour), perMinute, historyDays },
    trustSellers: values.trustSellers,
    templates: {
      expiring: both(values.templates.expiring),
      expired: both(values.templates.expired),
      quota: both(values.templates.quota),
    },
    ...channels,
  };
}

const or = (text: string) => text.trim() || null;

/** Returns the channels of the change; undefined while the port is invalid. */
export function readChannels(
  values: NoticeFields,
): Pick<NoticeSettingsChange, 'webhook' | 'email' | 'telegram' | 'wecom'> | undefined {
  const port = readWhole(values.port, 65_535);
  if (!port) return undefined;
  return {
    webhook: {
      ...{ operator: values.webhookOperator, url: or(values.url) },
      ...typed('secret', values.secret, values.url),
    },
    email: {
      ...{ operator: values.emailOperator, players: values.emailPlayers, host: or(values.host), port },
      ...{
        security: values.security,
        user: or(values.user),
        from: values.from.trim(),
        to: or(values.mailTo),
      },
      ...typed('password', values.password, values.host),
    },
    telegram: {
      ...{ operator: values.telegramOperator, players: values.telegramPlayers },
      ...{ baseUrl: values.telegramUrl.trim() || TELEGRAM, chatId: or(values.chatId) },
      ...typed('token', values.token, values.telegramUrl),
    },
    wecom: {
      ...{ operator: values.wecomOperator, baseUrl: values.wecomUrl.trim() || WECOM },
      ...typed('key', values.key, values.wecomUrl),
    },
  };
}

/** Returns the change of a secret: the typed one, null for a channel that is removed, or no field, which keeps the saved one. */
function typed<Name extends string>(
  name: Name,
  text: string,
  target: string,
): { [K in Name]?: string | null } {
  if (text !== '') return { [name]: text.trim() } as { [K in Name]?: string };
  return (target.trim() === '' ? { [name]: null } : {}) as { [K in Name]?: null };
}

/** Returns a template as a player would read it, with example values. A placeholder that there is not stays in its braces. */
export function exampleOf(template: string, language: 'zh' | 'en'): string {
  const values = new Map([
    ['username', 'player01'],
    ['expires', '2026-12-31 23:59'],
    ['left', notices['notices.example.left'][language]],
    ['used', '90'],
    ['traffic', '45.0 GB / 50.0 GB'],
  ]);
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);
}
