// Times, units and ranges.
import type { Texts } from './texts.js';

export const units = {
  'time.now': { en: 'just now', zh: '刚刚' },
  'time.ago': { en: '{time} ago', zh: '{time}前' },
  'unit.seconds': { en: '{n} s', zh: '{n} 秒' },
  'unit.minutes': { en: '{n} min', zh: '{n} 分钟' },
  'unit.hours': { en: '{n} h', zh: '{n} 小时' },
  'unit.days': { en: '{n} {n:day|days}', zh: '{n} 天' },
  'expiry.never': { en: 'never expires', zh: '永不过期' },
  'expiry.in': { en: 'expires in {time}', zh: '{time}后到期' },
  'expiry.ago': { en: 'expired {time} ago', zh: '{time}前已到期' },
  'expiry.short.never': { en: 'never', zh: '永不过期' },
  'expiry.short.in': { en: 'in {time}', zh: '{time}后到期' },
  'expiry.short.ago': { en: '{time} ago', zh: '{time}前已到期' },
  'expiry.daysFromNow': { en: 'in {n} days', zh: '{n} 天后' },
  'expiry.incomplete': {
    en: 'The date is incomplete: complete it, or choose “never expires”.',
    zh: '日期不完整；请补全，或选“永不过期”。',
  },
  'range.label': { en: 'Time range', zh: '时间范围' },
  'range.hour': { en: 'Hour', zh: '1 小时' },
  'range.day': { en: 'Day', zh: '1 天' },
  'range.month': { en: 'Month', zh: '30 天' },
  'traffic.down': { en: 'Down', zh: '下行' },
  'traffic.up': { en: 'Up', zh: '上行' },
} as const satisfies Texts;
