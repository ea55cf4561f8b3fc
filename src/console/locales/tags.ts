// Tags of accounts.
import type { Texts } from './texts.js';

export const tags = {
  'tags.title': { en: 'Tags', zh: '标签' },
  'tags.hint': { en: 'Words separated by commas, at most 16.', zh: '用逗号分隔，最多 16 个。' },
  'tags.wrong': { en: 'At most 16 tags of 32 characters.', zh: '最多 16 个标签，每个最多 32 个字符。' },
  'tags.known': { en: 'Tags in use', zh: '已有标签' },
  'tags.add': { en: 'Add', zh: '添加' },
  'tags.remove': { en: 'Remove', zh: '移除' },
  'tags.bulk.text': {
    en: 'Each account keeps its other tags.',
    zh: '账号的其他标签保持不变。',
  },
} as const satisfies Texts;
