// Plans, by which accounts are created, renewed and upgraded.
import type { Texts } from './texts.js';

export const plans = {
  'settings.plans': { en: 'Plans', zh: '套餐' },
  'plans.text': {
    en: 'What you sell: how long it lasts, and its limits. Accounts are created, renewed and upgraded by plans; those that have one keep what they got when it changes.',
    zh: '您售卖的内容：时长和限制。账号可按套餐创建、续费、升级；套餐修改后，已有账号保持原来得到的内容。',
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
  'plans.forever': { en: 'for ever', zh: '永久' },
  'plans.days': { en: '{n} {n:day|days}', zh: '{n} 天' },
  'plans.daysFromLogin': { en: '{n} {n:day|days} from first login', zh: '首次登录起 {n} 天' },
  'plans.noLimits': { en: 'no limits', zh: '不限' },
  'plans.daysField': { en: 'Days', zh: '天数' },
  'plans.daysField.hint': { en: 'Empty: for ever.', zh: '留空表示永久。' },
  'plans.daysField.wrong': { en: 'A whole number from 1 to 3650.', zh: '1 到 3650 的整数。' },
  'plans.startsAtFirstLogin': {
    en: 'Count the days of new accounts from their first login',
    zh: '新账号从首次登录开始计时',
  },
  'plans.remove': { en: 'Remove plan', zh: '删除套餐' },
  'plans.remove.short': { en: 'Remove', zh: '删除' },
  'plans.remove.text': {
    en: 'Accounts keep what they have got by {name}; it is no longer offered.',
    zh: '账号保留已从 {name} 得到的内容，之后不再提供此套餐。',
  },
  'plans.choose': { en: 'Plan', zh: '套餐' },
  'plans.none': { en: 'none', zh: '不使用套餐' },
  'plans.own': { en: 'the plan that each has', zh: '各自现有的套餐' },
  'plans.use': { en: 'What to do', zh: '操作' },
  'plans.renew': { en: 'Renew', zh: '续费' },
  'plans.upgrade': { en: 'Upgrade', zh: '升级' },
  'plans.renew.text': {
    en: 'Its days are added to the later of now and the old expiry. Its limits hold from now on; a quota that never starts again is added to what is left.',
    zh: '天数从现在与原到期时间中较晚的一个算起。限制立即生效；不重置的流量配额会加在剩余流量上。',
  },
  'plans.upgrade.text': {
    en: 'Its limits hold from now on; the expiry stays. Of a quota that never starts again, at least that of the plan is left.',
    zh: '限制立即生效，到期时间不变。不重置的流量配额，剩余量至少为套餐的配额。',
  },
  'expiry.fromLogin': { en: '{n} {n:day|days} from first login', zh: '首次登录起 {n} 天' },
  'expiry.short.fromLogin': { en: '{n} d from login', zh: '登录后 {n} 天' },
  'expiry.waiting': {
    en: 'It now waits: {n} {n:day|days} from its first login. A time chosen here takes the place of that.',
    zh: '当前：首次登录起 {n} 天。在这里选择时间会取而代之。',
  },
} as const satisfies Texts;
