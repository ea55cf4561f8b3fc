// Plans, by which accounts are created, renewed and upgraded.
import type { Texts } from './texts.js';

export const plans = {
  'settings.plans': ['Plans', '套餐'],
  'plans.text': [
    'What you sell: a duration and limits. Accounts are created, renewed and upgraded by plans. Changing a plan does not change existing accounts.',
    '您出售的内容：时长和限制。账号可按套餐创建、续费和升级。修改套餐不影响已有账号。',
  ],
  'plans.new': ['New plan', '新建套餐'],
  'plans.edit': ['Plan {name}', '套餐 {name}'],
  'plans.empty': ['No plans yet', '还没有套餐'],
  'plans.empty.text': [
    'For example “Month”: 30 days, 50 GB, 2 devices, 3 MB/s. On the command line:',
    '例如“月付”：30 天、50 GB、2 台设备、3 MB/s。命令行：',
  ],
  'plans.taken': ['Another plan has this name.', '已有同名套餐。'],
  'plans.lasts': ['Lasts', '时长'],
  'plans.forever': ['forever', '永久'],
  'plans.noLimits': ['no limits', '不限'],
  'plans.daysField': ['Days', '天数'],
  'plans.daysField.hint': ['Empty: forever.', '留空表示永久。'],
  'plans.daysField.wrong': ['Must be a whole number from 1 to 3650.', '须为 1 到 3650 的整数。'],
  'plans.startsAtFirstLogin': [
    'Count the days of new accounts from their first login',
    '新账号从首次登录开始计时',
  ],
  'plans.remove': ['Remove plan', '删除套餐'],
  'plans.remove.text': [
    'Accounts keep the expiry and limits that {name} gave them. The plan is no longer offered.',
    '账号保留由 {name} 得到的到期时间和限制，此套餐不再提供。',
  ],
  'plans.choose': ['Plan', '套餐'],
  'plans.none': ['none', '不使用套餐'],
  'plans.own': ['each account’s own plan', '各自现有的套餐'],
  'plans.use': ['Action', '操作'],
  'plans.renew': ['Renew', '续费'],
  'plans.upgrade': ['Upgrade', '升级'],
  'plans.renew.text': [
    'The days of the plan are added to the later of now and the old expiry. Its limits apply at once. A quota that never resets is added to the remaining traffic.',
    '天数从现在与原到期时间中较晚的一个算起。限制立即生效；不重置的流量配额会加在剩余流量上。',
  ],
  'plans.upgrade.text': [
    'The limits of the plan apply at once; the expiry stays. Of a quota that never resets, at least the quota of the plan remains.',
    '限制立即生效，到期时间不变。不重置的流量配额，剩余量至少为套餐的配额。',
  ],
  'expiry.fromLogin': ['{n} {n:day|days} from first login', '首次登录起 {n} 天'],
  'expiry.short.fromLogin': ['{n} d from login', '登录后 {n} 天'],
  'expiry.waiting': [
    'Now: {n} {n:day|days} from the first login. A time chosen here replaces this.',
    '当前：首次登录起 {n} 天。在这里选择的到期时间会替代它。',
  ],
  // A seller's own budget, and what a change takes of it.
  'budget.own': ['Your budget', '我的额度'],
  'budget.accounts': ['Accounts', '账号数'],
  'budget.days': ['Days', '天数'],
  'budget.bytes': ['Traffic', '流量'],
  'budget.inDays': ['{n} {n:day|days}', '{n} 天'],
  'budget.left': ['{left} left', '剩余 {left}'],
  'budget.usedOf': ['{used} of {bound} used', '已用 {used}，共 {bound}'],
  'budget.unbounded': ['{used} used, no limit', '已用 {used}，不限'],
  'budget.enough': ['Your budget covers this', '额度足够'],
  'budget.short': ['Your budget does not cover this', '额度不足'],
  'budget.needs': ['{what}: {needed} needed, {left} left', '{what}：需要 {needed}，剩余 {left}'],
  'budget.endless.accounts': ['Accounts: {left} left', '账号数：剩余 {left}'],
  'budget.endless.days': [
    'Days: an account that never expires needs an unlimited budget; {left} left. Set an expiry date.',
    '天数：永不过期的账号需要不限的额度，剩余 {left}。请设置到期时间。',
  ],
  'budget.endless.bytes': [
    'Traffic: an account without a quota, or with a quota that resets forever, needs an unlimited budget; {left} left. Set a quota, and an expiry date.',
    '流量：没有配额或配额无限期重置的账号需要不限的额度，剩余 {left}。请设置流量配额和到期时间。',
  ],
  // Tags of accounts.
  'tags.title': ['Tags', '标签'],
  'tags.hint': ['Words separated by commas, at most 16.', '用逗号分隔，最多 16 个。'],
  'tags.wrong': ['At most 16 tags of 32 characters.', '最多 16 个标签，每个最多 32 个字符。'],
  'tags.known': ['Tags in use', '已有标签'],
  'tags.add': ['Add', '添加'],
  'tags.remove': ['Remove', '移除'],
  'tags.bulk.text': ['Each account keeps its other tags.', '账号的其他标签保持不变。'],
} as const satisfies Texts;
