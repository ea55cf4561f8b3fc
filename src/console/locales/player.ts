// The page of players.
import { display } from './display.js';
import { formats } from './formats.js';
import { lists } from './lists.js';
import type { Texts } from './texts.js';
import { units } from './units.js';

const player = {
  'player.title': { en: 'My account', zh: '我的账号' },
  'player.loading': { en: 'Loading …', zh: '正在载入……' },
  'player.trouble.gone': {
    en: 'This address is no longer valid. Ask whoever gave it to you for a new one.',
    zh: '这个地址已失效。请向提供者索取新的地址。',
  },
  'player.trouble.busy': {
    en: 'Too many requests from your network. Wait a minute; the page continues by itself.',
    zh: '您所在的网络请求过多。请等一分钟，页面会自动继续。',
  },
  'player.trouble.offline': {
    en: 'No connection to the server; reconnecting. The data below may be out of date.',
    zh: '与服务器的连接已断开，正在重试。下面的数据可能不是最新的。',
  },
  'player.disabled': { en: 'Disabled: ask whoever gave you the account', zh: '已停用，请联系提供者' },
  'player.schedule': { en: 'Allowed hours', zh: '可用时段' },
  'player.closed': { en: 'Outside the allowed hours', zh: '不在可用时段' },
  'player.closedUntil': { en: 'Outside the allowed hours until {time}', zh: '不在可用时段，{time} 起可用' },
  'player.expired': { en: 'Expired', zh: '已到期' },
  'player.overQuota': { en: 'No traffic left', zh: '流量已用完' },
  'player.online': { en: 'Connected', zh: '已连接' },
  'player.ready': { en: 'Not connected', zh: '未连接' },
  'player.left': { en: 'Remaining', zh: '剩余' },
  'player.time': { en: 'Time left', zh: '剩余时间' },
  'player.until': { en: 'until {time}', zh: '{time} 到期' },
  'player.fromFirstLogin': { en: 'from the first login', zh: '自首次登录起计算' },
  'player.unlimited': { en: 'no limit', zh: '不限' },
  'player.traffic': { en: 'Traffic left', zh: '剩余流量' },
  'player.used': { en: '{used} used {period}', zh: '{period}已用 {used}' },
  'player.usedOf': { en: '{used} of {quota} used', zh: '已用 {used} / {quota}' },
  'player.resets': { en: 'resets {time}', zh: '{time} 重置' },
  'player.period.day': { en: 'today', zh: '今天' },
  'player.period.week': { en: 'this week', zh: '本周' },
  'player.period.month': { en: 'this month', zh: '本月' },
  'player.period.never': { en: 'in total', zh: '累计' },
  'player.plan': { en: 'Plan', zh: '套餐' },
  'player.speed': { en: 'Speed', zh: '速度' },
  'player.maxSessions': { en: 'Maximum connections', zh: '最大连接数' },
  'player.devices': { en: 'Connected devices', zh: '已连接的设备' },
  'player.devices.none': { en: 'No device is connected now.', zh: '现在没有设备连接。' },
  'player.thisDevice': { en: 'this network', zh: '当前网络' },
  'player.since': { en: 'connected', zh: '连接于' },
  'player.sessions': { en: '{n} {n:connection|connections}', zh: '{n} 个连接' },
  'player.signOut': { en: 'Sign out', zh: '断开' },
  'player.signOut.sure': { en: 'End all connections from {address}?', zh: '断开来自 {address} 的全部连接？' },
  'player.signOut.hint': {
    en: 'An app that knows the password can connect again. To prevent this, set a new password.',
    zh: '知道密码的应用会重新连接；要阻止它，请设置新密码。',
  },
  'player.password': { en: 'Password', zh: '密码' },
  'player.password.new': { en: 'New password and link', zh: '新密码和连接地址' },
  'player.password.text': {
    en: 'The server does not store your password. A new one is shown once, with links for your apps; all devices are disconnected.',
    zh: '服务器不保存您的密码。新密码只显示一次，并附上各种应用的连接格式；所有设备会被断开。',
  },
  'player.password.random': { en: 'Make a new password', zh: '生成新密码' },
  'player.password.sure': {
    en: 'The current password stops working, and all devices are disconnected.',
    zh: '当前密码将失效，所有设备会被断开。',
  },
  'player.password.choose': { en: 'Choose a password', zh: '自己设置' },
  'player.password.set': { en: 'Set password', zh: '设置密码' },
  'player.password.made': { en: 'Your new password', zh: '您的新密码' },
  'player.password.once': { en: 'It is shown only once. Save it now.', zh: '只显示这一次，请现在保存。' },
  'player.password.kept': { en: 'I have saved it', zh: '我已保存' },
  'player.addresses': { en: 'Addresses without password', zh: '免密地址' },
  'player.addresses.text': {
    en: 'For consoles and games that cannot log in: connections from these addresses need no password. Everyone in the same network can then use your account.',
    zh: '用于无法登录的主机和游戏：来自这些地址的连接不需要密码。同一网络中的所有人都能使用您的账号。',
  },
  'player.addresses.add': { en: 'Add my address {address}', zh: '添加我的地址 {address}' },
  'player.addresses.remove': { en: 'Remove', zh: '移除' },
  'player.addresses.sure': {
    en: 'Require the password again from {address}?',
    zh: '来自 {address} 的连接重新要求密码？',
  },
  'player.pac': { en: 'Automatic proxy (PAC)', zh: '自动代理（PAC）' },
  'player.pac.text': {
    en: 'Enter this address in the network settings as automatic proxy configuration. Only the sites that need it go through the proxy.',
    zh: '在网络设置的“自动代理配置”中填入此地址，需要的网站会自动走代理。',
  },
  'player.pac.make': { en: 'Make the address', zh: '生成地址' },
  'player.pac.renew': { en: 'Make new address', zh: '重新生成' },
  'player.pac.sure': { en: 'The current address stops working.', zh: '现有地址将失效。' },
  'player.wrong.addressTaken': {
    en: 'This address already belongs to another account.',
    zh: '这个地址已属于另一个账号。',
  },
  'player.wrong.addressUnknown': {
    en: 'The server cannot see your address. Ask whoever gave you the account.',
    zh: '服务器看不到您的地址，请联系账号提供者。',
  },
  'player.wrong.offline': { en: 'The server did not answer. Try again.', zh: '服务器没有回应，请重试。' },
  'player.wrong.invalid': {
    en: 'This value cannot be used. Choose another.',
    zh: '此内容不可用，请换一个。',
  },
  'player.wrong.forbidden': { en: 'This is not allowed for your account.', zh: '您的账号不允许此操作。' },
  'player.wrong.often': { en: 'Too many changes. Try again later.', zh: '更改过于频繁，请稍后再试。' },
  'player.wrong.failed': { en: 'The server failed. Try again.', zh: '服务器出错，请重试。' },
  'player.connect': { en: 'Connect', zh: '连接方法' },
  'player.server': { en: 'Server', zh: '服务器' },
  'player.port': { en: 'Port', zh: '端口' },
  'player.username': { en: 'User name', zh: '用户名' },
  'player.qr': { en: 'QR code of the link', zh: '连接地址的二维码' },
  'player.link.hint': {
    en: 'SOCKS5 or HTTP proxy. The link has no password: the app asks for it.',
    zh: 'SOCKS5 或 HTTP 代理。连接地址不含密码，应用会要求输入。',
  },
  'player.copyLink': { en: 'Copy link', zh: '复制连接地址' },
} as const satisfies Texts;

export const PLAYER_TEXTS = { ...units, ...lists, ...display, ...formats, ...player } as const;
