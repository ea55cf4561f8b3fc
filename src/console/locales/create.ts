// Creating accounts, and the credentials shown once.
import type { Texts } from './texts.js';

export const create = {
  'create.how': { en: 'How to create', zh: '创建方式' },
  'create.one': { en: 'One', zh: '单个' },
  'create.many': { en: 'Many', zh: '批量' },
  'create.source': { en: 'From', zh: '来源' },
  'create.pattern': { en: 'A pattern', zh: '按规则' },
  'create.pattern.hint': { en: '{001-020} becomes 001, 002 … 020.', zh: '{001-020} 会变成 001、002 … 020。' },
  'create.list': { en: 'A pasted list', zh: '粘贴名单' },
  'create.list.hint': {
    en: 'One account per line, fields separated by commas: user name, password, remarks, e-mail, Telegram. An empty password is generated.',
    zh: '每行一个账号，字段用逗号分隔：用户名、密码、备注、邮箱、Telegram。密码留空则随机生成。',
  },
  'create.password.hint': { en: 'Leave empty for a random password.', zh: '留空则随机生成。' },
  'create.enabled': { en: 'Enabled', zh: '启用' },
  'create.preview': { en: '{n} {n:account|accounts} will be created', zh: '将创建 {n} 个账号' },
  'create.submit': { en: 'Create', zh: '创建' },
  'create.submitMany': { en: 'Create {n} {n:account|accounts}', zh: '创建 {n} 个账号' },
  'credentials.title': { en: 'The account is ready', zh: '账号已就绪' },
  'credentials.of': { en: 'Password and links of {name}', zh: '{name} 的密码和连接' },
  'credentials.many': { en: '{n} accounts were created', zh: '已创建 {n} 个账号' },
  'credentials.reset': {
    en: '{n} {n:account has|accounts have} new passwords',
    zh: '{n} 个账号的密码已重置',
  },
  'credentials.once': {
    en: 'The password is shown only once. Save it now.',
    zh: '密码只显示这一次，请现在保存。',
  },
  'credentials.link': { en: 'Link', zh: '连接地址' },
  'credentials.copyAll': { en: 'Copy all', zh: '全部复制' },
  'credentials.copyPlain': { en: 'Copy as host:port:user:password', zh: '复制为 host:port:user:password' },
  'credentials.save': { en: 'Save as CSV', zh: '保存为 CSV' },
  'credentials.kept': { en: 'I have saved it', zh: '我已保存' },
} as const satisfies Texts;
