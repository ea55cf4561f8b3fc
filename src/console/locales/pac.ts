// What the players' PAC files send through the proxy.
import type { Texts } from './texts.js';

export const pac = {
  'pac.title': { en: 'PAC files', zh: 'PAC 文件' },
  'pac.text': {
    en: 'Browsers that use a player’s PAC address learn from these rules which hosts go through the proxy. The first matching line applies. Private addresses and names without a dot go direct unless a line says otherwise.',
    zh: '使用玩家 PAC 地址的浏览器按这里的规则决定哪些主机走代理，以最先匹配的一行为准。私有地址和不含点的主机名默认直连，除非某一行另有规定。',
  },
  'pac.rules': { en: 'Rules, one per line', zh: '规则，每行一条' },
  'pac.hint': {
    en: '“proxy” or “direct”, then a host (example.com), all names below one (*.example.com), an address or a network. Networks match only hosts that are addresses.',
    zh: '先写 proxy 或 direct，再写主机名（example.com）、某域名下的所有名称（*.example.com）、地址或网段。网段只匹配以地址形式出现的主机。',
  },
  'pac.wrongLine': {
    en: 'Line {line} is not “proxy HOST” or “direct HOST”.',
    zh: '第 {line} 行应为“proxy 主机”或“direct 主机”。',
  },
  'pac.otherwise': { en: 'All other hosts', zh: '其他主机' },
  'pac.proxy': { en: 'through the proxy', zh: '走代理' },
  'pac.direct': { en: 'direct', zh: '直连' },
} as const satisfies Texts;
