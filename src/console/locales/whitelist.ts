// The IP whitelist.
import type { Texts } from './texts.js';

export const whitelist = {
  'whitelist.text': {
    en: 'Only these addresses reach the console and the admin API; empty allows all. It counts from the next request on.',
    zh: '只有名单上的地址能打开控制台和管理接口；留空允许所有地址。保存后下一个请求即生效。',
  },
  'whitelist.field': { en: 'Allowed addresses', zh: '允许的地址' },
  'whitelist.hint': {
    en: 'Separated by commas: an exact address, a wildcard ending in *, or a network.',
    zh: '用逗号分隔：精确地址、以 * 结尾的通配，或网段。',
  },
  'whitelist.you': { en: 'Your address', zh: '您的地址' },
  'whitelist.allowed': { en: 'Allowed', zh: '允许' },
  'whitelist.refused': { en: 'Refused', zh: '拒绝' },
  'whitelist.entries': { en: 'Entry by entry', zh: '逐条说明' },
  'whitelist.everyone': {
    en: 'The list is empty: every address is allowed.',
    zh: '名单为空：所有地址都允许。',
  },
  'whitelist.try': { en: 'Try an address', zh: '试一个地址' },
  'whitelist.notAnAddress': { en: 'Not an address', zh: '不是有效的地址' },
  'whitelist.matchedBy': { en: 'because of', zh: '匹配' },
  'whitelist.saved': { en: 'The whitelist was saved', zh: '白名单已保存' },
  'whitelist.lockOut': { en: 'This would lock you out', zh: '这会把您自己锁在外面' },
  'whitelist.lockOut.text': {
    en: 'The new list does not have your address {address}. This page stops working once it is saved; to get back in, run on the server:',
    zh: '新名单不包含您的地址 {address}。保存后此页面将无法访问；要恢复，请在服务器上运行：',
  },
  'whitelist.lockOut.action': { en: 'Save anyway', zh: '仍然保存' },
  'whitelist.kind.address': { en: 'address', zh: '地址' },
  'whitelist.kind.wildcard': { en: 'wildcard', zh: '通配' },
  'whitelist.kind.cidr': { en: 'network', zh: '网段' },
  'whitelist.kind.everyone': { en: 'everyone', zh: '所有地址' },
  'whitelist.kind.invalid': { en: 'cannot be read', zh: '无法识别' },
} as const satisfies Texts;
