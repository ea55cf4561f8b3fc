// The frame: navigation, keys, connection.
import type { Texts } from './texts.js';

export const frame = {
  'nav.label': { en: 'Main navigation', zh: '主导航' },
  'nav.skip': { en: 'Skip to content', zh: '跳到内容' },
  'nav.overview': { en: 'Overview', zh: '概览' },
  'nav.accounts': { en: 'Accounts', zh: '账号' },
  'nav.sessions': { en: 'Sessions', zh: '会话' },
  'nav.heartbeats': { en: 'Heartbeats', zh: '心跳数据' },
  'nav.agents': { en: 'Agents', zh: '智能体' },
  'nav.settings': { en: 'Settings', zh: '设置' },
  'page.none': { en: 'There is no such page', zh: '没有这个页面' },
  'page.none.text': {
    en: 'The address may be mistyped, or come from another version.',
    zh: '地址可能有误，也可能来自其他版本。',
  },
  'page.none.back': { en: 'To the start page', zh: '返回首页' },
  'keys.title': { en: 'Keyboard', zh: '键盘' },
  'keys.search': { en: 'Search', zh: '搜索' },
  'keys.move': { en: 'Move up and down', zh: '上下移动' },
  'keys.open': { en: 'Open', zh: '打开' },
  'keys.select': { en: 'Select (Shift for a range)', zh: '选择（Shift 选一段）' },
  'keys.close': { en: 'Close, clear the selection', zh: '关闭、取消选择' },
  'keys.help': { en: 'Show this help', zh: '显示此帮助' },
  'state.loading': { en: 'Loading', zh: '正在载入' },
  'state.offline': {
    en: 'No connection to the daemon; reconnecting. The data below may be out of date.',
    zh: '与服务的连接已断开，正在重试。下面的数据可能不是最新的。',
  },
} as const satisfies Texts;
