// The daemon speaks English to programs; its reasons are shown in the reader's language.
import type { FieldError, ImportReport } from '../api-types.js';
import { SERVER_TEXTS } from '../locales/server.zh-CN.js';
import { isTextKey, language, type TextKey, t } from './i18n.js';

/** Why a line of a file was not taken, by its code; of a code that is not known here what the daemon says. */
export function lineReason({ reason, message }: ImportReport['lines'][number]): string {
  if (!reason || !isTextKey(`import.reason.${reason.code}`)) return message ?? '';
  const values = Object.entries(reason.values).map(([name, value]) => [name, String(value)]);
  return t(`import.reason.${reason.code}` as TextKey, Object.fromEntries(values));
}

/** What is wrong with a part of a request, by its code; of a code that is not known here what the daemon says. */
export function fieldText({ code, values, message }: FieldError): string {
  if (!isTextKey(`field.${code}`)) return message;
  return t(`field.${code}` as TextKey, values as Record<string, string | number>);
}

/** As it is where there are no other words for it. */
export function serverText(text: string): string {
  return language.get() === 'zh-CN' ? (SERVER_TEXTS[text] ?? text) : text;
}
