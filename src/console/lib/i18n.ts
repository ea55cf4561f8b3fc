// Texts in the reader's language. The console and the player page share this module, and each provides its own texts. And the Chinese
// of the reasons that the daemon writes in English for programs.
import type { FieldError, ImportReport } from '../api-types.js';
import type { TEXTS } from '../locales/index.js';
import type { TEXTS as PLAYER_TEXTS } from '../locales/player.js';
import type { Language } from '../locales/texts.js';
import type { ApiError } from './api.js';
import { cell, useCell } from './cell.js';

export type TextKey = keyof typeof TEXTS | keyof typeof PLAYER_TEXTS;
export type { Language };

type Values = Readonly<Record<string, string | number>>;

const STORED = 'pulsegate.language';

export const language = cell<Language>(first());

function first(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'zh-CN' || stored === 'en') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

/** The texts of the shown language; the browser loads no others. */
let texts: Readonly<Record<string, string>> = {};

/** Shows this language as soon as its texts are loaded. Rejects when they cannot be. Call it before anything renders. */
export async function showLanguage(next: Language): Promise<void> {
  texts = (await (next === 'en' ? import('texts:en') : import('texts:zh-CN'))).default;
  document.documentElement.lang = next;
  language.set(next);
}

/** Returns the texts of each language. A search finds the words of all. Rejects when the texts cannot be loaded. */
export const inEveryLanguage = async (): Promise<readonly Readonly<Record<string, string>>[]> =>
  (await Promise.all([import('texts:en'), import('texts:zh-CN')])).map((each) => each.default);

/** Shows this language, now and when the page is opened again. */
export async function setLanguage(next: Language): Promise<void> {
  await showLanguage(next);
  localStorage.setItem(STORED, next);
}

export function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(texts, key);
}

/**
 * Returns the text of `key`. A value replaces `{name}`; numbers get digit grouping. `{n:day|days}` becomes the first form when n is
 * 1, and the second form otherwise.
 */
export function t(key: TextKey, values: Values = {}): string {
  return textOf(key, values) ?? key;
}

/** Like `t`, for a key that may have no text: undefined. */
export function textOf(key: string, values: Readonly<Record<string, unknown>> = {}): string | undefined {
  return texts[key]?.replace(
    /\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g,
    (whole, name: string, one?: string, many?: string) => {
      const value = values[name];
      if (value === undefined) return whole;
      if (one !== undefined) return value === 1 ? one : (many ?? '');
      return typeof value === 'number' ? value.toLocaleString(language.get()) : String(value);
    },
  );
}

/** Renders the component again when the language changes. */
export function useLanguage(): Language {
  return useCell(language);
}

export const lineReason = ({ reason, message }: ImportReport['lines'][number]): string =>
  textOf(`said.line.${reason?.code}`, reason?.values) ?? message ?? '';

export const fieldText = ({ code, values, message }: FieldError): string =>
  textOf(`said.field.${code}`, values) ?? message;

/** Explains why the daemon refused a request. A detail without a code is English, so only English readers see it. */
export function detailText({ reason, detail }: Pick<ApiError, 'reason' | 'detail'>): string | null {
  const own = reason && textOf(`said.reason.${reason.code}`, reason.values);
  return own ?? (language.get() === 'en' ? detail : null);
}
