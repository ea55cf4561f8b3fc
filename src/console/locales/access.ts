// Who signs in, and from where: the sign-in page, the administrator, tokens, the whitelist.
import type { Texts } from './texts.js';

export const access = {
  // Signing in.
  'login.intro': { en: 'Sign in as the administrator or an operator.', zh: '请使用管理员或操作员账号登录。' },
  'login.username': { en: 'User name', zh: '用户名' },
  'login.password': { en: 'Password', zh: '密码' },
  'login.code': { en: 'Verification code', zh: '动态验证码' },
  'login.code.hint': { en: 'The six digits of your authenticator app.', zh: '认证器应用中的六位数字。' },
  'login.code.hintRecovery': {
    en: 'Six digits of your authenticator app, or a recovery code.',
    zh: '认证器应用中的六位数字，或一个恢复码。',
  },
  'login.submit': { en: 'Sign in', zh: '登录' },
  'login.again': { en: 'Your session has ended', zh: '登录已失效' },
  'login.again.text': {
    en: 'Sign in again: the page and your input are still there.',
    zh: '请重新登录。页面和已填写的内容都还在。',
  },
  'login.again.leave': { en: 'Discard and sign out', zh: '放弃并退出' },
  'login.noPassword': { en: 'Password lost?', zh: '忘记密码？' },
  'login.noPassword.text': {
    en: 'The first start shows the administrator’s password once on the terminal. To set a new one, run on the server:',
    zh: '首次启动时，管理员密码会在终端显示一次。要重新设置，请在服务器上运行：',
  },
  'confirm.title': { en: 'Confirm that it is you', zh: '请确认是您本人' },
  'confirm.text': {
    en: 'What this does stays after you sign out. Enter your password again; it then holds for a few minutes.',
    zh: '这项操作在退出登录后仍然有效，请再次输入您的密码；确认后几分钟内不再询问。',
  },
  'confirm.action': { en: 'Confirm', zh: '确认' },
  // The administrator: password, second factor, recovery codes.
  'admin.password': { en: 'Your password', zh: '登录密码' },
  'admin.password.text': {
    en: 'Changing it signs out all other browsers.',
    zh: '修改后，其他浏览器会退出登录。',
  },
  'admin.current': { en: 'Current password', zh: '当前密码' },
  'admin.next': { en: 'New password', zh: '新密码' },
  'admin.again': { en: 'Repeat the new password', zh: '再次输入新密码' },
  'admin.differs': { en: 'The passwords do not match', zh: '两次输入的密码不一致' },
  'admin.revokeTokens': { en: 'Also revoke my API tokens', zh: '同时吊销我的 API 令牌' },
  'admin.revokeTokens.off': {
    en: 'Programs with these tokens keep their access, and so does whoever made one without your knowledge.',
    zh: '使用这些令牌的程序会继续有权限；别人擅自创建的令牌也一样。',
  },
  'admin.change': { en: 'Change password', zh: '修改密码' },
  'admin.password.given': {
    en: 'The password comes from a variable, a file or a systemd credential (PULSEGATE_ADMIN_PASSWORD, PULSEGATE_ADMIN_PASSWORD_FILE, admin-password): the next start sets it again. Change it there too.',
    zh: '密码由环境变量、文件或 systemd 凭据设置（PULSEGATE_ADMIN_PASSWORD、PULSEGATE_ADMIN_PASSWORD_FILE、admin-password），下次启动时会恢复。请同时在那里修改。',
  },
  'admin.passwordChanged': { en: 'The password was changed', zh: '密码已修改' },
  'totp.title': { en: 'Second factor', zh: '两步验证' },
  'totp.on': { en: 'On', zh: '已开启' },
  'totp.off': { en: 'Off', zh: '未开启' },
  'totp.text': {
    en: 'Sign-in then needs the password and six digits of an authenticator app.',
    zh: '登录时除密码外，还需要认证器应用的六位数字。',
  },
  'totp.basic': {
    en: 'Only the console asks for it: /api/v1 and the account API still take the password alone (Basic). Let programs use /api/v1 with an API token instead.',
    zh: '只有登录控制台时需要；/api/v1 和账号接口仍然只凭密码（Basic）。程序请改用 API 令牌访问 /api/v1。',
  },
  'totp.turnOn.title': { en: 'Turn on the second factor', zh: '开启两步验证' },
  'totp.turnOff.title': { en: 'Turn off the second factor', zh: '关闭两步验证' },
  'totp.turnOn': { en: 'Turn on', zh: '开启' },
  'totp.turnOff': { en: 'Turn off', zh: '关闭' },
  'totp.qr': { en: 'QR code for the authenticator', zh: '认证器二维码' },
  'recovery.title': { en: 'Recovery codes', zh: '恢复码' },
  'recovery.text': {
    en: 'If you lose your phone, use a recovery code instead of a verification code. Each works once.',
    zh: '手机丢失时，可以用恢复码代替动态验证码，每个只能用一次。',
  },
  'recovery.left': { en: '{n} recovery {n:code is|codes are} left.', zh: '还剩 {n} 个未使用的恢复码。' },
  'recovery.renew': { en: 'Make new recovery codes', zh: '生成新的恢复码' },
  'recovery.renew.text': { en: 'All earlier recovery codes stop working.', zh: '以前的恢复码会全部失效。' },
  'recovery.once': {
    en: 'The recovery codes are shown only once. Save them now.',
    zh: '恢复码只显示这一次，请现在保存。',
  },
  'totp.scan': {
    en: 'Scan the code with an authenticator app, or enter the secret:',
    zh: '用认证器应用扫描，或手动输入密钥：',
  },
  // API tokens.
  'tokens.text': {
    en: 'Programs use a token instead of a password.',
    zh: '程序使用令牌访问 API，无需密码。',
  },
  'tokens.new': { en: 'New token', zh: '新建令牌' },
  'tokens.create': { en: 'Create', zh: '创建' },
  'tokens.created': { en: 'The token is ready', zh: '令牌已创建' },
  'tokens.once': { en: 'The token is shown only once. Save it now.', zh: '令牌只显示这一次，请现在保存。' },
  'tokens.empty': { en: 'No tokens yet', zh: '还没有令牌' },
  'tokens.empty.text': {
    en: 'Give each program a token with only the scopes it needs.',
    zh: '给每个程序一个令牌，只授予需要的权限。',
  },
  'tokens.name': { en: 'Name', zh: '名称' },
  'tokens.prefix': { en: 'Prefix', zh: '前缀' },
  'tokens.scopes': { en: 'Scopes', zh: '权限' },
  'tokens.lastUsed': { en: 'Last used', zh: '最近使用' },
  'tokens.revoke': { en: 'Revoke', zh: '吊销' },
  'tokens.revoke.text': {
    en: '{name} stops working at once, and so do the programs that use it.',
    zh: '{name} 会立即失效，使用它的程序将无法访问。',
  },
  'tokens.revoked': { en: 'Revoked', zh: '已吊销' },
  // The IP whitelist.
  'whitelist.text': {
    en: 'Only these addresses can use the console and the admin API; empty allows all. Changes apply from the next request.',
    zh: '只有名单中的地址能访问控制台和管理 API；留空允许所有地址。保存后从下一个请求起生效。',
  },
  'whitelist.field': { en: 'Allowed addresses', zh: '允许的地址' },
  'whitelist.hint': {
    en: 'Separated by commas: an exact address, a wildcard ending in *, or a network.',
    zh: '用逗号分隔：精确地址、以 * 结尾的通配，或网段。',
  },
  'whitelist.invalid': {
    en: 'Not valid: {entries}. An entry is an exact address, a wildcard ending in *, or a network.',
    zh: '无效：{entries}。每条须为精确地址、以 * 结尾的通配，或网段。',
  },
  'whitelist.you': { en: 'Your address', zh: '您的地址' },
  'whitelist.allowed': { en: 'Allowed', zh: '允许' },
  'whitelist.refused': { en: 'Refused', zh: '拒绝' },
  'whitelist.entries': { en: 'Entry by entry', zh: '逐条说明' },
  'whitelist.everyone': {
    en: 'The list is empty: every address is allowed.',
    zh: '名单为空：所有地址都允许。',
  },
  'whitelist.try': { en: 'Test an address', zh: '测试地址' },
  'whitelist.notAnAddress': { en: 'Not an address', zh: '不是有效的地址' },
  'whitelist.matchedBy': { en: 'matches', zh: '匹配' },
  'whitelist.saved': { en: 'The whitelist was saved', zh: '白名单已保存' },
  'whitelist.lockOut': { en: 'This would lock you out', zh: '这会把您自己锁在外面' },
  'whitelist.lockOut.text': {
    en: 'The new list does not contain your address {address}. After you save it, this page stops working. To get back in, run on the server:',
    zh: '新名单不包含您的地址 {address}。保存后此页面将无法访问；要恢复，请在服务器上运行：',
  },
  'whitelist.lockOut.action': { en: 'Save anyway', zh: '仍然保存' },
  'whitelist.kind.address': { en: 'address', zh: '地址' },
  'whitelist.kind.wildcard': { en: 'wildcard', zh: '通配' },
  'whitelist.kind.cidr': { en: 'network', zh: '网段' },
  'whitelist.kind.everyone': { en: 'everyone', zh: '所有地址' },
  'whitelist.kind.invalid': { en: 'not valid', zh: '无效' },
} as const satisfies Texts;
