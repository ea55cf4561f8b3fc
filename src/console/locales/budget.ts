// A seller's own budget, and what a change takes of it.
import type { Texts } from './texts.js';

export const budget = {
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
} as const satisfies Texts;
