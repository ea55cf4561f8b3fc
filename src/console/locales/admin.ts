// The administrator: password, second factor, recovery codes.
import type { Texts } from './texts.js';

export const admin = {
  'admin.password': { en: 'Your password', zh: '登录密码' },
  'admin.password.text': {
    en: 'Changing it signs out every other browser.',
    zh: '修改后，其他浏览器里的登录会失效。',
  },
  'admin.current': { en: 'Current password', zh: '当前密码' },
  'admin.next': { en: 'New password', zh: '新密码' },
  'admin.again': { en: 'Once more', zh: '再输一次' },
  'admin.differs': { en: 'The two differ', zh: '两次输入不同' },
  'admin.change': { en: 'Change password', zh: '修改密码' },
  'admin.password.given': {
    en: 'The password comes from a variable, a file or a systemd credential (PULSEGATE_ADMIN_PASSWORD, PULSEGATE_ADMIN_PASSWORD_FILE, admin-password): the next start sets it again. Change it there too.',
    zh: '密码由环境变量、文件或 systemd 凭据给出（PULSEGATE_ADMIN_PASSWORD、PULSEGATE_ADMIN_PASSWORD_FILE、admin-password）：下次启动会恢复为那里的密码，请同时在那里修改。',
  },
  'admin.passwordChanged': { en: 'The password was changed', zh: '密码已修改' },
  'totp.title': { en: 'Second factor', zh: '两步验证' },
  'totp.on': { en: 'On', zh: '已开启' },
  'totp.off': { en: 'Off', zh: '未开启' },
  'totp.text': {
    en: 'Signing in then needs six digits of an authenticator app besides the password.',
    zh: '登录时除密码外，还需要认证器应用的六位数字。',
  },
  'totp.basic': {
    en: 'Only the console asks for it: /api/v1 and the account API still take the password alone (Basic). Let programs use /api/v1 with an API token instead.',
    zh: '只有登录控制台时需要；/api/v1 和账号接口仍然只凭密码（Basic）。程序请改用 API 令牌访问 /api/v1。',
  },
  'totp.turnOn': { en: 'Turn on', zh: '开启' },
  'totp.turnOff': { en: 'Turn off', zh: '关闭' },
  'totp.qr': { en: 'QR code for the authenticator', zh: '认证器二维码' },
  'recovery.title': { en: 'Recovery codes', zh: '恢复码' },
  'recovery.text': {
    en: 'When the phone is lost, each recovery code stands once for a code.',
    zh: '手机丢失时，每个恢复码可以代替一次动态验证码。',
  },
  'recovery.left': { en: '{n} recovery {n:code is|codes are} left.', zh: '还剩 {n} 个未使用的恢复码。' },
  'recovery.renew': { en: 'Make new recovery codes', zh: '生成新的恢复码' },
  'recovery.renew.text': {
    en: 'The recovery codes made before count no more.',
    zh: '以前的恢复码会全部失效。',
  },
  'recovery.once': {
    en: 'The recovery codes are shown only now. Keep them.',
    zh: '恢复码只显示这一次，请现在保存。',
  },
  'totp.scan': {
    en: 'Scan it with an authenticator app, or type the secret:',
    zh: '用认证器应用扫描，或手动输入密钥：',
  },
} as const satisfies Texts;
