// The texts of notices in both languages. Braces contain the names of a notice's values.
import { DAY_MS } from '../clock.js';
import { fillText } from '../fill-text.js';
import { shownIn } from '../time-zone.js';
import type { Announcement, NoticeRecipient } from './notice.js';
import type { Language, NoticeSettings, TemplateName } from './notice-settings.js';

export interface NoticeText {
  readonly subject: string;
  readonly text: string;
}

/** The names that the braces of a text may contain. */
export const PLACEHOLDERS = ['username', 'expires', 'left', 'used', 'traffic'] as const;

type Kind = TemplateName | 'failing' | 'run' | 'test';
type Texts = Readonly<Record<Language, string>>;

const SUBJECTS: Readonly<Record<Kind, Texts>> = {
  expiring: { zh: '账号 {username} 即将到期', en: 'Account {username} expires soon' },
  expired: { zh: '账号 {username} 已到期', en: 'Account {username} has expired' },
  quota: {
    zh: '账号 {username} 已用流量 {used}%',
    en: 'Account {username} has used {used} % of its traffic',
  },
  failing: { zh: '{client} 多次登录失败', en: 'Many failed logins from {client}' },
  run: { zh: '智能体 {agent} 运行失败', en: 'A run of agent {agent} failed' },
  test: { zh: 'Pulsegate 测试消息', en: 'Pulsegate test message' },
};

/** Subjects to players: without the user name, which a seller chooses and a stranger would read first. */
const PLAYER_SUBJECTS: Readonly<Record<TemplateName, Texts>> = {
  expiring: { zh: '您的账号即将到期', en: 'Your account expires soon' },
  expired: { zh: '您的账号已到期', en: 'Your account has expired' },
  quota: { zh: '您的账号已用流量 {used}%', en: 'Your account has used {used} % of its traffic' },
};

/** Texts to players. */
export const PLAYER_TEXTS: Readonly<Record<TemplateName, Texts>> = {
  expiring: {
    zh: '您的账号 {username} 将于 {expires}到期（{left}），请及时续费。',
    en: 'Your account {username} expires on {expires} ({left}). Renew it to keep using it.',
  },
  expired: {
    zh: '您的账号 {username} 已于 {expires}到期，现在无法登录，续费后即可继续使用。',
    en: 'Your account {username} expired on {expires} and cannot log in. Renew it to use it again.',
  },
  quota: {
    zh: '您的账号 {username} 已使用 {used}% 的流量（{traffic}）。用完后将无法连接。',
    en: 'Your account {username} has used {used} % of its traffic ({traffic}). It cannot connect once all is used.',
  },
};

const OPERATOR_TEXTS: Readonly<Record<Kind, Texts>> = {
  expiring: {
    zh: '账号 {username} 将于 {expires}到期（{left}）。',
    en: 'Account {username} expires on {expires} ({left}).',
  },
  expired: { zh: '账号 {username} 已于 {expires}到期。', en: 'Account {username} expired on {expires}.' },
  quota: {
    zh: '账号 {username} 已使用 {used}% 的流量（{traffic}）。',
    en: 'Account {username} has used {used} % of its traffic ({traffic}).',
  },
  failing: {
    zh: '{client} 自 {since}起登录失败 {failures} 次。',
    en: '{failures} logins from {client} failed since {since}.',
  },
  run: { zh: '智能体 {agent} 的运行 {run} 失败：{error}', en: 'Run {run} of agent {agent} failed: {error}' },
  test: {
    zh: '这是一条测试消息：该通知渠道可以使用。',
    en: 'This is a test: the channel works.',
  },
};

function kindOf({ type }: Pick<Announcement, 'type'>): Kind {
  switch (type) {
    case 'account.expiring':
      return 'expiring';
    case 'account.expired':
      return 'expired';
    case 'logins.failing':
      return 'failing';
    case 'run.failed':
      return 'run';
    case 'test':
      return 'test';
    default:
      return 'quota';
  }
}

/** Returns the unknown names in a text's braces; an empty list: the text is valid. */
export function unknownPlaceholders(text: string): string[] {
  const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return names.filter((name) => !(PLACEHOLDERS as readonly string[]).includes(name));
}

/** Writes a notice in a language. `now` determines the number of days left. */
export function textOf(
  notice: Pick<Announcement, 'type' | 'data'>,
  recipient: NoticeRecipient,
  language: Language,
  settings: Pick<NoticeSettings, 'templates' | 'timeZone'>,
  now: number,
): NoticeText {
  const kind = kindOf(notice);
  const values = valuesOf(notice.data, language, settings.timeZone, now);
  const isPlayers = recipient === 'player' && kind in PLAYER_TEXTS;
  const template = kind as TemplateName;
  const text = isPlayers
    ? (settings.templates[template][language] ?? PLAYER_TEXTS[template][language])
    : OPERATOR_TEXTS[kind][language];
  const subject = isPlayers ? PLAYER_SUBJECTS[template] : SUBJECTS[kind];
  return { subject: fillText(subject[language], values), text: fillText(text, values) };
}

function valuesOf(
  data: Readonly<Record<string, unknown>>,
  language: Language,
  zone: string,
  now: number,
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(data)) values[name] = value === null ? '' : String(value);
  const { expiresAt, since, usedBytes, quotaBytes } = data;
  if (typeof since === 'string') values['since'] = dateIn(zone, Date.parse(since), language);
  if (typeof expiresAt === 'string') {
    const at = Date.parse(expiresAt);
    values['expires'] = dateIn(zone, at, language);
    values['left'] = daysLeft(at - now, language);
  }
  if (typeof usedBytes === 'number' && typeof quotaBytes === 'number')
    values['traffic'] = `${sizeText(usedBytes)} / ${sizeText(quotaBytes)}`;
  return values;
}

function daysLeft(ms: number, language: Language): string {
  const days = Math.ceil(ms / DAY_MS);
  if (days <= 0) return language === 'zh' ? '已到期' : 'expired';
  if (days === 1) return language === 'zh' ? '不足 1 天' : 'less than a day left';
  return language === 'zh' ? `还有 ${days} 天` : `${days} days left`;
}

/** `2026-11-30 08:00 (Asia/Shanghai)` */
function dateIn(zone: string, at: number, language: Language): string {
  const date = new Date(shownIn(zone, at)).toISOString().slice(0, 16).replace('T', ' ');
  return language === 'zh' ? `${date}（${zone}）` : `${date} (${zone})`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** `50.0 GB`: three significant digits in decimal units, as the console and the player page show a quota. */
function sizeText(bytes: number): string {
  let [scaled, unit] = [bytes, 0];
  while (scaled >= 999.5 && unit < UNITS.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${UNITS[unit]}`;
}
