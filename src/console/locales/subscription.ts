// The link of an account for client programs, on the page of the account.
import type { Texts } from './texts.js';

export const subscription = {
  'subscription.title': ['Subscription link', '订阅链接'],
  'subscription.text': [
    'One secret link for the customer: Clash, sing-box, Shadowrocket and v2rayN configure themselves from it, browsers show days, traffic and devices. Anyone who has the link can use the account.',
    '给客户的一条私密链接：Clash、sing-box、Shadowrocket、v2rayN 据此自动配置，浏览器打开可查看剩余天数、流量和设备。任何持有链接的人都能使用该账号。',
  ],
  'subscription.off': [
    'Links are off. To turn them on, set admin.playerPage.enabled in the configuration and restart.',
    '订阅链接未开启。在配置中设置 admin.playerPage.enabled 并重启即可开启。',
  ],
  'subscription.none': ['No link yet.', '还没有链接。'],
  'subscription.since': ['Link made {time}.', '链接生成于 {time}。'],
  'subscription.former': ['An address made by an earlier version still works.', '旧版本生成的地址仍然有效。'],
  'subscription.create': ['Make link', '生成链接'],
  'subscription.replace': ['Replace link', '更换链接'],
  'subscription.replace.text': [
    'The present link stops working, and programs set up from it are disconnected; the customer needs the new one.',
    '现有链接将失效，由它配置的程序会断开，客户需要使用新链接。',
  ],
  'subscription.revoke.text': [
    'The link stops working, and programs set up from it are disconnected.',
    '链接将失效，由它配置的程序会断开。',
  ],
  'subscription.revoked': ['The link is revoked', '链接已吊销'],
  'subscription.once': [
    'The link is shown only once: the server stores only a hash of it. Save it now.',
    '链接只显示这一次，请现在保存：服务器只保存它的哈希值。',
  ],
  'subscription.guess': [
    'It begins with the address in your browser. If players reach this server by another one, set admin.playerPage.url.',
    '开头取自您浏览器中的地址。若玩家用其他地址访问，请设置 admin.playerPage.url。',
  ],
  'subscription.qr': ['QR code of the link', '链接的二维码'],
} as const satisfies Texts;
