// Who signs in, and from where: the sign-in page, the administrator, tokens, the whitelist.
import type { Texts } from './texts.js';

export const access = {
  // Signing in.
  'login.intro': ['Sign in as the administrator or an operator.', '请使用管理员或操作员账号登录。'],
  'login.password': ['Password', '密码'],
  'login.code': ['Verification code', '动态验证码'],
  'login.code.hint': ['The six digits of your authenticator app.', '认证器应用中的六位数字。'],
  'login.code.hintRecovery': [
    'Six digits of your authenticator app, or a recovery code.',
    '认证器应用中的六位数字，或一个恢复码。',
  ],
  'login.submit': ['Sign in', '登录'],
  'login.again': ['Your session has ended', '登录已失效'],
  'login.again.text': [
    'Sign in again: the page and your input are still there.',
    '请重新登录。页面和已填写的内容都还在。',
  ],
  'login.again.leave': ['Discard and sign out', '放弃并退出'],
  'login.noPassword': ['Password lost?', '忘记密码？'],
  'login.noPassword.text': [
    'The first start shows the administrator’s password once on the terminal. To set a new one, run on the server:',
    '首次启动时，管理员密码会在终端显示一次。要重新设置，请在服务器上运行：',
  ],
  'confirm.title': ['Confirm that it is you', '请确认是您本人'],
  'confirm.text': [
    'What this does stays after you sign out. Enter your password again; it then holds for a few minutes.',
    '这项操作在退出登录后仍然有效，请再次输入您的密码；确认后几分钟内不再询问。',
  ],
  // The administrator: password, second factor, recovery codes.
  'admin.password': ['Your password', '登录密码'],
  'admin.password.text': ['Changing it signs out all other browsers.', '修改后，其他浏览器会退出登录。'],
  'admin.current': ['Current password', '当前密码'],
  'admin.next': ['New password', '新密码'],
  'admin.again': ['Repeat the new password', '再次输入新密码'],
  'admin.differs': ['The passwords do not match', '两次输入的密码不一致'],
  'admin.revokeTokens': ['Also revoke my API tokens', '同时吊销我的 API 令牌'],
  'admin.revokeTokens.off': [
    'Programs with these tokens keep their access, and so does whoever made one without your knowledge.',
    '使用这些令牌的程序会继续有权限；别人擅自创建的令牌也一样。',
  ],
  'admin.change': ['Change password', '修改密码'],
  'admin.password.given': [
    'The password comes from a variable, a file or a systemd credential (PULSEGATE_ADMIN_PASSWORD, PULSEGATE_ADMIN_PASSWORD_FILE, admin-password): the next start sets it again. Change it there too.',
    '密码由环境变量、文件或 systemd 凭据设置（PULSEGATE_ADMIN_PASSWORD、PULSEGATE_ADMIN_PASSWORD_FILE、admin-password），下次启动时会恢复。请同时在那里修改。',
  ],
  'admin.passwordChanged': ['The password was changed', '密码已修改'],
  'totp.title': ['Second factor', '两步验证'],
  'totp.on': ['On', '已开启'],
  'totp.off': ['Off', '未开启'],
  'totp.text': [
    'Sign-in then needs the password and six digits of an authenticator app.',
    '登录时除密码外，还需要认证器应用的六位数字。',
  ],
  'totp.basic': [
    'Only the console asks for it: /api/v1 and the account API still take the password alone (Basic). Let programs use /api/v1 with an API token instead.',
    '只有登录控制台时需要；/api/v1 和账号接口仍然只凭密码（Basic）。程序请改用 API 令牌访问 /api/v1。',
  ],
  'totp.turnOn.title': ['Turn on the second factor', '开启两步验证'],
  'totp.turnOff.title': ['Turn off the second factor', '关闭两步验证'],
  'totp.turnOn': ['Turn on', '开启'],
  'totp.turnOff': ['Turn off', '关闭'],
  'totp.qr': ['QR code for the authenticator', '认证器二维码'],
  'recovery.title': ['Recovery codes', '恢复码'],
  'recovery.text': [
    'If you lose your phone, use a recovery code instead of a verification code. Each works once.',
    '手机丢失时，可以用恢复码代替动态验证码，每个只能用一次。',
  ],
  'recovery.left': ['{n} recovery {n:code is|codes are} left.', '还剩 {n} 个未使用的恢复码。'],
  'recovery.renew': ['Make new recovery codes', '生成新的恢复码'],
  'recovery.renew.text': ['All earlier recovery codes stop working.', '以前的恢复码会全部失效。'],
  'recovery.once': [
    'The recovery codes are shown only once. Save them now.',
    '恢复码只显示这一次，请现在保存。',
  ],
  'totp.scan': [
    'Scan the code with an authenticator app, or enter the secret:',
    '用认证器应用扫描，或手动输入密钥：',
  ],
  // API tokens.
  'tokens.text': ['Programs use a token instead of a password.', '程序使用令牌访问 API，无需密码。'],
  'tokens.new': ['New token', '新建令牌'],
  'tokens.created': ['The token is ready', '令牌已创建'],
  'tokens.once': ['The token is shown only once. Save it now.', '令牌只显示这一次，请现在保存。'],
  'tokens.empty': ['No tokens yet', '还没有令牌'],
  'tokens.empty.text': [
    'Give each program a token with only the scopes it needs.',
    '给每个程序一个令牌，只授予需要的权限。',
  ],
  'tokens.name': ['Name', '名称'],
  'tokens.prefix': ['Prefix', '前缀'],
  'tokens.scopes': ['Scopes', '权限'],
  'tokens.lastUsed': ['Last used', '最近使用'],
  'tokens.revoke': ['Revoke', '吊销'],
  'tokens.revoke.text': [
    '{name} stops working at once, and so do the programs that use it.',
    '{name} 会立即失效，使用它的程序将无法访问。',
  ],
  'tokens.revoked': ['Revoked', '已吊销'],
  // The IP whitelist.
  'whitelist.text': [
    'Only these addresses can use the console and the admin API; empty allows all. Changes apply from the next request.',
    '只有名单中的地址能访问控制台和管理 API；留空允许所有地址。保存后从下一个请求起生效。',
  ],
  'whitelist.field': ['Allowed addresses', '允许的地址'],
  'whitelist.hint': [
    'Separated by commas: an exact address, a wildcard ending in *, or a network.',
    '用逗号分隔：精确地址、以 * 结尾的通配，或网段。',
  ],
  'whitelist.invalid': [
    'Not valid: {entries}. An entry is an exact address, a wildcard ending in *, or a network.',
    '无效：{entries}。每条须为精确地址、以 * 结尾的通配，或网段。',
  ],
  'whitelist.you': ['Your address', '您的地址'],
  'whitelist.allowed': ['Allowed', '允许'],
  'whitelist.refused': ['Refused', '拒绝'],
  'whitelist.entries': ['Entry by entry', '逐条说明'],
  'whitelist.everyone': ['The list is empty: every address is allowed.', '名单为空：所有地址都允许。'],
  'whitelist.try': ['Test an address', '测试地址'],
  'whitelist.notAnAddress': ['Not an address', '不是有效的地址'],
  'whitelist.matchedBy': ['matches', '匹配'],
  'whitelist.saved': ['The whitelist was saved', '白名单已保存'],
  'whitelist.lockOut': ['This would lock you out', '这会把您自己锁在外面'],
  'whitelist.lockOut.text': [
    'The new list does not contain your address {address}. After you save it, this page stops working. To get back in, run on the server:',
    '新名单不包含您的地址 {address}。保存后此页面将无法访问；要恢复，请在服务器上运行：',
  ],
  'whitelist.kind.address': ['address', '地址'],
  'whitelist.kind.wildcard': ['wildcard', '通配'],
  'whitelist.kind.cidr': ['network', '网段'],
  'whitelist.kind.everyone': ['everyone', '所有地址'],
  'whitelist.kind.invalid': ['not valid', '无效'],
} as const satisfies Texts;
