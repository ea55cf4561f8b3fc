// Why the daemon refused a request, by the code of the reason. A code without a text is a type error.
import type { ProblemReason } from '../api-types.js';
import type { Text, Texts } from './texts.js';

export const reasons = {
  'reason.account-changed': { en: 'the account was changed in the meantime', zh: '账号已被他人修改' },
  'reason.limits-changed': { en: 'the limits were changed in the meantime', zh: '限制已被他人修改' },
  'reason.factor-on': { en: 'the second factor is already on', zh: '两步验证已经开启' },
  'reason.factor-off': { en: 'the second factor is off', zh: '两步验证没有开启' },
  'reason.no-new-secret': { en: 'there is no new secret to confirm', zh: '没有等待确认的新密钥，请重新开启' },
  'reason.run-finished': { en: 'the run is already finished', zh: '这次运行已经结束' },
  'reason.run-elsewhere': { en: 'another daemon is running it', zh: '另一个服务进程正在运行它' },
  'reason.too-many-tokens': { en: 'the maximum number of tokens is reached', zh: '令牌数量已达上限' },
  'reason.no-account': { en: 'there is no such account', zh: '没有这个账号' },
  'reason.no-session': { en: 'there is no such live session', zh: '这个会话已经结束' },
  'reason.no-notice': { en: 'there is no such notice', zh: '没有这条通知' },
  'reason.notice-waits': { en: 'the notice waits for its next attempt', zh: '通知正在等待下一次尝试' },
  'reason.channel-not-set': {
    en: 'the channel, or your address in it, is not saved',
    zh: '还没有保存这个渠道，或其中没有管理员的地址',
  },
  'reason.wrong-contact-code': {
    en: 'the code is wrong, has expired, or was replaced by a newer one',
    zh: '确认码错误、已过期，或已被新的取代',
  },
  'reason.no-player-channel': {
    en: 'notices to players are off in this channel: the administrator can switch them on',
    zh: '该渠道没有开启发给玩家的通知，请联系管理员开启',
  },
  'reason.too-many-messages': {
    en: 'this address got a code a few minutes ago, or too many messages were sent within the hour',
    zh: '该地址几分钟前刚收到过确认码，或一小时内发送的消息过多',
  },
  'reason.no-token': { en: 'there is no such token', zh: '没有这个令牌' },
  'reason.no-operator': { en: 'there is no such operator', zh: '没有这个操作员' },
  'reason.no-node': { en: 'there is no such node', zh: '没有这个节点' },
  'reason.no-player-link': { en: 'the account has no such secret address', zh: '这个账号没有这样的地址' },
  'reason.fixed-session-key': {
    en: 'the agent has a fixed session key, which differs from this one',
    zh: '此智能体有固定的对话，与这里的不同',
  },
  'reason.stopping': { en: 'the daemon is shutting down', zh: '服务正在停止' },
  'reason.hashes': {
    en: 'only the administrator may export password hashes',
    zh: '只有管理员能导出密码哈希',
  },
  'reason.tokens-may-not': { en: 'tokens may not do this', zh: '令牌不能执行此操作' },
  'reason.administrator-only': { en: 'only the administrator may do this', zh: '只有管理员能执行此操作' },
  'reason.of-all-accounts': {
    en: 'this covers all accounts; a seller may see only its own accounts',
    zh: '这里包含所有账号，代理商只能看到自己的账号',
  },
  'reason.role-changed': { en: 'the role was changed during the request', zh: '请求期间角色已改变' },
  'reason.rights-lost': {
    en: 'your rights were taken meanwhile: you may not change accounts any more',
    zh: '您的权限刚被收回，不能再修改账号',
  },
  'reason.not-own-account': {
    en: 'the account belongs to somebody else now',
    zh: '这个账号现在不属于您',
  },
  'reason.owner-gone': { en: 'the new owner was removed meanwhile', zh: '新的所属人刚被删除' },
  'reason.not-whitelisted': {
    en: 'your address {address} is not in the whitelist',
    zh: '您的地址 {address} 不在白名单中',
  },
  'reason.through-own-proxy': {
    en: 'the request came through this proxy itself: open the console without it',
    zh: '请求经过了本代理：请不要通过它打开控制台',
  },
  'reason.confirm': { en: 'this needs your password again', zh: '此操作需要再次输入密码' },
  'reason.cross-site': { en: 'the request came from a page of another site', zh: '请求来自其他网站的页面' },
  'reason.host-not-allowed': {
    en: 'the host name of this address is not in admin.allowedHosts',
    zh: '这个地址的主机名不在 admin.allowedHosts 中',
  },
  'reason.search-too-slow': {
    en: 'the search took too long: type three characters or more, or filter',
    zh: '搜索耗时太长：请输入三个以上的字符，或加上筛选',
  },
  'reason.searches-busy': {
    en: 'other searches are still being answered: try again in a moment',
    zh: '其他搜索还没有完成：请稍后再试',
  },
  'reason.database-gone': {
    en: 'the database file was deleted or moved; nothing was changed: restore a backup, or restart the daemon',
    zh: '数据库文件已被删除或移走，未作任何修改：请恢复备份或重启服务',
  },
  'reason.database-replaced': {
    en: 'another file has replaced the database file; nothing was changed: restart the daemon to use it',
    zh: '数据库文件已被另一个文件替换，未作任何修改：请重启服务以使用新文件',
  },
  'reason.database-corrupt': {
    en: 'the database file is damaged: stop the daemon and restore a backup',
    zh: '数据库文件已损坏：请停止服务并恢复备份',
  },
  'reason.database-locked': {
    en: 'another program has locked the database; nothing was changed: try again in a moment',
    zh: '数据库被其他程序锁定，未作任何修改：请稍后再试',
  },
  'reason.database-read-only': {
    en: 'the database cannot be written: its file or its disk is read-only',
    zh: '数据库无法写入：文件或磁盘为只读',
  },
  'reason.database-failing': {
    en: 'the database cannot be read or written; the log contains the reason',
    zh: '数据库无法读写；原因见日志',
  },
  'reason.disk-full': {
    en: 'no space left on the disk of the database; nothing was changed: free some space',
    zh: '数据库所在磁盘已满，未作任何修改：请腾出空间',
  },
  'reason.database-away': {
    en: 'the database does not answer; whether a change was made is not known: look, or repeat it',
    zh: '数据库没有回应；修改是否完成还不确定：请查看或再做一次',
  },
  'reason.name-taken': {
    en: 'another operator or the administrator has the name',
    zh: '另一个操作员或管理员已使用这个名字',
  },
  'reason.import-type': {
    en: 'only CSV, JSON and text files are accepted',
    zh: '只接受 CSV、JSON 或文本文件',
  },
  'reason.importing': {
    en: 'another import of yours is in progress: wait until it ends',
    zh: '您的另一个导入正在进行，请等待完成',
  },
  'reason.too-many-streams': {
    en: 'the maximum number of event streams is open',
    zh: '打开的实时连接数已达上限',
  },
  'reason.no-player-page': {
    en: 'the daemon does not serve player pages; set admin.playerPage.enabled',
    zh: '玩家页面没有开启：请设置 admin.playerPage.enabled',
  },
  'reason.no-pac': {
    en: 'the daemon does not serve PAC files; set admin.playerPage.pac',
    zh: 'PAC 文件没有开启：请设置 admin.playerPage.pac',
  },
  'reason.password-checks-busy': {
    en: 'too many passwords wait for their check (admin.signInChecks); try again in a few seconds',
    zh: '等待校验的密码过多（admin.signInChecks），请过几秒再试',
  },
  'reason.too-many-attempts': {
    en: 'too many failed login attempts from this address (admin.attempts)',
    zh: '这个地址的登录失败次数过多（admin.attempts）',
  },
  'reason.too-many-codes': {
    en: 'there were too many wrong codes; use a recovery code, or sign in from where you did of late',
    zh: '错误的验证码过多；请使用恢复码，或在最近登录过的网络登录',
  },
  'reason.query-twice': { en: 'a query parameter is given more than once', zh: '有查询参数重复' },
  'reason.audit-days': {
    en: 'tokens may not shorten the audit log (auditDays)',
    zh: '令牌不能缩短审计日志的保留时间（auditDays）',
  },
  'reason.lacks-scope': { en: 'the token lacks the scope {scope}', zh: '令牌缺少权限 {scope}' },
  'reason.role-lacks-scope': { en: 'the role lacks the scope {scope}', zh: '角色缺少权限 {scope}' },
  'reason.own-role-lacks-scope': { en: 'your role lacks the scope {scope}', zh: '您的角色缺少权限 {scope}' },
  'reason.file-too-large': { en: 'a file may have at most {max} bytes', zh: '文件最大 {max} 字节' },
  'reason.preview-outdated': {
    en: 'the preview counted {expected} accounts; there are {now} now',
    zh: '预览时为 {expected} 个账号，现在为 {now} 个',
  },
  'reason.not-listed': { en: 'the list does not contain {address}', zh: '名单中没有 {address}' },
  'reason.no-agent': { en: 'there is no such agent', zh: '没有这个智能体' },
  'reason.no-run': { en: 'there is no such run', zh: '没有这次运行' },
  'reason.no-conversation': { en: 'there is no such conversation', zh: '没有这个对话' },
  'reason.backup-busy': { en: 'another backup is in progress', zh: '正在生成另一个备份' },
  'reason.backup-postgres': {
    en: 'the database is PostgreSQL: back it up with pg_dump',
    zh: '数据库是 PostgreSQL：请用 pg_dump 备份',
  },
} as const satisfies Texts & Readonly<Record<`reason.${ProblemReason['code']}`, Text>>;
