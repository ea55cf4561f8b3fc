// The limits of an account.
import type { Texts } from './texts.js';

export const limits = {
  'limits.title': { en: 'Limits', zh: '限制' },
  'limits.none': { en: 'no limit', zh: '不限' },
  'limits.othersNone': { en: 'no other limits', zh: '其余不限' },
  'limits.wrong': { en: 'Must be more than 0; empty means no limit.', zh: '须大于 0；留空表示不限。' },
  'limits.wrongWhole': {
    en: 'Must be a whole number of 1 or more; empty means no limit.',
    zh: '须为不小于 1 的整数；留空表示不限。',
  },
  'limits.speed': { en: 'Speed limit', zh: '限速' },
  'limits.maxSessions': { en: 'Maximum sessions', zh: '最大会话数' },
  'limits.maxClientAddresses': { en: 'Maximum client addresses', zh: '最大来源地址数' },
  'limits.bytesPerSecondUp': { en: 'Speed up', zh: '上行限速' },
  'limits.bytesPerSecondDown': { en: 'Speed down', zh: '下行限速' },
  'limits.quotaBytes': { en: 'Traffic quota', zh: '流量配额' },
  'limits.quotaPeriod': { en: 'Quota period', zh: '配额周期' },
  'limits.egressClass': { en: 'Egress class', zh: '出口类别' },
  'limits.egressClass.none': { en: 'default rules', zh: '默认规则' },
  'limits.connectionsPerMinute': { en: 'New connections a minute', zh: '每分钟新连接数' },
  'limits.destinationsPerMinute': { en: 'Destinations a minute', zh: '每分钟目标地址数' },
  'limits.lookupsPerMinute': { en: 'Names looked up a minute', zh: '每分钟域名查询数' },
  'limits.asConfigured': { en: 'as configured', zh: '按配置' },
  'limits.off': { en: 'any number', zh: '不限' },
  'limits.wrongPerMinute': {
    en: 'Must be a whole number up to 10,000,000; 0 means any number, empty as egress class or configuration say.',
    zh: '须为不超过 10000000 的整数；0 表示不限，留空表示按出口类别或配置。',
  },
  'limits.period.day': { en: 'per day', zh: '每天' },
  'limits.period.week': { en: 'per week', zh: '每周' },
  'limits.period.month': { en: 'per month', zh: '每月' },
  'limits.period.never': { en: 'in total', zh: '不重置' },
} as const satisfies Texts;
