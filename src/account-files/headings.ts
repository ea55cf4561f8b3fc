// Maps column headings to account fields: the English names in any case, and common Chinese headings.

const CHINESE: Readonly<Record<string, string>> = {
  username: '用户名 用户 账号 帐号 账户 帐户 账号名 账号名称 登录名',
  password: '密码 登录密码 口令',
  isenabled: '启用 是否启用 已启用 启用状态 状态',
  remarks: '备注 备注信息 说明',
  tags: '标签 分组 分类',
  plan: '套餐',
  email: '邮箱 电子邮箱 邮件地址',
  language: '语言',
  authorizedaddresses: '免密地址 授权地址',
  allowedclients: '限定来源 允许来源 绑定地址 绑定ip',
  schedule: '使用时段 时间安排 可用时段',
  createdat: '创建时间 创建日期 开通时间 开通日期 添加时间 注册时间',
  expiresat: '到期时间 到期日期 到期日 到期 过期时间 过期日期 有效期 有效期至 失效时间 截止时间 截止日期',
  maxsessions: '最多会话 最大会话数 会话数上限 会话上限 最大连接数 连接数上限 连接数 并发数',
  maxclientaddresses: '最多来源地址 来源地址上限 最大设备数 设备数',
};
/** Sizes have no Chinese headings, because such columns have no unit: 50 could be bytes or GB. */
const KNOWN = new Map(
  Object.entries(CHINESE).flatMap(([field, names]) => names.split(' ').map((name) => [name, field])),
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
