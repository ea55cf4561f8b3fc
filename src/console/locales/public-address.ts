// The address that links name for players.
import type { Texts } from './texts.js';

export const publicAddress = {
  'publicAddress.text': {
    en: 'The server address in links, QR codes, CSV files and the command line. A value saved here takes precedence over the configuration file.',
    zh: '发给玩家的链接、二维码、CSV 和命令行里写的服务器地址。在这里保存的值优先于配置文件。',
  },
  'publicAddress.host': { en: 'Host name or IP address', zh: '主机名或 IP 地址' },
  'publicAddress.hostEmpty': {
    en: 'The configuration has no socks.publicHost. If this is empty too, the address is guessed.',
    zh: '配置里没有 socks.publicHost；留空则自动猜测。',
  },
  'publicAddress.port': { en: 'Port', zh: '端口' },
  'publicAddress.portEmpty': {
    en: 'Empty: the port of the listener. Set it if a firewall forwards another port.',
    zh: '留空则用监听端口；防火墙转发了别的端口时才需要填写。',
  },
  'publicAddress.badPort': {
    en: 'Must be a whole number from 1 to 65535.',
    zh: '必须是 1 到 65535 的整数。',
  },
  'publicAddress.configured': {
    en: 'Empty: {key} of the configuration ({value})',
    zh: '留空则用配置 {key}：{value}',
  },
  'publicAddress.inUse': { en: 'Address in links', zh: '链接中的地址' },
  'publicAddress.hostFrom': { en: 'Host from', zh: '主机来自' },
  'publicAddress.portFrom': { en: 'Port from', zh: '端口来自' },
  'publicAddress.guessed': { en: 'a guess', zh: '猜测' },
  'publicAddress.ofListener': { en: 'the listener', zh: '监听端口' },
  'publicAddress.guess.listener': {
    en: 'The host {host} in links is a guess: it is the address the proxy listens on. Players behind NAT, a forwarded port or a load balancer cannot use such links.',
    zh: '链接里的 {host} 是猜的：它是代理监听的地址。玩家如果经过 NAT、端口转发或负载均衡才能到达这里，链接就不能用。',
  },
  'publicAddress.guess.browser': {
    en: 'The host {host} in links is a guess: it is the address at which you opened this console. Players cannot use such links if you came through a tunnel, a reverse proxy or a private network.',
    zh: '链接里的 {host} 是猜的：它是您打开控制台用的地址。如果您经过隧道、反向代理或内网打开，玩家用它连不上。',
  },
  'publicAddress.guess.interface': {
    en: 'The host {host} in links is a guess: it is an address of this machine’s network card. Players may not be able to reach it.',
    zh: '链接里的 {host} 是猜的：它是这台机器网卡的地址，玩家可能到达不了。',
  },
  'publicAddress.set': { en: 'Set the address', zh: '设置连接地址' },
} as const satisfies Texts;
