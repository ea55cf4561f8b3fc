// Errors: what happened, and what to do next.
import type { Texts } from './texts.js';

export const errors = {
  'error.between': { en: '; ', zh: '；' },
  'error.retry': { en: 'Try again', zh: '重试' },
  'error.signedOut': { en: 'Your session had ended; nothing was saved', zh: '登录已失效，本次未保存' },
  'error.signedOut.next': { en: 'Sign in again, then submit again.', zh: '请重新登录后再次提交。' },
  'error.offline': { en: 'The daemon does not answer', zh: '无法连接到服务' },
  'error.offline.next': {
    en: 'Check whether it is running. The page reconnects by itself.',
    zh: '请检查服务是否在运行；恢复后页面会自动更新。',
  },
  'error.forbidden': { en: 'Not allowed', zh: '没有权限' },
  'error.forbidden.next': {
    en: 'Your address is not on the whitelist, or the token lacks the scope. On the server: pulsegate whitelist show.',
    zh: '您的地址不在白名单中，或令牌缺少权限。可在服务器上运行 pulsegate whitelist show。',
  },
  'error.wrongRole.next': {
    en: 'Your role does not include this. Ask the administrator.',
    zh: '您的角色不包含此操作，请联系管理员。',
  },
  'error.confirmation': { en: 'Not confirmed', zh: '尚未确认' },
  'error.confirmation.next': {
    en: 'Nothing was changed. Try again, and enter your password.',
    zh: '没有任何更改。请重试，并输入您的密码。',
  },
  'error.crossSite': {
    en: 'The request came from another site and was refused',
    zh: '请求来自其他网站，已拒绝',
  },
  'error.crossSite.next': { en: 'Use the console at its own address.', zh: '请在控制台自己的地址上操作。' },
  'error.notFound': { en: 'Not found', zh: '未找到' },
  'error.notFound.next': {
    en: 'It may have been deleted. Go back to the list.',
    zh: '可能已被删除，请返回列表查看。',
  },
  'error.usernameTaken': { en: 'The user name is taken', zh: '该用户名已存在' },
  'error.usernameTaken.next': {
    en: 'Choose another one, or edit the existing account.',
    zh: '请换一个用户名，或编辑已有的账号。',
  },
  'error.overBudget': { en: 'The budget does not cover this', zh: '额度不足' },
  'error.overBudget.next': {
    en: 'Reduce the amount, or ask the administrator for more.',
    zh: '减少数量，或联系管理员增加额度。',
  },
  'error.addressTaken': {
    en: 'Another account has one of these addresses',
    zh: '其中有地址已属于另一个账号',
  },
  'error.addressTaken.next': {
    en: 'An address can belong to only one account: remove it from the other account, or here.',
    zh: '一个地址只能属于一个账号：请从另一个账号或这里移除它。',
  },
  'error.wrongCredentials': { en: 'Wrong user name, password or code', zh: '用户名、密码或验证码错误' },
  'error.wrongCredentials.next': {
    en: 'Check upper and lower case and try again. After many failures, sign-in is blocked for a while.',
    zh: '请检查大小写后重试；失败次数过多会被暂时锁定。',
  },
  'error.changedMeanwhile': { en: 'Someone else has changed it in the meantime', zh: '已被他人修改' },
  'error.changedMeanwhile.next': {
    en: 'Saving again overwrites those changes.',
    zh: '再次保存会覆盖那些修改。',
  },
  'conflict.theirs': { en: 'now {value}', zh: '现在是 {value}' },
  'conflict.mine': { en: 'yours: {value}', zh: '您的修改：{value}' },
  'conflict.next': {
    en: '“Save anyway” writes only the fields that you changed. The others keep the values of the other user.',
    zh: '“仍然保存”只写入您改过的字段，他人修改的其他字段保持不变。',
  },
  'error.conflict': { en: 'The change conflicts with the current state', zh: '与当前状态冲突' },
  'error.conflict.next': { en: 'Reload and try again.', zh: '请重新载入后再试。' },
  'error.validation': { en: 'Some input is not valid', zh: '输入内容不符合要求' },
  'error.validation.next': { en: 'Correct it and try again.', zh: '请改正后重试。' },
  'error.tooLarge': { en: 'Too large', zh: '内容过大' },
  'error.tooLarge.next': { en: 'Split it into smaller parts.', zh: '请拆分成较小的几份。' },
  'error.tooMany': { en: 'Too many requests', zh: '请求过多' },
  'error.tooMany.next': { en: 'Wait a moment and try again.', zh: '请稍后再试。' },
  'error.unavailable': { en: 'The daemon cannot answer this request now', zh: '服务暂时无法处理' },
  'error.unavailable.next': {
    en: 'The database may be unavailable, or the search too broad: narrow it, or try again in a moment.',
    zh: '数据库可能暂时不可用，或搜索范围过大：请缩小范围，或稍后再试。',
  },
  'error.internal': { en: 'The daemon failed', zh: '服务出错' },
  'error.internal.next': {
    en: 'The reason is in its log. You can try again.',
    zh: '原因见服务日志，可以重试。',
  },
} as const satisfies Texts;
