// The API document.
import type { Texts } from './texts.js';

export const api = {
  'api.text': {
    en: 'Everything here can be done by the API. For programs:',
    zh: '这里的一切都能用接口完成。机器可读的文档：',
  },
  'api.scope': { en: 'A token needs', zh: '令牌需要' },
  'api.body': { en: 'Request ({type})', zh: '请求（{type}）' },
} as const satisfies Texts;
