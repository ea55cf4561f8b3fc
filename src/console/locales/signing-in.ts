// Signing in.
import type { Texts } from './texts.js';

export const signingIn = {
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
} as const satisfies Texts;
