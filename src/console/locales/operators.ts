// Operators besides the administrator, their roles and budgets.
import type { Texts } from './texts.js';

export const operators = {
  'operators.owner': ['Belongs to', '归属'],
  'operators.administrator': ['Administrator', '管理员'],
  'operators.title': ['Operators', '操作员'],
  'operators.text': [
    'People who sign in besides the administrator, each with their own password, second factor, tokens and audit entries.',
    '管理员之外可以登录的人员，各有自己的密码、两步验证、令牌和审计记录。',
  ],
  'operators.new': ['New operator', '新建操作员'],
  'operators.empty': ['No operators yet', '还没有操作员'],
  'operators.empty.text': ['Only the administrator can sign in so far.', '目前只有管理员可以登录。'],
  'operators.role': ['Role', '角色'],
  'operators.role.viewer': ['Viewer', '查看者'],
  'operators.role.seller': ['Seller', '代理商'],
  'operators.role.operator': ['Operator', '操作员'],
  'operators.role.viewer.text': ['Sees every account and changes nothing.', '能查看所有账号，不能修改。'],
  'operators.role.seller.text': [
    'Works on its own accounts within its budget, and sees no others.',
    '只能在额度内管理自己的账号，看不到其他账号。',
  ],
  'operators.role.operator.text': [
    'Works on every account, but not on the settings of the service.',
    '能管理所有账号，不能修改服务的设置。',
  ],
  'operators.revokeTokens': ['Also revoke the operator’s API tokens', '同时吊销此操作员的 API 令牌'],
  'operators.newPassword.hint': [
    'Leave empty to keep the current one. A new password ends the console sessions.',
    '留空则不修改。设置新密码会使已登录的会话失效。',
  ],
  'operators.enabled': ['May sign in', '允许登录'],
  'operators.factor.reset': ['Turn the second factor off', '关闭两步验证'],
  'operators.factor.reset.text': [
    'For a lost device: {name} then signs in with the password alone, and the present console sessions end.',
    '用于设备丢失：{name} 只用密码即可登录，现有会话立即结束。',
  ],
  'operators.factor.resetDone': ['The second factor is off', '两步验证已关闭'],
  'operators.budget': ['Budget', '额度'],
  'operators.budget.text': [
    'An empty field means no limit. Deleting accounts or shortening them refunds nothing.',
    '留空表示不限。删除账号或缩短时间不退还额度。',
  ],
  'operators.budget.accounts': ['Accounts', '账号数'],
  'operators.budget.days': ['Days', '天数'],
  'operators.budget.bytes': ['Traffic in GB', '流量（GB）'],
  'operators.budget.used': ['{used} used', '已用 {used}'],
  'operators.budget.wrong': ['Must be a whole number of 0 or more', '须为不小于 0 的整数'],
  'operators.remove': ['Remove', '删除'],
  'operators.remove.title': ['Remove {name}', '删除 {name}'],
  'operators.remove.text': [
    'The operator’s console sessions and tokens end. The accounts stay and become the administrator’s.',
    '该操作员的会话和令牌立即失效。其账号保留，归管理员所有。',
  ],
  'operators.removed': ['Removed', '已删除'],
} as const satisfies Texts;
