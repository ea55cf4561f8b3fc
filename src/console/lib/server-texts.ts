// The daemon writes its reasons in English for programs. This module translates them into the reader's language.
import type { FieldError, ImportReport, ProblemReason } from '../api-types.js';
import { FIELD_TEXTS, LINE_TEXTS } from '../locales/daemon.zh-CN.js';
import { fill, isTextKey, language, t } from './i18n.js';

/** Explains why the daemon skipped a line of a file. */
export const lineReason = ({ reason, message }: ImportReport['lines'][number]): string =>
  inChinese(LINE_TEXTS[reason?.code ?? ''], reason?.values) ?? message ?? '';

/** Explains what is wrong with a part of a request. */
export const fieldText = ({ code, values, message }: FieldError): string =>
  inChinese(FIELD_TEXTS[code], values) ?? message;

/** Undefined for English readers, who see the daemon's own words, and for a code without a text. */
function inChinese(text: string | undefined, values: object = {}): string | undefined {
  return text === undefined || language.get() === 'en' ? undefined : fill(text, { ...values });
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
