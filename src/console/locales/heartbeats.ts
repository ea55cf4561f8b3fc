// Heartbeats.
import type { Texts } from './texts.js';

export const heartbeats = {
  'heartbeats.by': { en: 'Group by', zh: '分组' },
  'heartbeats.byGame': { en: 'By game', zh: '按游戏' },
  'heartbeats.byAccount': { en: 'By account', zh: '按账号' },
  'heartbeats.rules': { en: 'Game rules', zh: '游戏规则' },
  'heartbeats.perStep': { en: 'Heartbeats per {step}', zh: '心跳数据（每 {step}）' },
  'heartbeats.noGame': { en: 'no game', zh: '未识别' },
  'heartbeats.within': { en: 'in the last {time}', zh: '最近 {time}内' },
  'heartbeats.others': { en: 'others', zh: '其他' },
  'heartbeats.entries': { en: '{n} {n:entry|entries}', zh: '{n} 条' },
  'heartbeats.last': { en: 'Last', zh: '最近' },
  'heartbeats.kind': { en: 'Kind', zh: '类型' },
  'heartbeats.kind.open': { en: 'open', zh: '打开' },
  'heartbeats.kind.beat': { en: 'beat', zh: '心跳' },
  'heartbeats.kind.game': { en: 'game', zh: '游戏' },
  'heartbeats.kind.close': { en: 'close', zh: '关闭' },
  'heartbeats.newest': { en: 'Newest of {game}', zh: '{game} 的最新数据' },
  'heartbeats.empty': { en: 'No heartbeats in this time range', zh: '这段时间没有心跳数据' },
  'heartbeats.empty.text': {
    en: 'Sessions create them when they open, close, transfer bytes or match a game rule.',
    zh: '会话打开、关闭、有流量或命中游戏规则时会产生心跳数据。',
  },
} as const satisfies Texts;
