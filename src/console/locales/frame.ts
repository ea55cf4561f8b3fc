// The frame: navigation, keys, connection.
import type { Texts } from './texts.js';

export const frame = {
  'nav.label': ['Main navigation', '主导航'],
  'nav.skip': ['Skip to content', '跳到内容'],
  'nav.overview': ['Overview', '概览'],
  'nav.accounts': ['Accounts', '账号'],
  'nav.sessions': ['Sessions', '会话'],
  'nav.heartbeats': ['Heartbeats', '心跳数据'],
  'nav.agents': ['Agents', '智能体'],
  'nav.settings': ['Settings', '设置'],
  'page.none': ['There is no such page', '没有这个页面'],
  'page.none.text': [
    'The address may be mistyped, or come from another version.',
    '地址可能有误，也可能来自其他版本。',
  ],
  'page.none.back': ['To the start page', '返回首页'],
  'keys.title': ['Keyboard', '键盘'],
  'keys.search': ['Search', '搜索'],
  'keys.move': ['Move up and down', '上下移动'],
  'keys.open': ['Open', '打开'],
  'keys.select': ['Select (Shift for a range)', '选择（Shift 选一段）'],
  'keys.close': ['Close, clear the selection', '关闭、取消选择'],
  'keys.help': ['Show this help', '显示此帮助'],
  'state.loading': ['Loading', '正在载入'],
  'state.offline': [
    'No connection to the daemon; reconnecting. The data below may be out of date.',
    '与服务的连接已断开，正在重试。下面的数据可能不是最新的。',
  ],
} as const satisfies Texts;
