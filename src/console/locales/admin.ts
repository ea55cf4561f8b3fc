// The administrator: password, second factor, recovery codes.
import type { Texts } from './texts.js';

export const admin = {
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
} as const satisfies Texts;
