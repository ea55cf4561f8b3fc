// Nodes: the daemons that share the database.
import type { Texts } from './texts.js';

export const nodes = {
  'nodes.text': {
    en: 'The daemons that share this database. Drain one before you stop it: it takes no new connections, and its sessions go on until they end.',
    zh: '共用此数据库的服务节点。停机前先停止接入：节点不再接受新连接，已有会话继续到结束。',
  },
  'nodes.name': { en: 'Node', zh: '节点' },
  'nodes.this': { en: 'this one', zh: '当前节点' },
  'nodes.state': { en: 'State', zh: '状态' },
  'nodes.state.serving': { en: 'Serving', zh: '正常' },
  'nodes.state.draining': { en: 'Draining', zh: '停止接入，等待会话结束' },
  'nodes.state.drained': { en: 'Drained', zh: '已停止接入' },
  'nodes.state.lost': { en: 'Lost', zh: '失联' },
  'nodes.state.stopped': { en: 'Stopped', zh: '已停止' },
  'nodes.staysDrained': { en: 'drained', zh: '停止接入' },
  'nodes.sessions': { en: 'Sessions', zh: '会话' },
  'nodes.rate': { en: 'Rate', zh: '速率' },
  'nodes.cpu': { en: 'CPU', zh: 'CPU' },
  'nodes.cpu.title': { en: 'Of one core', zh: '占单核的比例' },
  'nodes.database': { en: 'Database', zh: '数据库' },
  'nodes.database.title': { en: 'How long the database took to answer', zh: '数据库的应答时间' },
  'nodes.ms': { en: '{n} ms', zh: '{n} 毫秒' },
  'nodes.addresses': { en: 'Listens on', zh: '监听地址' },
  'nodes.seen': { en: 'Seen', zh: '最近响应' },
  'nodes.drain': { en: 'Drain', zh: '停止接入' },
  'nodes.undrain': { en: 'Undrain', zh: '恢复接入' },
  'nodes.drainTitle': { en: 'Drain {name}', zh: '{name} 停止接入' },
  'nodes.drainText': {
    en: 'The load balancer sees it at once (/readyz is 503); new connections are refused a few seconds later. It stays drained when it starts again.',
    zh: '负载均衡会立即得知（/readyz 返回 503），几秒后新连接被拒绝。节点重启后仍保持停止接入。',
  },
  'nodes.drainOnly': {
    en: 'No other node is serving: players will not be able to connect.',
    zh: '没有其他节点在服务：玩家将无法连接。',
  },
  'nodes.drained': { en: '{name} is drained', zh: '{name} 已停止接入' },
  'nodes.undrained': { en: '{name} takes connections again', zh: '{name} 已恢复接入' },
} as const satisfies Texts;
