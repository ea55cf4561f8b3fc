// Creating accounts, and the credentials shown once.
import type { Texts } from './texts.js';

export const create = {
  'create.how': { en: 'How to create', zh: '创建方式' },
  'create.one': { en: 'One', zh: '单个' },
  'create.many': { en: 'Many', zh: '批量' },
  'create.source': { en: 'From', zh: '来源' },
  'create.pattern': { en: 'A pattern', zh: '按规则' },
  'create.pattern.hint': { en: '{001-020} becomes 001, 002 … 020.', zh: '{001-020} 会变成 001、002 … 020。' },
  'create.list': { en: 'A pasted list', zh: '粘贴名单' },
  'create.list.hint': {
    en: 'One a line: user name, password, remarks. A password left out is made at random.',
    zh: '每行一个，用英文逗号分隔：用户名、密码、备注。密码留空则随机生成。',
  },
  'create.password.hint': { en: 'Leave empty for a random one.', zh: '留空则随机生成。' },
  'create.enabled': { en: 'Enabled', zh: '启用' },
  'create.preview': { en: '{n} {n:account|accounts} will be created', zh: '将创建 {n} 个账号' },
  'create.submit': { en: 'Create', zh: '创建' },
  'create.submitMany': { en: 'Create {n}', zh: '创建 {n} 个' },
  'credentials.title': { en: 'The account is ready', zh: '账号已就绪' },
  'credentials.many': { en: '{n} accounts were created', zh: '已创建 {n} 个账号' },
  'credentials.reset': {
    en: '{n} {n:account has|accounts have} new passwords',
    zh: '{n} 个账号的密码已重置',
  },
  'credentials.once': {
    en: 'The password is shown only now. Keep it.',
    zh: '密码只显示这一次，请现在保存。',
  },
  'credentials.link': { en: 'Link', zh: '连接地址' },
  'credentials.copyAll': { en: 'Copy all', zh: '全部复制' },
  'credentials.copyPlain': { en: 'Copy as host:port:user:password', zh: '复制为 host:port:user:password' },
  'credentials.save': { en: 'Save as CSV', zh: '保存为 CSV' },
  'credentials.kept': { en: 'I have kept it', zh: '已保存' },
  'formats.label': { en: 'Format', zh: '格式' },
  'formats.copy': { en: 'Copy', zh: '复制' },
  'formats.save': { en: 'Save {name}', zh: '保存 {name}' },
  'formats.qr': { en: 'QR code: {format}', zh: '二维码：{format}' },
  'formats.cannot': {
    en: 'This format cannot carry this user name or password: a mark in it separates its fields. Use the link.',
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
    en: 'A profile for Proxifier 4 on Windows: open the file. The password stands in it as it is.',
    zh: 'Windows 版 Proxifier 4 的配置文件，打开即可导入。密码以明文写在文件中。',
  },
  'formats.shadowrocket': { en: 'Shadowrocket', zh: 'Shadowrocket（小火箭）' },
  'formats.shadowrocket.hint': {
    en: 'Scan the code with the app, or paste the link. v2rayN reads it too.',
    zh: '用应用扫码，或粘贴链接。v2rayN 也能识别。',
  },
} as const satisfies Texts;
