// The daemon writes its reasons in English for programs. This module translates them into the reader's language.
import type { FieldError, ImportReport, ProblemReason } from '../api-types.js';
import { language, textOf } from './i18n.js';

export const lineReason = ({ reason, message }: ImportReport['lines'][number]): string =>
  textOf(`said.line.${reason?.code}`, reason?.values) ?? message ?? '';

export const fieldText = ({ code, values, message }: FieldError): string =>
  textOf(`said.field.${code}`, values) ?? message;

interface Refusal {
  readonly reason: ProblemReason | null;
  readonly detail: string | null;
}

/** Explains why the daemon refused a request. A detail without a code is English, so only English readers see it. */
export function detailText({ reason, detail }: Refusal): string | null {
  const own = reason && textOf(`said.reason.${reason.code}`, reason.values);
  return own ?? (language.get() === 'en' ? detail : null);
}
