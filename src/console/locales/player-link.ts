// The secret address of a player's own page, on the page of the account.
import type { Texts } from './texts.js';

export const playerLink = {
  'playerLink.title.page': ['Player’s own page', '玩家页面'],
  'playerLink.title.pac': ['PAC file', 'PAC 文件'],
  'playerLink.text.page': [
    'A secret address where the player sees remaining days, traffic and devices without signing in. Anyone who has the address can open the page.',
    '私密地址，玩家无需登录即可查看剩余天数、流量和设备。任何持有该地址的人都能打开页面。',
  ],
  'playerLink.text.pac': [
    'A secret address for the automatic proxy configuration of browsers and systems. The rules are in Settings → PAC files.',
    '私密地址，供浏览器和系统用作自动代理配置。规则在“设置 → PAC 文件”中。',
  ],
  'playerLink.off.pac': [
    'PAC files are off. To turn them on, set admin.playerPage.pac in the configuration and restart.',
    'PAC 文件未开启。在配置中设置 admin.playerPage.pac 并重启即可开启。',
  ],
  'playerLink.off.page': [
    'The page is off. To turn it on, set admin.playerPage.enabled in the configuration and restart.',
    '玩家页面未开启。在配置中设置 admin.playerPage.enabled 并重启即可开启。',
  ],
  'playerLink.none': ['No address yet', '还没有地址'],
  'playerLink.since': ['Address made {time}', '地址生成于 {time}'],
  'playerLink.create': ['Make address', '生成地址'],
  'playerLink.renew': ['Make new address', '重新生成'],
  'playerLink.renew.text': [
    'The current address stops working; the player needs the new one.',
    '现有地址将失效，玩家需要使用新地址。',
  ],
  'playerLink.revoke': ['Revoke', '吊销'],
  'playerLink.revoke.text': ['The address stops working.', '该地址将失效。'],
  'playerLink.revoked': ['The address is revoked', '地址已吊销'],
  'playerLink.once': [
    'The address is shown only once: the server stores only a hash of it. Save it now.',
    '地址只显示这一次，请现在保存：服务器只保存它的哈希值。',
  ],
  'playerLink.guess': [
    'It begins with the address in your browser. If players reach this server by another one, set admin.playerPage.url.',
    '开头取自您浏览器中的地址。若玩家用其他地址访问，请设置 admin.playerPage.url。',
  ],
  'playerLink.qr': ['QR code of the address', '地址的二维码'],
} as const satisfies Texts;
