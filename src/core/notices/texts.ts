// The texts of notices in both languages. Braces contain the names of a notice's values.
import { fillText, withoutLinks } from '../text.js';
import { DAY_MS } from '../time/clock.js';
import { shownIn } from '../time/time-zone.js';
import type { AlertedAction } from './alerts.js';
import type { Announcement, NoticeRecipient, NoticeType, SentAtOnce } from './notice.js';
import type { Language, NoticeSettings, TemplateName } from './notice-settings.js';
import type { DigestData } from './reminders.js';

export interface NoticeText {
  readonly subject: string;
  readonly text: string;
}

/** The names that the braces of a text to players may contain. */
export const PLACEHOLDERS = ['username', 'expires', 'left', 'used', 'traffic'] as const;

/** A type of notices; those of all shares of a quota are one kind. */
type Kind = Exclude<NoticeType, `account.quota-${number}` | SentAtOnce> | 'account.quota';
type Texts = Readonly<Record<Language, string>>;

const SUBJECTS: Readonly<Record<Kind, Texts>> = {
  'account.expiring': { zh: '账号 {username} 即将到期', en: 'Account {username} expires soon' },
  'account.expired': { zh: '账号 {username} 已到期', en: 'Account {username} has expired' },
  'account.quota': {
    zh: '账号 {username} 已用流量 {used}%',
    en: 'Account {username} has used {used} % of its traffic',
  },
  'logins.failing': { zh: '{client} 多次登录失败', en: 'Many failed logins from {client}' },
  'account.limited': { zh: '账号 {username} 打开的连接或目标过多', en: 'Account {username} opens too much' },
  'account.suspended': { zh: '账号 {username} 已暂停', en: 'Account {username} is suspended' },
  'run.failed': { zh: '智能体 {agent} 运行失败', en: 'A run of agent {agent} failed' },
  'node.lost': { zh: '节点 {node} 已失联', en: 'Node {node} is lost' },
  'node.back': { zh: '节点 {node} 已恢复', en: 'Node {node} is back' },
  'database.trouble': { zh: '节点 {node} 的数据库曾不可用', en: 'Node {node} had trouble with the database' },
  'certificate.expiring': {
    zh: '证书 {certificate} 即将到期',
    en: 'The certificate {certificate} expires soon',
  },
  test: { zh: 'Pulsegate 测试消息', en: 'Pulsegate test message' },
  'accounts.digest': { zh: '账号提醒：{summary}', en: 'Accounts: {summary}' },
  'token.create': { zh: '新建了 API 令牌 {name}', en: 'New API token {name}' },
  'operator.create': { zh: '新建了操作员 {name}', en: 'New operator {name}' },
  'operator.update': {
    zh: '操作员 {name} 的权限或密码已更改',
    en: 'Access or password of operator {name} was changed',
  },
  'admin.password': { zh: '登录密码已更改', en: 'A sign-in password was changed' },
  'admin.username': { zh: '管理员用户名已更改', en: 'The administrator’s user name was changed' },
  'admin.totp-on': { zh: '两步验证已开启', en: 'A second factor was turned on' },
  'admin.totp-off': { zh: '两步验证已关闭', en: 'A second factor was turned off' },
  'admin.recovery-codes': { zh: '生成了新的恢复码', en: 'New recovery codes were made' },
  'admin.recovery-code-used': { zh: '使用了恢复码登录', en: 'A recovery code was used' },
  'backup.download': { zh: '数据库备份被下载', en: 'A backup of the database was downloaded' },
};

/** Subjects to players: without the user name, which a seller chooses and a stranger would read first. */
const PLAYER_SUBJECTS: Readonly<Record<TemplateName | 'suspended', Texts>> = {
  expiring: { zh: '您的账号即将到期', en: 'Your account expires soon' },
  expired: { zh: '您的账号已到期', en: 'Your account has expired' },
  quota: { zh: '您的账号已用流量 {used}%', en: 'Your account has used {used} % of its traffic' },
  suspended: { zh: '您的账号已暂停', en: 'Your account is suspended' },
};

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

/** To a player, with the operator's words. */
const SUSPENDED: Texts = {
  zh: '您的账号 {username} 已暂停使用：{reason}',
  en: 'Your account {username} is suspended: {reason}',
};

/** The text below the subject of an alert that comes from the audit log. */
const WHO_DID_IT: Texts = {
  zh: '{subject}。操作者：{by}（{via}{from}），{when}。如果不是您或您的同事所为，请立即修改密码、断开其登录并吊销令牌。',
  en: '{subject}: by {by} ({via}{from}), {when}. If that was not you or a colleague, change the password, end its sign-ins and revoke its tokens now.',
};

const OPERATOR_TEXTS: Readonly<Record<Exclude<Kind, AlertedAction>, Texts>> = {
  'account.expiring': {
    zh: '账号 {username} 将于 {expires}到期（{left}）。',
    en: 'Account {username} expires on {expires} ({left}).',
  },
  'account.expired': {
    zh: '账号 {username} 已于 {expires}到期。',
    en: 'Account {username} expired on {expires}.',
  },
  'account.quota': {
    zh: '账号 {username} 已使用 {used}% 的流量（{traffic}）。',
    en: 'Account {username} has used {used} % of its traffic ({traffic}).',
  },
  'logins.failing': {
    zh: '{client} 自 {since}起登录失败 {failures} 次。',
    en: '{failures} logins from {client} failed since {since}.',
  },
  'account.limited': {
    zh: '账号 {username} 自 {since}起已被减慢 {slowed} 次、拒绝 {refused} 次（{limit}）。可能是扫描程序、BT 下载，或账号被多人共用。',
    en: 'Account {username} was slowed {slowed} times and refused {refused} times since {since} ({limit}). It may scan, use BitTorrent, or be shared.',
  },
  'account.suspended': {
    zh: '账号 {username} 反复超出防护上限（{limit}），暂停使用至 {until}，会话已断开。可在账号页提前恢复。',
    en: 'Account {username} went on beyond its guard ({limit}) and is suspended until {until}; its sessions have ended. Its page in the console lifts the suspension.',
  },
  'run.failed': {
    zh: '智能体 {agent} 的运行 {run} 失败：{error}',
    en: 'Run {run} of agent {agent} failed: {error}',
  },
  'node.lost': {
    zh: '节点 {node} 自 {since}起没有再续约。请检查该机器及其与数据库的连接。',
    en: 'Node {node} has not renewed its lease since {since}. Check its machine and its connection to the database.',
  },
  'node.back': {
    zh: '节点 {node} 自 {since}起失联，现已恢复。',
    en: 'Node {node}, lost since {since}, serves again.',
  },
  'database.trouble': {
    zh: '节点 {node} 自 {since}至 {until}无法使用数据库（{problem}）。',
    en: 'Node {node} could not use the database from {since} until {until} ({problem}).',
  },
  'certificate.expiring': {
    zh: '节点 {node} 的证书 {certificate} 将于 {expires}到期（{left}）。请续期后发送 SIGHUP。',
    en: 'The certificate {certificate} of node {node} expires on {expires} ({left}). Renew it and send SIGHUP.',
  },
  'accounts.digest': { zh: '自 {since}起：{summary}。\n{lines}', en: 'Since {since}: {summary}.\n{lines}' },
  test: { zh: '这是一条测试消息：该通知渠道可以使用。', en: 'This is a test: the channel works.' },
};

const kindOf = ({ type }: { readonly type: string }): Kind =>
  type.startsWith('account.quota-') ? 'account.quota' : (type as Kind);

/** The message that carries the code of an address. It contains nothing that a seller wrote. */
export function codeText(code: string, language: Language): NoticeText {
  return language === 'zh'
    ? {
        subject: '确认您的地址',
        text: `您的确认码：${code}\n把它告诉为您开通账号的人，即可在这里收到到期和流量提醒。24 小时内有效。如果您不知道这是什么，请忽略：之后不会再向您发送任何提醒。`,
      }
    : {
        subject: 'Confirm your address',
        text: `Your code: ${code}\nTell it to the person who made your account, to get reminders of expiry and traffic here. It is valid for 24 hours. If you do not know what this is about, ignore it: no reminder will be sent to you.`,
      };
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
  const template = kind.replace('account.', '') as keyof typeof PLAYER_SUBJECTS;
  const isPlayers = recipient === 'player' && template in PLAYER_SUBJECTS;
  const text = isPlayers
    ? template === 'suspended'
      ? SUSPENDED[language]
      : (settings.templates[template][language] ?? PLAYER_TEXTS[template][language])
    : (kind in OPERATOR_TEXTS ? OPERATOR_TEXTS[kind as keyof typeof OPERATOR_TEXTS] : WHO_DID_IT)[language];
  const subjects = isPlayers ? PLAYER_SUBJECTS[template] : SUBJECTS[kind];
  const subject = fillText(subjects[language], values);
  return { subject, text: fillText(text, { ...values, subject }) };
}

function valuesOf(
  data: Readonly<Record<string, unknown>>,
  language: Language,
  zone: string,
  now: number,
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(data)) {
    const isName = typeof value === 'string' && name !== 'client';
    values[name] = isName ? withoutLinks(value, MAX_CHARS[name] ?? MAX_NAME) : String(value ?? '');
  }
  const { expiresAt, usedBytes, quotaBytes, via, address } = data;
  for (const name of ['when', 'until', 'since']) {
    const at = data[name];
    if (typeof at === 'string') values[name] = dateIn(zone, Date.parse(at), language);
  }
  if (typeof via === 'string') values['via'] = VIAS[via]?.[language] ?? via;
  values['from'] = typeof address === 'string' ? `${language === 'zh' ? '，' : ', '}${address}` : '';
  if (typeof expiresAt === 'string') {
    const at = Date.parse(expiresAt);
    values['expires'] = dateIn(zone, at, language);
    values['left'] = daysLeft(at - now, language);
  }
  if ('accounts' in data) Object.assign(values, digestValues(data as DigestData, language, zone, now));
  if (typeof usedBytes === 'number' && typeof quotaBytes === 'number')
    values['traffic'] = `${sizeText(usedBytes)} / ${sizeText(quotaBytes)}`;
  return values;
}

/** Characters of a name, and of what says more than a name. */
const MAX_NAME = 64;
const MAX_CHARS: Readonly<Record<string, number>> = { error: 300, reason: 300 };

const DIGEST_PARTS = {
  expiring: { zh: '{n} 个即将到期', en: '{n} expiring soon' },
  expired: { zh: '{n} 个已到期', en: '{n} expired' },
  quota: { zh: '{n} 个流量将尽或用尽', en: '{n} near or at the quota' },
} as const satisfies Record<string, Texts>;
/** Lines of each part. The messengers bound the length of a text. */
const MAX_LINES = 10;

function digestValues(
  { accounts, ...counts }: DigestData,
  language: Language,
  zone: string,
  now: number,
): Record<string, string> {
  const names = ['expiring', 'expired', 'quota'] as const;
  const parts = names.filter((name) => counts[name] > 0);
  const partText = (name: (typeof names)[number]) =>
    fillText(DIGEST_PARTS[name][language], { n: String(counts[name]) });
  const lines = parts.flatMap((name) => {
    const of = accounts.filter((each) => kindOf(each) === `account.${name}`);
    const shown = of.slice(0, MAX_LINES).map((each) => {
      const { username, expires, used } = valuesOf(each, language, zone, now);
      return `- ${username}  ${expires ?? `${used}%`}`;
    });
    const more = counts[name] - shown.length;
    if (more > 0) shown.push(language === 'zh' ? `- 另有 ${more} 个` : `- and ${more} more`);
    return ['', `${partText(name)}${language === 'zh' ? '：' : ':'}`, ...shown];
  });
  return { summary: parts.map(partText).join(language === 'zh' ? '，' : ', '), lines: lines.join('\n') };
}

/** The ways of a change, as the console's audit log calls them. */
const VIAS: Readonly<Record<string, Texts>> = {
  console: { zh: '控制台', en: 'console' },
  token: { zh: '令牌', en: 'token' },
  cli: { zh: '命令行', en: 'command line' },
  api: { zh: 'API', en: 'API' },
  daemon: { zh: '服务', en: 'daemon' },
};

function daysLeft(ms: number, language: Language): string {
  const days = Math.ceil(ms / DAY_MS);
  if (days <= 0) return language === 'zh' ? '已到期' : 'expired';
  if (days === 1) return language === 'zh' ? '不足 1 天' : 'less than a day left';
  return language === 'zh' ? `还有 ${days} 天` : `${days} days left`;
}

/** `2026-11-30 08:00 (Asia/Shanghai)` */
export function dateIn(zone: string, at: number, language: Language): string {
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
