// Operators besides the administrator, their roles and budgets.
import type { Texts } from './texts.js';

export const operators = {
  'operators.owner': { en: 'Belongs to', zh: '归属' },
  'operators.administrator': { en: 'Administrator', zh: '管理员' },
  'operators.title': { en: 'Operators', zh: '操作员' },
  'operators.text': {
    en: 'People who sign in besides the administrator, each with their own password, second factor, tokens and audit entries.',
    zh: '管理员之外可以登录的人员，各有自己的密码、两步验证、令牌和审计记录。',
  },
  'operators.new': { en: 'New operator', zh: '新建操作员' },
  'operators.edit': { en: 'Edit {name}', zh: '编辑 {name}' },
  'operators.create': { en: 'Create', zh: '创建' },
  'operators.saved': { en: 'Saved', zh: '已保存' },
  'operators.empty': { en: 'No operators yet', zh: '还没有操作员' },
  'operators.empty.text': {
    en: 'Only the administrator can sign in so far.',
    zh: '目前只有管理员可以登录。',
  },
  'operators.name': { en: 'Name', zh: '名称' },
  'operators.role': { en: 'Role', zh: '角色' },
  'operators.role.viewer': { en: 'Viewer', zh: '查看者' },
  'operators.role.seller': { en: 'Seller', zh: '代理商' },
  'operators.role.operator': { en: 'Operator', zh: '操作员' },
  'operators.role.viewer.text': {
    en: 'Sees every account and changes nothing.',
    zh: '能查看所有账号，不能修改。',
  },
  'operators.role.seller.text': {
    en: 'Works on its own accounts within its budget, and sees no others.',
    zh: '只能在额度内管理自己的账号，看不到其他账号。',
  },
  'operators.role.operator.text': {
    en: 'Works on every account, but not on the settings of the service.',
    zh: '能管理所有账号，不能修改服务的设置。',
  },
  'operators.password': { en: 'Password', zh: '密码' },
  'operators.newPassword': { en: 'New password', zh: '新密码' },
  'operators.revokeTokens': {
    en: 'Also revoke the operator’s API tokens',
    zh: '同时吊销此操作员的 API 令牌',
  },
  'operators.newPassword.hint': {
    en: 'Leave empty to keep the current one. A new password ends the console sessions.',
    zh: '留空则不修改。设置新密码会使已登录的会话失效。',
  },
  'operators.enabled': { en: 'May sign in', zh: '允许登录' },
  'operators.disabled': { en: 'Disabled', zh: '已停用' },
  'operators.factor': { en: 'Second factor', zh: '两步验证' },
  'operators.factor.on': { en: 'On', zh: '已开启' },
  'operators.factor.off': { en: 'Off', zh: '未开启' },
  'operators.factor.reset': { en: 'Turn the second factor off', zh: '关闭两步验证' },
  'operators.factor.reset.text': {
    en: 'For a lost device: {name} then signs in with the password alone, and the present console sessions end.',
    zh: '用于设备丢失：{name} 只用密码即可登录，现有会话立即结束。',
  },
  'operators.factor.resetDone': { en: 'The second factor is off', zh: '两步验证已关闭' },
  'operators.budget': { en: 'Budget', zh: '额度' },
  'operators.budget.text': {
    en: 'An empty field means no limit. Deleting accounts or shortening them refunds nothing.',
    zh: '留空表示不限。删除账号或缩短时间不退还额度。',
  },
  'operators.budget.accounts': { en: 'Accounts', zh: '账号数' },
  'operators.budget.days': { en: 'Days', zh: '天数' },
  'operators.budget.bytes': { en: 'Traffic in GB', zh: '流量（GB）' },
  'operators.budget.used': { en: '{used} used', zh: '已用 {used}' },
  'operators.budget.wrong': { en: 'Must be a whole number of 0 or more', zh: '须为不小于 0 的整数' },
  'operators.remove': { en: 'Remove', zh: '删除' },
  'operators.remove.title': { en: 'Remove {name}', zh: '删除 {name}' },
  'operators.remove.text': {
    en: 'The operator’s console sessions and tokens end. The accounts stay and become the administrator’s.',
    zh: '该操作员的会话和令牌立即失效。其账号保留，归管理员所有。',
  },
  'operators.removed': { en: 'Removed', zh: '已删除' },
} as const satisfies Texts;
