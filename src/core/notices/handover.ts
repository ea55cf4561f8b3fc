// The message with which an account is handed to its player, from the operator's template or the built-in one.
import type { Account } from '../accounts/account.js';
import { fillText } from '../text.js';
import type { Language, NoticeSettings } from './notice-settings.js';
import { dateIn, type NoticeText } from './texts.js';

/** What the daemon does not store, and so is known only to the caller that was shown it; null: unknown. */
export interface HandedOver {
  /** The server's address: `host:port`. */
  readonly address: string;
  readonly password: string | null;
  /** The URL of the account's subscription. */
  readonly link: string | null;
}

export const HANDOVER_PLACEHOLDERS = ['address', 'username', 'password', 'expires', 'plan', 'link'] as const;

export const HANDOVER_TEXT: Readonly<Record<Language, string>> = {
  zh: '您的代理账号已开通\n服务器（SOCKS5）：{address}\n用户名：{username}\n密码：{password}\n套餐：{plan}\n到期时间：{expires}\n一键配置和查询：{link}',
  en: 'Your proxy account is ready\nServer (SOCKS5): {address}\nUser name: {username}\nPassword: {password}\nPlan: {plan}\nExpires: {expires}\nSet up your app, see days and traffic: {link}',
};

const SUBJECTS = { zh: '您的代理账号', en: 'Your proxy account' };
const NO_DATE = {
  zh: { never: '长期有效', fromLogin: '首次登录后 {n} 天' },
  en: { never: 'never', fromLogin: '{n} days from the first login' },
};

/** A line is left out while a value in it is unknown; a name without a value stays in its braces. */
export function handoverText(
  account: Pick<Account, 'username' | 'plan' | 'expiresAt' | 'daysFromFirstLogin'>,
  of: HandedOver,
  language: Language,
  settings: Pick<NoticeSettings, 'handover' | 'timeZone'>,
): NoticeText {
  const { username, plan } = account;
  const values = { ...of, username, plan, expires: expiryText(account, language, settings.timeZone) };
  const unknown = HANDOVER_PLACEHOLDERS.filter((name) => values[name] === null);
  const template = settings.handover[language] ?? HANDOVER_TEXT[language];
  const lines = template.split('\n').filter((line) => !unknown.some((name) => line.includes(`{${name}}`)));
  return { subject: SUBJECTS[language], text: fillText(lines.join('\n'), values) };
}

function expiryText(
  { expiresAt, daysFromFirstLogin: days }: Pick<Account, 'expiresAt' | 'daysFromFirstLogin'>,
  language: Language,
  timeZone: string,
): string {
  if (expiresAt !== null) return dateIn(timeZone, expiresAt, language);
  const { never, fromLogin } = NO_DATE[language];
  return days === null ? never : fillText(fromLogin, { n: days });
}
