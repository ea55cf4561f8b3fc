// Errors: what happened, and what to do next.
import type { Texts } from './texts.js';

export const errors = {
  'error.retry': { en: 'Try again', zh: '重试' },
  'error.signedOut': { en: 'The session had ended; nothing was saved', zh: '登录已失效，这次没有保存' },
  'error.signedOut.next': { en: 'Sign in again, then send it once more.', zh: '重新登录后再提交一次。' },
  'error.offline': { en: 'The daemon does not answer', zh: '连不上服务' },
  'error.offline.next': {
    en: 'See whether it runs; the page comes back by itself.',
    zh: '检查它是否在运行；恢复后页面会自动更新。',
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
  'error.crossSite': {
    en: 'The request came from another site and was refused',
    zh: '请求来自其他网站，已拒绝',
  },
  'error.crossSite.next': { en: 'Use the console at its own address.', zh: '请在控制台自己的地址上操作。' },
  'error.notFound': { en: 'Not found', zh: '找不到' },
  'error.notFound.next': {
    en: 'It may have been deleted. Look in the list.',
    zh: '可能已被删除。返回列表看看。',
  },
  'error.usernameTaken': { en: 'The user name is taken', zh: '该用户名已存在' },
  'error.usernameTaken.next': {
    en: 'Choose another, or edit the account that has it.',
    zh: '换一个用户名，或编辑已有的账号。',
  },
  'error.overBudget': { en: 'The budget does not cover this', zh: '额度不足' },
  'error.overBudget.next': {
    en: 'Give less, or ask the administrator for more.',
    zh: '减少数量，或联系管理员增加额度。',
  },
  'error.addressTaken': {
    en: 'Another account has one of these addresses',
    zh: '其中有地址已属于另一个账号',
  },
  'error.addressTaken.next': {
    en: 'An address can be one account only: remove it there, or here.',
    zh: '一个地址只能对应一个账号：从另一个账号或这里移除它。',
  },
  'error.wrongCredentials': { en: 'Wrong user name, password or code', zh: '用户名、密码或验证码错误' },
  'error.wrongCredentials.next': {
    en: 'Check upper and lower case and try again; many failures lock you out for a while.',
    zh: '检查大小写后重试；多次失败会被暂时锁定。',
  },
  'error.changedMeanwhile': { en: 'Somebody else changed it meanwhile', zh: '已被别人修改' },
  'error.changedMeanwhile.next': {
    en: 'Saving again overwrites their change.',
    zh: '再次保存会覆盖那些修改。',
  },
  'conflict.theirs': { en: 'now {value}', zh: '现在是 {value}' },
  'conflict.mine': { en: 'yours: {value}', zh: '你要改为 {value}' },
  'conflict.next': {
    en: '“Save anyway” writes only the fields that you changed; the others stay as they changed them.',
    zh: '“仍然保存”只写入你改过的字段，别人改的其他字段保持不变。',
  },
  'error.conflict': { en: 'It conflicts with how things are now', zh: '与当前状态冲突' },
  'error.conflict.next': { en: 'Read it again and retry.', zh: '重新载入后再试。' },
  'error.validation': { en: 'Something is not as it should be', zh: '内容不合要求' },
  'error.validation.next': { en: 'Correct it and try again.', zh: '改正后再试。' },
  'error.tooLarge': { en: 'Too large', zh: '太大' },
  'error.tooLarge.next': { en: 'Split it into parts.', zh: '请分成几份。' },
  'error.tooMany': { en: 'Too many requests', zh: '请求太多' },
  'error.tooMany.next': { en: 'Wait a moment and try again.', zh: '稍等片刻再试。' },
  'error.unavailable': { en: 'The daemon cannot answer this now', zh: '服务暂时无法处理' },
  'error.unavailable.next': {
    en: 'The database may be away, or the search too wide: narrow it, or try again in a moment.',
    zh: '数据库可能暂时不可用，或搜索范围太大：缩小范围，或稍后再试。',
  },
  'error.internal': { en: 'The daemon failed', zh: '服务出错' },
  'error.internal.next': {
    en: 'Its log says why; you may try again.',
    zh: '原因在服务日志里；可以再试一次。',
  },
} as const satisfies Texts;
