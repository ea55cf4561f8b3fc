// Maps column headings to account fields: the English names in any case, and common Chinese headings.
import { FIELDS } from '../core/accounts/fields/account-fields.js';

const CHINESE: Readonly<Record<string, string>> = {
  username: '用户名 用户 账号 帐号 账户 帐户 账号名 账号名称 登录名',
  password: '密码 登录密码 口令',
  email: '邮箱 电子邮箱 邮件地址',
  language: '语言',
  createdat: '创建时间 创建日期 开通时间 开通日期 添加时间 注册时间',
  maxsessions: '最多会话 最大会话数 会话数上限 会话上限 最大连接数 连接数上限 连接数 并发数',
  maxclientaddresses: '最多来源地址 来源地址上限 最大设备数 设备数',
};
/** Sizes have no Chinese headings, because such columns have no unit: 50 could be bytes or GB. */
const KNOWN = new Map(
  [
    ...Object.entries(CHINESE),
    ...FIELDS.map(([name, { headings = '' }]) => [name.toLowerCase(), headings] as const),
  ].flatMap(([field, names]) =>
    names
      .split(' ')
      .filter((name) => name !== '')
      .map((name) => [name, field]),
  ),
);

/** A cache, because every cell needs a lookup. Bounded, because JSON files may contain any names. */
const known = new Map<string, string>();
const MAX_REMEMBERED = 1_000;

/** The field name for a heading, in lower case: `User_Name`, `username` and `用户名（必填）` are the same. */
export function fieldNamed(heading: string): string {
  const remembered = known.get(heading);
  if (remembered !== undefined) return remembered;
  const plain = heading.normalize('NFKC').trim().toLowerCase();
  const field = KNOWN.get(plain.replace(/\(.*\)$/, '').trim()) ?? plain.replace(/[ _-]/g, '');
  if (known.size < MAX_REMEMBERED) known.set(heading, field);
  return field;
}
