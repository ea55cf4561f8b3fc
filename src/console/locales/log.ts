// The recent log.
import type { Texts } from './texts.js';

export const log = {
  'log.title': { en: 'Recent log', zh: '近期日志' },
  'log.text': {
    en: 'The newest lines that {node} has logged since its start. log.level in the configuration sets which lines it writes.',
    zh: '{node} 启动以来最近的日志。写入哪些级别由配置项 log.level 决定。',
  },
  'log.search': { en: 'Search words of a line', zh: '搜索日志中的词' },
  'log.from.info': { en: 'Info and above', zh: '信息及以上' },
  'log.from.warn': { en: 'Warnings and above', zh: '警告及以上' },
  'log.from.error': { en: 'Errors only', zh: '仅错误' },
  'log.level.trace': { en: 'trace', zh: '跟踪' },
  'log.level.debug': { en: 'debug', zh: '调试' },
  'log.level.info': { en: 'info', zh: '信息' },
  'log.level.warn': { en: 'warning', zh: '警告' },
  'log.level.error': { en: 'error', zh: '错误' },
  'log.level.fatal': { en: 'fatal', zh: '致命' },
  'log.pause': { en: 'Pause', zh: '暂停' },
  'log.resume': { en: 'Resume', zh: '继续' },
  'log.copy': { en: 'Copy these lines', zh: '复制所列日志' },
  'log.paused': { en: 'Paused', zh: '已暂停' },
  'log.pausedNewer': { en: 'Paused: {n} newer {n:line|lines}', zh: '已暂停：有 {n} 条更新的日志' },
  'log.pausedMany': { en: 'Paused: more than {n} newer lines', zh: '已暂停：有超过 {n} 条更新的日志' },
  'log.empty': { en: 'No such lines', zh: '没有符合条件的日志' },
  'log.empty.text': {
    en: 'Lines appear here as the daemon writes them.',
    zh: '服务写入日志后会显示在这里。',
  },
} as const satisfies Texts;
