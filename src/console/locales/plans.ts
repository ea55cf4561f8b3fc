// Plans, by which accounts are created, renewed and upgraded.
import type { Texts } from './texts.js';

export const plans = {
  'settings.plans': { en: 'Plans', zh: '套餐' },
  'plans.text': {
    en: 'What you sell: a duration and limits. Accounts are created, renewed and upgraded by plans. Changing a plan does not change existing accounts.',
    zh: '您出售的内容：时长和限制。账号可按套餐创建、续费和升级。修改套餐不影响已有账号。',
  },
  'plans.new': { en: 'New plan', zh: '新建套餐' },
  'plans.edit': { en: 'Plan {name}', zh: '套餐 {name}' },
  'plans.empty': { en: 'No plans yet', zh: '还没有套餐' },
  'plans.empty.text': {
    en: 'For example “Month”: 30 days, 50 GB, 2 devices, 3 MB/s. On the command line:',
    zh: '例如“月付”：30 天、50 GB、2 台设备、3 MB/s。命令行：',
  },
  'plans.name': { en: 'Name', zh: '名称' },
  'plans.taken': { en: 'Another plan has this name.', zh: '已有同名套餐。' },
  'plans.lasts': { en: 'Lasts', zh: '时长' },
  'plans.forever': { en: 'forever', zh: '永久' },
  'plans.days': { en: '{n} {n:day|days}', zh: '{n} 天' },
  'plans.daysFromLogin': { en: '{n} {n:day|days} from first login', zh: '首次登录起 {n} 天' },
  'plans.noLimits': { en: 'no limits', zh: '不限' },
  'plans.daysField': { en: 'Days', zh: '天数' },
  'plans.daysField.hint': { en: 'Empty: forever.', zh: '留空表示永久。' },
  'plans.daysField.wrong': { en: 'Must be a whole number from 1 to 3650.', zh: '须为 1 到 3650 的整数。' },
  'plans.startsAtFirstLogin': {
    en: 'Count the days of new accounts from their first login',
    zh: '新账号从首次登录开始计时',
  },
  'plans.remove': { en: 'Remove plan', zh: '删除套餐' },
  'plans.remove.short': { en: 'Remove', zh: '删除' },
  'plans.remove.text': {
    en: 'Accounts keep the expiry and limits that {name} gave them. The plan is no longer offered.',
    zh: '账号保留由 {name} 得到的到期时间和限制，此套餐不再提供。',
  },
  'plans.choose': { en: 'Plan', zh: '套餐' },
  'plans.none': { en: 'none', zh: '不使用套餐' },
  'plans.own': { en: 'each account’s own plan', zh: '各自现有的套餐' },
  'plans.use': { en: 'Action', zh: '操作' },
  'plans.renew': { en: 'Renew', zh: '续费' },
  'plans.upgrade': { en: 'Upgrade', zh: '升级' },
  'plans.renew.text': {
    en: 'The days of the plan are added to the later of now and the old expiry. Its limits apply at once. A quota that never resets is added to the remaining traffic.',
    zh: '天数从现在与原到期时间中较晚的一个算起。限制立即生效；不重置的流量配额会加在剩余流量上。',
  },
  'plans.upgrade.text': {
    en: 'The limits of the plan apply at once; the expiry stays. Of a quota that never resets, at least the quota of the plan remains.',
    zh: '限制立即生效，到期时间不变。不重置的流量配额，剩余量至少为套餐的配额。',
  },
  'expiry.fromLogin': { en: '{n} {n:day|days} from first login', zh: '首次登录起 {n} 天' },
  'expiry.short.fromLogin': { en: '{n} d from login', zh: '登录后 {n} 天' },
  'expiry.waiting': {
    en: 'Now: {n} {n:day|days} from the first login. A time chosen here replaces this.',
    zh: '当前：首次登录起 {n} 天。在这里选择的到期时间会替代它。',
  },
  // A seller's own budget, and what a change takes of it.
  'budget.own': { en: 'Your budget', zh: '我的额度' },
  'budget.accounts': { en: 'Accounts', zh: '账号数' },
  'budget.days': { en: 'Days', zh: '天数' },
  'budget.bytes': { en: 'Traffic', zh: '流量' },
  'budget.inDays': { en: '{n} {n:day|days}', zh: '{n} 天' },
  'budget.left': { en: '{left} left', zh: '剩余 {left}' },
  'budget.usedOf': { en: '{used} of {bound} used', zh: '已用 {used}，共 {bound}' },
  'budget.unbounded': { en: '{used} used, no limit', zh: '已用 {used}，不限' },
  'budget.enough': { en: 'Your budget covers this', zh: '额度足够' },
  'budget.short': { en: 'Your budget does not cover this', zh: '额度不足' },
  'budget.needs': { en: '{what}: {needed} needed, {left} left', zh: '{what}：需要 {needed}，剩余 {left}' },
  'budget.endless.accounts': { en: 'Accounts: {left} left', zh: '账号数：剩余 {left}' },
  'budget.endless.days': {
    en: 'Days: an account that never expires needs an unlimited budget; {left} left. Set an expiry date.',
    zh: '天数：永不过期的账号需要不限的额度，剩余 {left}。请设置到期时间。',
  },
  'budget.endless.bytes': {
    en: 'Traffic: an account without a quota, or with a quota that resets forever, needs an unlimited budget; {left} left. Set a quota, and an expiry date.',
    zh: '流量：没有配额或配额无限期重置的账号需要不限的额度，剩余 {left}。请设置流量配额和到期时间。',
  },
  // Tags of accounts.
  'tags.title': { en: 'Tags', zh: '标签' },
  'tags.hint': { en: 'Words separated by commas, at most 16.', zh: '用逗号分隔，最多 16 个。' },
  'tags.wrong': { en: 'At most 16 tags of 32 characters.', zh: '最多 16 个标签，每个最多 32 个字符。' },
  'tags.known': { en: 'Tags in use', zh: '已有标签' },
  'tags.add': { en: 'Add', zh: '添加' },
  'tags.remove': { en: 'Remove', zh: '移除' },
  'tags.bulk.text': {
    en: 'Each account keeps its other tags.',
    zh: '账号的其他标签保持不变。',
  },
} as const satisfies Texts;
