// What is wrong with a part of a request, by the code that the daemon gives.
import type { FieldError } from '../api-types.js';
import type { Text, Texts } from './texts.js';

export const fields = {
  'error.between': { en: '; ', zh: '；' },
  'field.missing': { en: 'is missing', zh: '缺少' },
  'field.unknown': { en: 'is unknown; the fields are {allowed}', zh: '未知字段；可用的字段：{allowed}' },
  'field.unknown-near': { en: 'is unknown; did you mean {nearest}?', zh: '未知字段；是否想写 {nearest}？' },
  'field.none-allowed': { en: 'is unknown; there are no fields here', zh: '未知字段；这里没有任何字段' },
  'field.type': { en: 'must be of type {expected}', zh: '类型须为 {expected}' },
  'field.too-short': { en: 'must have at least {min} characters', zh: '至少 {min} 个字符' },
  'field.too-long': { en: 'must have at most {max} characters', zh: '最多 {max} 个字符' },
  'field.too-small': { en: 'must be {min} or more', zh: '不能小于 {min}' },
  'field.too-large': { en: 'must be {max} or less', zh: '不能大于 {max}' },
  'field.too-few': { en: 'must have at least {min} entries', zh: '至少 {min} 项' },
  'field.too-many': { en: 'must have at most {max} entries', zh: '最多 {max} 项' },
  'field.option': { en: 'must be one of {allowed}', zh: '须为以下之一：{allowed}' },
  'field.format': { en: 'is not of the form {format}', zh: '格式须为 {format}' },
  'field.time': { en: 'must be a time in the range {range}', zh: '时间须在 {range} 之内' },
  'field.time-zone': { en: 'is not a known time zone', zh: '没有这个时区' },
  'field.past-time': { en: 'is in the past', zh: '不能是过去的时间' },
  'field.username': {
    en: 'must be 1 to 255 bytes of UTF-8 without control characters',
    zh: '须为 1 到 255 字节，不含控制字符',
  },
  'field.password': {
    en: 'must be 1 to 255 bytes of UTF-8 and not only white space',
    zh: '须为 1 到 255 字节，且不能全是空白',
  },
  'field.short-password': { en: 'must have at least {min} characters', zh: '至少 {min} 个字符' },
  'field.admin-username': { en: 'cannot be used', zh: '不能使用' },
  'field.not-storable': { en: 'contains characters that cannot be stored', zh: '含有无法保存的字符' },
  'field.blank': {
    en: 'is blank, or contains characters that cannot be stored',
    zh: '为空，或含有无法保存的字符',
  },
  'field.tags': {
    en: 'must be at most {max} tags of 1 to {maxCharacters} characters without commas, semicolons and control characters',
    zh: '最多 {max} 个标签，每个 1 到 {maxCharacters} 个字符，不含逗号、分号和控制字符',
  },
  'field.address': {
    en: '{entry} is neither an address (203.0.113.7) nor a network (203.0.113.0/24)',
    zh: '{entry} 不是地址（203.0.113.7）或网段（203.0.113.0/24）',
  },
  'field.address-too-wide': {
    en: '{entry} is too wide: at least /{ipv4} (IPv4) or /{ipv6} (IPv6)',
    zh: '网段 {entry} 过大：IPv4 至少 /{ipv4}，IPv6 至少 /{ipv6}',
  },
  'field.too-many-addresses': {
    en: 'an account has at most {max} addresses and networks ({key})',
    zh: '每个账号最多 {max} 个地址和网段（{key}）',
  },
  'field.address-taken': {
    en: '{entry} overlaps an address of the account {username}',
    zh: '{entry} 与账号 {username} 的免密地址重叠',
  },
  'field.schedule': {
    en: 'must be days and times such as mon-fri 08:00-23:00; sat,sun 00:00-24:00 (mon tue wed thu fri sat sun), at most 255 characters',
    zh: '须为星期和时间，例如 mon-fri 08:00-23:00; sat,sun 00:00-24:00（mon tue wed thu fri sat sun），最多 255 个字符',
  },
  'field.egress-class': {
    en: 'is not a class of the configuration (egress.classes)',
    zh: '配置里没有这个出口类别（egress.classes）',
  },
  'field.plan': { en: 'is not a known plan', zh: '没有这个套餐' },
  'field.plan-name': {
    en: 'must not begin or end with white space or contain control characters',
    zh: '首尾不能有空白，也不能含控制字符',
  },
  'field.budget-accounts': { en: 'the budget has {left} accounts left', zh: '额度还剩 {left} 个账号' },
  'field.budget-days': { en: 'the budget has {left} days left', zh: '额度还剩 {left} 天' },
  'field.budget-bytes': {
    en: 'the budget has {left} bytes of traffic left',
    zh: '额度还剩 {left} 字节流量',
  },
  'field.budget-unbounded': {
    en: 'the budget limits days or traffic: set an expiry date, and a quota if traffic is limited',
    zh: '额度有上限：请设置到期时间；流量额度有上限时还须设置流量配额',
  },
  'field.seller': { en: 'is not a seller', zh: '不是代理商' },
  'field.plan-twice': { en: 'another plan has this name', zh: '已有同名套餐' },
  'field.pattern': {
    en: 'must be a pattern such as player{001-120}, with at most {max} names',
    zh: '须为 player{001-120} 这样的规则，最多 {max} 个',
  },
  'field.one-of': { en: 'give exactly one of {allowed}', zh: '以下只能给一个：{allowed}' },
  'field.pac-match': {
    en: '{entry} is neither a host name such as example.com or *.example.com nor an address or a network',
    zh: '{entry} 不是 example.com 或 *.example.com 这样的主机名，也不是地址或网段',
  },
  'field.url': {
    en: 'must be an http:// or https:// URL without a user name or password in it',
    zh: '须为不含用户名和密码的 http:// 或 https:// 地址',
  },
  'field.signing-secret': {
    en: 'must be whsec_ followed by at least 12 bytes in base64',
    zh: '须为 whsec_ 加至少 12 字节的 base64',
  },
  'field.mail-address': { en: 'must be an e-mail address', zh: '须为一个邮箱地址' },
  'field.chat-id': {
    en: 'must be the number of a chat, or @ and the name of a channel',
    zh: '须为聊天的数字 ID，或 @频道名',
  },
  'field.secret-again': {
    en: 'must be entered again, because its destination has changed',
    zh: '发送目标已更改，须重新填写',
  },
  'field.placeholder': {
    en: 'may contain only these placeholders: {allowed}',
    zh: '占位符只能是：{allowed}',
  },
  'field.host': {
    en: 'must be a host name or an IP address that players can connect to',
    zh: '须为玩家能连接的主机名或 IP 地址',
  },
  'field.server': { en: 'must be a host name or an IP address', zh: '须为主机名或 IP 地址' },
  'field.destination': {
    en: 'must be host:port or [IPv6 address]:port',
    zh: '须为 host:port 或 [IPv6]:port',
  },
  'field.pattern-empty': { en: 'pattern {pattern}: is empty', zh: '正则表达式 {pattern} 为空' },
  'field.pattern-too-large': {
    en: 'pattern {pattern}: is too large; use smaller repeat counts',
    zh: '正则表达式 {pattern} 过大，请减少重复次数',
  },
  'field.pattern-backreference': {
    en: 'pattern {pattern}: backreferences are not supported',
    zh: '不支持反向引用：{pattern}',
  },
  'field.pattern-lookaround': {
    en: 'pattern {pattern}: lookahead and lookbehind are not supported',
    zh: '不支持前瞻和后顾：{pattern}',
  },
  'field.pattern-atomic': {
    en: 'pattern {pattern}: atomic groups are not supported',
    zh: '不支持原子组：{pattern}',
  },
  'field.pattern-bracket': {
    en: 'pattern {pattern}: a closing ] is missing: {near}',
    zh: '正则表达式 {pattern}：缺少右方括号：{near}',
  },
  'field.pattern-parenthesis': {
    en: 'pattern {pattern}: a closing ) is missing',
    zh: '正则表达式 {pattern}：缺少右括号',
  },
  'field.pattern-extra-parenthesis': {
    en: 'pattern {pattern}: a ) has no ( before it',
    zh: '正则表达式 {pattern}：多了一个右括号',
  },
  'field.pattern-class-range': {
    en: 'pattern {pattern}: the character range {near} is not valid',
    zh: '正则表达式 {pattern}：字符范围 {near} 无效',
  },
  'field.pattern-escape': {
    en: 'pattern {pattern}: unknown escape {near}',
    zh: '正则表达式 {pattern}：不认识的转义 {near}',
  },
  'field.pattern-group-name': {
    en: 'pattern {pattern}: the group name in {near} is not valid',
    zh: '正则表达式 {pattern}：{near} 里的分组名无效',
  },
  'field.pattern-group-name-twice': {
    en: 'pattern {pattern}: duplicate group name {near}',
    zh: '正则表达式 {pattern}：分组名 {near} 重复',
  },
  'field.pattern-perl': {
    en: 'pattern {pattern}: {near} is not supported',
    zh: '正则表达式 {pattern}：不支持 {near}',
  },
  'field.pattern-repeat-twice': {
    en: 'pattern {pattern}: a repetition follows another: {near}',
    zh: '正则表达式 {pattern}：重复符号连用：{near}',
  },
  'field.pattern-repeat-count': {
    en: 'pattern {pattern}: the repeat count {near} is not valid',
    zh: '正则表达式 {pattern}：重复次数 {near} 无效',
  },
  'field.pattern-repeat-nothing': {
    en: 'pattern {pattern}: nothing to repeat before {near}',
    zh: '正则表达式 {pattern}：{near} 前面没有可重复的内容',
  },
  'field.pattern-depth': {
    en: 'pattern {pattern}: groups are nested too deeply',
    zh: '正则表达式 {pattern}：分组嵌套太深',
  },
  'field.pattern-backslash': {
    en: 'pattern {pattern}: ends with a single backslash',
    zh: '正则表达式 {pattern}：末尾多了一个反斜杠',
  },
  'field.pattern-syntax': { en: 'pattern {pattern}: invalid syntax', zh: '无法识别正则表达式 {pattern}' },
  'field.rule-id-and-pattern': {
    en: 'has both id and gameId; set one of them',
    zh: '固定 GameID 和正则表达式只能给一个',
  },
  'field.rule-without-id': { en: 'needs an id or a gameId pattern', zh: '须有固定 GameID 或正则表达式' },
  'field.game-id': { en: 'must be 1 to {max} visible characters', zh: '须为 1 到 {max} 个可见字符' },
  'field.max-bytes': {
    en: 'must be 1 to {max} bytes, not {value}',
    zh: '须为 1 到 {max} 字节，不能是 {value}',
  },
  'field.match-empty': {
    en: 'must not be empty; omit it to match everything',
    zh: '不能为空；要匹配全部，请不要填写',
  },
  'field.match-host': {
    en: '{value} is not a host name, "*.name", an address or a CIDR block',
    zh: '{value} 不是主机名、“*.主机名”、地址或网段',
  },
  'field.match-port': {
    en: '{value} is not a port (1 to 65535) or a range of them such as "7100-7200"',
    zh: '{value} 不是端口（1 到 65535）或端口范围（如 7100-7200）',
  },
  'field.present-password': { en: 'is not the current password', zh: '不是当前密码' },
  'field.account-password': { en: 'is not the password of the account', zh: '不是此账号的密码' },
  'field.one-time-code': { en: 'is not the current code', zh: '不是当前的验证码' },
  'field.cursor': { en: 'is not a cursor of this list', zh: '这一页已经失效，请回到第一页' },
} as const satisfies Texts & Readonly<Record<`field.${FieldError['code']}`, Text>>;
