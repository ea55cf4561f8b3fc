// The daemon writes its reasons in English for programs. This module translates them into the reader's language.
import type { FieldError, ImportReport, ProblemReason } from '../api-types.js';
import { isTextKey, language, type TextKey, t } from './i18n.js';

/** Explains why the daemon skipped a line of a file, by the code. An unknown code shows the daemon's own message. */
export function lineReason({ reason, message }: ImportReport['lines'][number]): string {
  if (!reason || !isTextKey(`import.reason.${reason.code}`)) return message ?? '';
  const values = Object.entries(reason.values).map(([name, value]) => [name, String(value)]);
  return t(`import.reason.${reason.code}` as TextKey, Object.fromEntries(values));
}

/** Explains what is wrong with a part of a request, by the code. An unknown code shows the daemon's own message. */
export function fieldText({ code, values, message }: FieldError): string {
  if (!isTextKey(`field.${code}`)) return message;
  return t(`field.${code}` as TextKey, values as Record<string, string | number>);
}

/** Explains why the daemon refused a request, by the code. A detail without a code is English, so only English readers see it. */
export function detailText({
  reason,
  detail,
}: {
  reason: ProblemReason | null;
  detail: string | null;
}): string | null {
  if (reason && isTextKey(`reason.${reason.code}`)) {
    return t(`reason.${reason.code}`, reason.values as Record<string, string | number>);
  }
  return language.get() === 'en' ? detail : null;
}
