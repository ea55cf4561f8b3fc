// Texts in the reader's language. The console and the player page share this module, and each provides its own texts.
import type { TEXTS } from '../locales/index.js';
import type { PLAYER_TEXTS } from '../locales/player.js';
import type { Text } from '../locales/texts.js';
import { cell, useCell } from './cell.js';

export type TextKey = keyof typeof TEXTS | keyof typeof PLAYER_TEXTS;
export type Language = 'zh-CN' | 'en';
type Values = Readonly<Record<string, string | number>>;

const STORED = 'pulsegate.language';

export const language = cell<Language>(first());

function first(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'zh-CN' || stored === 'en') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

export function setLanguage(next: Language): void {
  localStorage.setItem(STORED, next);
  document.documentElement.lang = next;
  language.set(next);
}

let texts: Readonly<Partial<Record<TextKey, Text>>> = {};

/** Call this before anything renders. */
export function provideTexts(provided: typeof texts): void {
  texts = provided;
}

export function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(texts, key);
}

/**
 * Returns the text of `key`. A value replaces `{name}`; numbers get digit grouping. `{n:day|days}` becomes the first form when n is
 * 1, and the second form otherwise.
 */
export function t(key: TextKey, values: Values = {}): string {
  return fill(texts[key]?.[language.get() === 'zh-CN' ? 1 : 0] ?? key, values);
}

/** Replaces the values in a text as `t` does. */
export function fill(text: string, values: Values): string {
  return text.replace(
    /\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g,
    (whole, name: string, one?: string, many?: string) => {
      const value = values[name];
      if (value === undefined) return whole;
      if (one !== undefined) return value === 1 ? one : (many ?? '');
      return typeof value === 'number' ? value.toLocaleString(language.get()) : value;
    },
  );
}

/** Renders the component again when the language changes. */
export function useLanguage(): Language {
  return useCell(language);
}
