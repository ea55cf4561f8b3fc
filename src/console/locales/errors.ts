// Errors: what happened, and what to do next.
import type { Texts } from './texts.js';

export const errors = {
  'error.between': ['; ', '；'],
  'error.retry': ['Try again', '重试'],
  'error.signedOut': ['Your session had ended; nothing was saved', '登录已失效，本次未保存'],
  'error.signedOut.next': ['Sign in again, then submit again.', '请重新登录后再次提交。'],
  'error.offline': ['The daemon does not answer', '无法连接到服务'],
  'error.offline.next': [
    'Check whether it is running. The page reconnects by itself.',
    '请检查服务是否在运行；恢复后页面会自动更新。',
  ],
  'error.forbidden': ['Not allowed', '没有权限'],
  'error.forbidden.next': [
    'Your address is not on the whitelist, or the token lacks the scope. On the server: pulsegate whitelist show.',
    '您的地址不在白名单中，或令牌缺少权限。可在服务器上运行 pulsegate whitelist show。',
  ],
  'error.wrongRole.next': [
    'Your role does not include this. Ask the administrator.',
    '您的角色不包含此操作，请联系管理员。',
  ],
  'error.confirmation': ['Not confirmed', '尚未确认'],
  'error.confirmation.next': [
    'Nothing was changed. Try again, and enter your password.',
    '没有任何更改。请重试，并输入您的密码。',
  ],
  'error.crossSite': ['The request came from another site and was refused', '请求来自其他网站，已拒绝'],
  'error.crossSite.next': ['Use the console at its own address.', '请在控制台自己的地址上操作。'],
  'error.notFound': ['Not found', '未找到'],
  'error.notFound.next': ['It may have been deleted. Go back to the list.', '可能已被删除，请返回列表查看。'],
  'error.usernameTaken': ['The user name is taken', '该用户名已存在'],
  'error.usernameTaken.next': [
    'Choose another one, or edit the existing account.',
    '请换一个用户名，或编辑已有的账号。',
  ],
  'error.overBudget': ['The budget does not cover this', '额度不足'],
  'error.overBudget.next': [
    'Reduce the amount, or ask the administrator for more.',
    '减少数量，或联系管理员增加额度。',
  ],
  'error.addressTaken': ['Another account has one of these addresses', '其中有地址已属于另一个账号'],
  'error.addressTaken.next': [
    'An address can belong to only one account: remove it from the other account, or here.',
    '一个地址只能属于一个账号：请从另一个账号或这里移除它。',
  ],
  'error.wrongCredentials': ['Wrong user name, password or code', '用户名、密码或验证码错误'],
  'error.wrongCredentials.next': [
    'Check upper and lower case and try again. After many failures, sign-in is blocked for a while.',
    '请检查大小写后重试；失败次数过多会被暂时锁定。',
  ],
  'error.changedMeanwhile': ['Someone else has changed it in the meantime', '已被他人修改'],
  'error.changedMeanwhile.next': ['Saving again overwrites those changes.', '再次保存会覆盖那些修改。'],
  'conflict.theirs': ['now {value}', '现在是 {value}'],
  'conflict.mine': ['yours: {value}', '您的修改：{value}'],
  'conflict.next': [
    '“Save anyway” writes only the fields that you changed. The others keep the values of the other user.',
    '“仍然保存”只写入您改过的字段，他人修改的其他字段保持不变。',
  ],
  'error.conflict': ['The change conflicts with the current state', '与当前状态冲突'],
  'error.conflict.next': ['Reload and try again.', '请重新载入后再试。'],
  'error.validation': ['Some input is not valid', '输入内容不符合要求'],
  'error.validation.next': ['Correct it and try again.', '请改正后重试。'],
  'error.tooLarge': ['Too large', '内容过大'],
  'error.tooLarge.next': ['Split it into smaller parts.', '请拆分成较小的几份。'],
  'error.tooMany': ['Too many requests', '请求过多'],
  'error.tooMany.next': ['Wait a moment and try again.', '请稍后再试。'],
  'error.unavailable': ['The daemon cannot answer this request now', '服务暂时无法处理'],
  'error.unavailable.next': [
    'The database may be unavailable, or the search too broad: narrow it, or try again in a moment.',
    '数据库可能暂时不可用，或搜索范围过大：请缩小范围，或稍后再试。',
  ],
  'error.internal': ['The daemon failed', '服务出错'],
  'error.internal.next': ['The reason is in its log. You can try again.', '原因见服务日志，可以重试。'],
} as const satisfies Texts;
