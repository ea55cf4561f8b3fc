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
  'import.outcome.added': { en: 'added', zh: '新增' },
  'import.outcome.replaced': { en: 'replaced', zh: '替换' },
  'import.outcome.kept': { en: 'kept', zh: '保留' },
  'import.outcome.skipped': { en: 'skipped', zh: '跳过' },
  'import.outcome.failed': { en: 'failed', zh: '失败' },
} as const satisfies Texts;
