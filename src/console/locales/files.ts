// Importing and exporting accounts.
import type { Texts } from './texts.js';

export const files = {
  'file.format': { en: 'Format', zh: '格式' },
  'export.all': { en: 'Exports every account.', zh: '导出全部账号。' },
  'export.filtered': {
    en: 'Exports only the accounts that match the filters.',
    zh: '只导出符合当前筛选条件的账号。',
  },
  'export.withHashes': { en: 'Include password hashes (to move accounts)', zh: '包含密码哈希（用于迁移）' },
  'export.zone': { en: 'Time zone of the dates', zh: '日期所在时区' },
  'export.zone.hint': {
    en: 'AccInfo.ini contains no time zone: choose that of the computer that runs CCProxy.',
    zh: 'AccInfo.ini 不含时区：请选择运行 CCProxy 的电脑所在的时区。',
  },
  'export.download': { en: 'Download', zh: '下载' },
  'import.choose': { en: 'Choose or drop a file (up to {size})', zh: '选择或拖入文件（最大 {size}）' },
  'import.existing': { en: 'Existing accounts', zh: '已存在的账号' },
  'import.skip': { en: 'Skip', zh: '跳过' },
  'import.keep': { en: 'Keep', zh: '保留' },
  'import.replace': { en: 'Replace', zh: '替换' },
  'import.existing.skip': { en: 'They stay unchanged.', zh: '已存在的账号保持不变。' },
  'import.existing.keep': {
    en: 'They keep their values; only missing usage and limits are added.',
    zh: '保留原样，只补上缺少的用量和限制。',
  },
  'import.existing.replace': {
    en: 'Fields in the file overwrite theirs.',
    zh: '文件中的字段会覆盖原有内容。',
  },
  'import.zone': { en: 'Time zone of dates', zh: '日期所在时区' },
  'import.zone.hint': {
    en: 'For dates without a time zone, such as 2026/12/31 and 2026-12-31 23:59. Dates of exported files, such as 2026-12-31T23:59:59, are UTC.',
    zh: '用于 2026/12/31、2026-12-31 23:59 等未写时区的日期；导出文件中的 2026-12-31T23:59:59 始终是 UTC。',
  },
  'import.encoding': { en: 'Encoding', zh: '文件编码' },
  'import.encoding.hint': {
    en: 'Choose one if names are garbled in the dry run.',
    zh: '试运行后如有乱码，请在此选择。',
  },
  'import.encoding.auto': { en: 'Detect automatically', zh: '自动识别' },
  'import.try': { en: 'Dry run', zh: '试运行' },
  'import.apply': { en: 'Import {n} {n:account|accounts}', zh: '导入 {n} 个账号' },
  'import.wouldBe': { en: 'Dry run: ', zh: '试运行结果：' },
  'import.readAs': {
    en: 'Encoding {encoding}; time zone of dates without one: {zone}.',
    zh: '编码 {encoding}；未写时区的日期按 {zone} 读取。',
  },
  'import.done': { en: 'Imported: ', zh: '已导入：' },
  'import.line': { en: 'line {n}', zh: '第 {n} 行' },
  'import.lines': { en: 'Lines of the file', zh: '文件各行' },
  'import.summary': {
    en: '{read} read, {added} added, {replaced} replaced, {kept} kept, {skipped} skipped, {failed} failed.',
    zh: '读取 {read}，新增 {added}，替换 {replaced}，保留 {kept}，跳过 {skipped}，失败 {failed}。',
  },
  'import.willBeLost': {
    en: 'CCProxy settings that will not be kept:',
    zh: '以下 CCProxy 设置不会保留：',
  },
  'import.lost': { en: 'CCProxy settings that were not kept:', zh: '以下 CCProxy 设置未保留：' },
  'import.lost.accounts': { en: '{n} {n:account|accounts}', zh: '{n} 个账号' },
  'import.lost.client-address': {
    en: 'Bound to client addresses, but the file names none: may log in from everywhere',
    zh: '绑定来源地址，但文件中没有地址：可从任何来源登录',
  },
  'import.lost.mac-address': { en: 'MAC address', zh: 'MAC 地址绑定' },
  'import.lost.web-filter': { en: 'Web filter', zh: '网站过滤' },
  'import.lost.time-schedule': {
    en: 'Time schedule (the file has only its number)',
    zh: '时间安排（文件中只有编号）',
  },
  'import.lost.group': { en: 'Settings of its group', zh: '所属组的设置' },
  'import.lost.left-time': { en: 'Remaining time', zh: '剩余时长' },
  'import.lost.bandwidth-quota': {
    en: 'Bandwidth quota (CCProxy counts it over a number of days)',
    zh: '流量配额（CCProxy 按若干天计算）',
  },
  'import.lost.outgoing-address': { en: 'Outgoing address', zh: '出口地址' },
  'import.lost.services': { en: 'Services other than SOCKS switched off', zh: '已关闭的其他服务' },
  'import.lost.group-account': { en: 'Groups (not accounts)', zh: '组（不是账号）' },
  'import.leftOut': { en: '{n} more lines are not listed.', zh: '另有 {n} 行未列出。' },
  'import.count.read': { en: 'Read', zh: '读取' },
  'import.reason.no-username': { en: 'the user name is missing', zh: '缺少用户名' },
  'import.reason.username': {
    en: 'the user name must be 1 to 255 bytes without control characters',
    zh: '用户名须为 1 到 255 字节，不含控制字符',
  },
  'import.reason.password': {
    en: 'the password must be a text of 1 to 255 bytes',
    zh: '密码须为 1 到 255 字节',
  },
  'import.reason.password-hash': {
    en: 'passwordHash is neither sha256$salt$digest nor 64 hexadecimal digits',
    zh: '密码哈希须为 sha256$盐$摘要，或 64 位十六进制数',
  },
  'import.reason.two-passwords': {
    en: 'give either password or passwordHash, not both',
    zh: '密码与密码哈希只能给出一个',
  },
  'import.reason.no-password': {
    en: 'a new account needs a password or a passwordHash',
    zh: '新账号需要密码或密码哈希',
  },
  'import.reason.is-enabled': { en: 'isEnabled is neither true nor false', zh: '“启用”须为 true 或 false' },
  'import.reason.tags': {
    en: 'the tags must be at most 16 words of 1 to 32 characters, separated by commas',
    zh: '标签最多 16 个，每个 1 到 32 个字符，用逗号分隔',
  },
  'import.reason.contacts': {
    en: 'email must be one address, telegram a chat id or @name, language zh or en',
    zh: 'email 须为一个邮箱地址，telegram 须为聊天 ID 或 @名称，language 须为 zh 或 en',
  },
  'import.reason.plan': {
    en: 'plan must be a name of 1 to 64 characters, daysFromFirstLogin a whole number from 1 to 36500',
    zh: 'plan 须为 1 到 64 个字符的名称，daysFromFirstLogin 须为 1 到 36500 的整数',
  },
  'import.reason.schedule': {
    en: 'schedule must be days and times such as mon-fri 08:00-23:00; sat,sun 00:00-24:00 (mon tue wed thu fri sat sun), at most 255 characters',
    zh: '可用时段须为星期和时间，例如 mon-fri 08:00-23:00; sat,sun 00:00-24:00（mon tue wed thu fri sat sun），最多 255 个字符',
  },
  'import.reason.addresses': {
    en: '{field} must be text, or a list of texts',
    zh: '{field} 须为文本或文本列表',
  },
  'import.reason.address': {
    en: '{entry} is neither an address (203.0.113.7) nor a network (203.0.113.0/24)',
    zh: '{entry} 不是地址（203.0.113.7）或网段（203.0.113.0/24）',
  },
  'import.reason.address-too-wide': {
    en: '{entry} is too wide: at least /{ipv4} (IPv4) or /{ipv6} (IPv6)',
    zh: '网段 {entry} 过大：IPv4 至少 /{ipv4}，IPv6 至少 /{ipv6}',
  },
  'import.reason.too-many-addresses': {
    en: 'an account has at most {max} addresses and networks ({key})',
    zh: '每个账号最多 {max} 个地址和网段（{key}）',
  },
  'import.reason.address-taken': {
    en: '{entry} overlaps an address of the account {username}',
    zh: '{entry} 与账号 {username} 的免密地址重叠',
  },
  'import.reason.remarks': { en: 'the remarks cannot be stored', zh: '备注含有无法保存的字符' },
  'import.reason.date': {
    en: 'a date must be of the form 2026-12-31T23:59:59 (UTC), 2026-12-31 23:59 or 2026/12/31, in the years 0001 to 9999',
    zh: '日期须写成 2026-12-31T23:59:59（UTC）、2026-12-31 23:59 或 2026/12/31，年份 0001 到 9999',
  },
  'import.reason.id': { en: 'id is not a GUID', zh: 'id 不是 GUID' },
  'import.reason.usage': {
    en: 'the usage must be a whole number of bytes, 0 or more',
    zh: '用量须为不小于 0 的整数（字节）',
  },
  'import.reason.limit': {
    en: '{field} must be a whole number of 1 or more',
    zh: '{field} 须为不小于 1 的整数',
  },
  'import.reason.choice': { en: '{field} is none of {allowed}', zh: '{field} 只能是 {allowed}' },
  'import.reason.text': { en: '{field} is not a text', zh: '{field} 不是文本' },
  'import.reason.no-egress-class': {
    en: 'the configuration has no such egress class',
    zh: '配置里没有这个出口类别',
  },
  'import.reason.egress-scope': {
    en: 'the token lacks the scope egress:write for its egress class',
    zh: '令牌没有 egress:write 权限，不能设置出口类别',
  },
  'import.reason.exists': { en: 'the account already exists', zh: '账号已存在' },
  'import.reason.twice': { en: 'the file contains this user name twice', zh: '文件中用户名重复' },
  'import.reason.taken-meanwhile': {
    en: 'another account took the user name during the import',
    zh: '导入期间用户名已被其他账号占用',
  },
  'import.reason.removed-meanwhile': {
    en: 'the account was removed during the import',
    zh: '导入期间账号已被删除',
  },
  'import.reason.not-added': {
    en: 'not added: the database could not be written',
    zh: '没有新增：数据库写入失败',
  },
  'import.reason.not-replaced': {
    en: 'not replaced: the database could not be written',
    zh: '没有替换：数据库写入失败',
  },
  'import.reason.not-completed': {
    en: 'limits and usage were not imported: the database could not be written',
    zh: '没有写入限制和用量：数据库写入失败',
  },
  'import.reason.over-budget-accounts': {
    en: 'not imported: with the lines written together with it, it needs more than the {left} accounts left in the budget',
    zh: '没有导入：与同批写入的行合计超出额度，账号数剩余 {left}',
  },
  'import.reason.over-budget-days': {
    en: 'not imported: with the lines written together with it, it needs more than the {left} days left in the budget',
    zh: '没有导入：与同批写入的行合计超出额度，天数剩余 {left}',
  },
  'import.reason.over-budget-bytes': {
    en: 'not imported: with the lines written together with it, it needs more than the {left} bytes left in the budget',
    zh: '没有导入：与同批写入的行合计超出额度，流量剩余 {left} 字节',
  },
  'import.reason.not-csv': {
    en: 'invalid CSV; nothing after this line was read',
    zh: 'CSV 格式错误，后面的内容没有读取',
  },
  'import.reason.no-heading': {
    en: 'the header row has no column username; it has {found}; nothing was read',
    zh: '没有名为“用户名”、“账号”或 username 的列；首行为 {found}；没有读取任何内容',
  },
  'import.reason.encoding': {
    en: 'invalid {encoding} text; nothing after this line was read',
    zh: '不是 {encoding} 编码，后面的内容没有读取',
  },
  'import.reason.too-large': {
    en: 'the file is larger than 16 MiB; nothing was read',
    zh: '文件超过 16 MiB，没有读取',
  },
  'import.reason.not-json': {
    en: 'invalid JSON; nothing after this line was read',
    zh: 'JSON 格式错误，后面的内容没有读取',
  },
  'import.reason.not-json-array': {
    en: 'not a JSON array of objects; nothing after this line was read',
    zh: '不是由对象组成的 JSON 数组，后面的内容没有读取',
  },
  'import.reason.json-end': { en: 'the JSON array is not closed', zh: 'JSON 数组没有结束' },
  'import.reason.json-length': {
    en: 'an account is longer than 64 KiB; nothing after this line was read',
    zh: '一个账号超过 64 KiB，后面的内容没有读取',
  },
  'import.outcome.added': { en: 'added', zh: '新增' },
  'import.outcome.replaced': { en: 'replaced', zh: '替换' },
  'import.outcome.kept': { en: 'kept', zh: '保留' },
  'import.outcome.skipped': { en: 'skipped', zh: '跳过' },
  'import.outcome.failed': { en: 'failed', zh: '失败' },
} as const satisfies Texts;
