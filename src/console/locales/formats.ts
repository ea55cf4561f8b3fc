// What the players' programs read: the names of the formats, and what each is for.
import type { Texts } from './texts.js';

export const formats = {
  'formats.label': { en: 'Format', zh: '格式' },
  'formats.copy': { en: 'Copy', zh: '复制' },
  'formats.save': { en: 'Save {name}', zh: '保存 {name}' },
  'formats.qr': { en: 'QR code: {format}', zh: '二维码：{format}' },
  'formats.cannot': {
    en: 'This format cannot represent this user name or password: it contains a field separator of the format. Use the link.',
    zh: '此格式无法表示这个用户名或密码：其中的某个字符在该格式里是分隔符。请使用连接地址。',
  },
  'formats.link': { en: 'Link (socks5h://)', zh: '连接地址（socks5h://）' },
  'formats.link.hint': {
    en: 'For curl, browsers and most programs; names are resolved by the proxy.',
    zh: '用于 curl、浏览器和多数程序，域名由代理解析。',
  },
  'formats.plain': { en: 'host:port:user:password', zh: 'host:port:user:password' },
  'formats.plain.hint': {
    en: 'For fingerprint browsers, emulators and multi-account tools.',
    zh: '用于指纹浏览器、模拟器和多开工具。',
  },
  'formats.clash': { en: 'Clash, mihomo', zh: 'Clash、mihomo' },
  'formats.clash.hint': {
    en: 'Put the entry into the proxies of a configuration.',
    zh: '把这一项放进配置的 proxies 里。',
  },
  'formats.sing-box': { en: 'sing-box', zh: 'sing-box' },
  'formats.sing-box.hint': {
    en: 'Put the outbound into the outbounds of a configuration.',
    zh: '把这一项放进配置的 outbounds 里。',
  },
  'formats.proxifier': { en: 'Proxifier', zh: 'Proxifier' },
  'formats.proxifier.hint': {
    en: 'A profile for Proxifier 4 on Windows: open the file. It contains the password in plain text.',
    zh: 'Windows 版 Proxifier 4 的配置文件，打开即可导入。密码以明文写在文件中。',
  },
  'formats.shadowrocket': { en: 'Shadowrocket', zh: 'Shadowrocket（小火箭）' },
  'formats.shadowrocket.hint': {
    en: 'Scan the code with the app, or paste the link.',
    zh: '用应用扫码，或粘贴链接。',
  },
} as const satisfies Texts;
