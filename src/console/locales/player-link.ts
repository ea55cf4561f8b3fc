// The secret address of a player's own page, on the page of the account.
import type { Texts } from './texts.js';

export const playerLink = {
  'playerLink.title.page': { en: 'Player’s own page', zh: '玩家页面' },
  'playerLink.title.pac': { en: 'PAC file', zh: 'PAC 文件' },
  'playerLink.text.page': {
    en: 'A secret address where the player sees remaining days, traffic and devices without signing in. Anyone who has the address can open the page.',
    zh: '私密地址，玩家无需登录即可查看剩余天数、流量和设备。任何持有该地址的人都能打开页面。',
  },
  'playerLink.text.pac': {
    en: 'A secret address for the automatic proxy configuration of browsers and systems. The rules are in Settings → PAC files.',
    zh: '私密地址，供浏览器和系统用作自动代理配置。规则在“设置 → PAC 文件”中。',
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
  'playerLink.renew': { en: 'Make new address', zh: '重新生成' },
  'playerLink.renew.text': {
    en: 'The current address stops working; the player needs the new one.',
    zh: '现有地址将失效，玩家需要使用新地址。',
  },
  'playerLink.revoke': { en: 'Revoke', zh: '吊销' },
  'playerLink.revoke.text': { en: 'The address stops working.', zh: '该地址将失效。' },
  'playerLink.revoked': { en: 'The address is revoked', zh: '地址已吊销' },
  'playerLink.once': {
    en: 'The address is shown only once: the server stores only a hash of it. Save it now.',
    zh: '地址只显示这一次，请现在保存：服务器只保存它的哈希值。',
  },
  'playerLink.guess': {
    en: 'It begins with the address in your browser. If players reach this server by another one, set admin.playerPage.url.',
    zh: '开头取自您浏览器中的地址。若玩家用其他地址访问，请设置 admin.playerPage.url。',
  },
  'playerLink.qr': { en: 'QR code of the address', zh: '地址的二维码' },
} as const satisfies Texts;
