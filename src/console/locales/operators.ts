// Operators beside the administrator, their roles and budgets.
import type { Texts } from './texts.js';

export const operators = {
  'operators.owner': { en: 'Belongs to', zh: '归属' },
  'operators.administrator': { en: 'Administrator', zh: '管理员' },
} as const satisfies Texts;
