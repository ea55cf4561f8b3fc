// The secret address of a player's own page, on the page of the account.
import type { Texts } from './texts.js';

export const playerLink = {
  'playerLink.title.page': { en: 'Player’s own page', zh: '玩家页面' },
  'playerLink.title.pac': { en: 'PAC file', zh: 'PAC 文件' },
  'playerLink.text.page': {
    en: 'A secret address where the player sees days, traffic and devices, without signing in. Whoever has the address has the page.',
    zh: '一个保密地址，玩家无需登录即可查看剩余天数、流量和设备。谁持有该地址，谁就能打开页面。',
  },
  'playerLink.text.pac': {
    en: 'A secret address that browsers and systems take as the automatic proxy configuration. What goes through the proxy is in Settings.',
    zh: '一个保密地址，供浏览器和系统作为自动代理配置使用。哪些网站走代理在设置中规定。',
  },
  'playerLink.off.pac': {
    en: 'PAC files are off. To turn them on, set admin.playerPage.pac in the configuration and restart.',
    zh: 'PAC 文件未开启。在配置中设置 admin.playerPage.pac 并重启即可开启。',
  },
  'playerLink.off.page': {
    en: 'The page is off. To turn it on, set admin.playerPage.enabled in the configuration and restart.',
    zh: '玩家页面未开启。在配置中设置 admin.playerPage.enabled 并重启即可开启。',
  },
  'playerLink.none': { en: 'No address yet', zh: '还没有地址' },
  'playerLink.since': { en: 'Address made {time}', zh: '地址生成于 {time}' },
  'playerLink.create': { en: 'Make address', zh: '生成地址' },
  'playerLink.renew': { en: 'Make anew', zh: '重新生成' },
  'playerLink.renew.text': {
    en: 'The present address opens nothing any more; the player needs the new one.',
    zh: '现有地址将失效，玩家需要使用新地址。',
  },
  'playerLink.revoke': { en: 'Revoke', zh: '吊销' },
  'playerLink.revoke.text': { en: 'The address opens nothing any more.', zh: '该地址将失效。' },
  'playerLink.revoked': { en: 'The address is revoked', zh: '地址已吊销' },
  'playerLink.once': {
    en: 'The address is shown only now: only a hash of it is stored.',
    zh: '地址只显示这一次：服务器只保存它的哈希值。',
  },
  'playerLink.guess': {
    en: 'It begins as your browser names this server. If players reach it otherwise, set admin.playerPage.url.',
    zh: '开头取自您浏览器中的地址。若玩家用其他地址访问，请设置 admin.playerPage.url。',
  },
  'playerLink.qr': { en: 'QR code of the address', zh: '地址的二维码' },
} as const satisfies Texts;
