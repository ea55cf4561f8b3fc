// The API document.
import type { Texts } from './texts.js';

export const api = {
  'api.text': {
    en: 'The API can do everything that this console does. For programs: ',
    zh: '控制台的所有功能都可以通过 API 完成。机器可读的文档：',
  },
  'api.scope': { en: 'A token needs', zh: '令牌需要' },
  'api.body': { en: 'Request ({type})', zh: '请求（{type}）' },
} as const satisfies Texts;
