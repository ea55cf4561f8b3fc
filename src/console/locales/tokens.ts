// API tokens.
import type { Texts } from './texts.js';

export const tokens = {
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
} as const satisfies Texts;
