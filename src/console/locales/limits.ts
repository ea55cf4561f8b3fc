// The limits of an account.
import type { Texts } from './texts.js';

export const limits = {
  'limits.title': ['Limits', '限制'],
  'limits.none': ['no limit', '不限'],
  'limits.othersNone': ['no other limits', '其余不限'],
  'limits.wrong': ['Must be more than 0; empty means no limit.', '须大于 0；留空表示不限。'],
  'limits.wrongWhole': [
    'Must be a whole number of 1 or more; empty means no limit.',
    '须为不小于 1 的整数；留空表示不限。',
  ],
  'limits.speed': ['Speed limit', '限速'],
  'limits.maxSessions': ['Maximum sessions', '最大会话数'],
  'limits.maxClientAddresses': ['Maximum client addresses', '最大来源地址数'],
  'limits.bytesPerSecondUp': ['Speed up', '上行限速'],
  'limits.bytesPerSecondDown': ['Speed down', '下行限速'],
  'limits.quotaBytes': ['Traffic quota', '流量配额'],
  'limits.quotaPeriod': ['Quota period', '配额周期'],
  'limits.egressClass': ['Egress class', '出口类别'],
  'limits.egressClass.none': ['default rules', '默认规则'],
  'limits.connectionsPerMinute': ['New connections a minute', '每分钟新连接数'],
  'limits.destinationsPerMinute': ['Destinations a minute', '每分钟目标地址数'],
  'limits.lookupsPerMinute': ['Names looked up a minute', '每分钟域名查询数'],
  'limits.asConfigured': ['as configured', '按配置'],
  'limits.off': ['any number', '不限'],
  'limits.wrongPerMinute': [
    'Must be a whole number up to 10,000,000; 0 means any number, empty as egress class or configuration say.',
    '须为不超过 10000000 的整数；0 表示不限，留空表示按出口类别或配置。',
  ],
  'limits.period.day': ['per day', '每天'],
  'limits.period.week': ['per week', '每周'],
  'limits.period.month': ['per month', '每月'],
  'limits.period.never': ['in total', '不重置'],
} as const satisfies Texts;
