// The IP whitelist.
import type { Texts } from './texts.js';

export const whitelist = {
  'whitelist.text': {
    en: 'Only these addresses can use the console and the admin API; empty allows all. Changes apply from the next request.',
    zh: '只有名单中的地址能访问控制台和管理 API；留空允许所有地址。保存后从下一个请求起生效。',
  },
  'whitelist.field': { en: 'Allowed addresses', zh: '允许的地址' },
  'whitelist.hint': {
    en: 'Separated by commas: an exact address, a wildcard ending in *, or a network.',
    zh: '用逗号分隔：精确地址、以 * 结尾的通配，或网段。',
  },
  'whitelist.invalid': {
    en: 'Not valid: {entries}. An entry is an exact address, a wildcard ending in *, or a network.',
    zh: '无效：{entries}。每条须为精确地址、以 * 结尾的通配，或网段。',
  },
  'whitelist.you': { en: 'Your address', zh: '您的地址' },
  'whitelist.allowed': { en: 'Allowed', zh: '允许' },
  'whitelist.refused': { en: 'Refused', zh: '拒绝' },
  'whitelist.entries': { en: 'Entry by entry', zh: '逐条说明' },
  'whitelist.everyone': {
    en: 'The list is empty: every address is allowed.',
    zh: '名单为空：所有地址都允许。',
  },
  'whitelist.try': { en: 'Test an address', zh: '测试地址' },
  'whitelist.notAnAddress': { en: 'Not an address', zh: '不是有效的地址' },
  'whitelist.matchedBy': { en: 'matches', zh: '匹配' },
  'whitelist.saved': { en: 'The whitelist was saved', zh: '白名单已保存' },
  'whitelist.lockOut': { en: 'This would lock you out', zh: '这会把您自己锁在外面' },
  'whitelist.lockOut.text': {
    en: 'The new list does not contain your address {address}. After you save it, this page stops working. To get back in, run on the server:',
    zh: '新名单不包含您的地址 {address}。保存后此页面将无法访问；要恢复，请在服务器上运行：',
  },
  'whitelist.lockOut.action': { en: 'Save anyway', zh: '仍然保存' },
  'whitelist.kind.address': { en: 'address', zh: '地址' },
  'whitelist.kind.wildcard': { en: 'wildcard', zh: '通配' },
  'whitelist.kind.cidr': { en: 'network', zh: '网段' },
  'whitelist.kind.everyone': { en: 'everyone', zh: '所有地址' },
  'whitelist.kind.invalid': { en: 'not valid', zh: '无效' },
} as const satisfies Texts;
