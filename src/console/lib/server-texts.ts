// The daemon writes its reasons in English for programs. This module translates them into the reader's language.
import type { FieldError, ImportReport, ProblemReason } from '../api-types.js';
import { FIELD_TEXTS, LINE_TEXTS, REASON_TEXTS } from '../locales/daemon.zh-CN.js';
import type { Text } from '../locales/texts.js';
import { fill, language } from './i18n.js';

/** Explains why the daemon skipped a line of a file. */
export const lineReason = ({ reason, message }: ImportReport['lines'][number]): string =>
  said(LINE_TEXTS[reason?.code ?? ''], reason?.values, message ?? '');

/** Explains what is wrong with a part of a request. */
export const fieldText = ({ code, values, message }: FieldError): string =>
  said(FIELD_TEXTS[code], values, message);

/** Explains why the daemon refused a request. A detail without a code is English, so only English readers see it. */
export function detailText({
  reason,
  detail,
}: {
  reason: ProblemReason | null;
  detail: string | null;
}): string | null {
  const daemons = language.get() === 'en' ? detail : null;
  return reason ? said(REASON_TEXTS[reason.code], reason.values, daemons) : daemons;
}

/** English readers see the words of the daemon, unless the console has its own; a code without a text shows those to everybody. */
function said<Words>(
  text: string | Text | undefined,
  values: object | undefined,
  daemons: Words,
): string | Words {
  const [en, zh] = typeof text === 'object' ? text : [undefined, text];
  const own = language.get() === 'en' ? en : zh;
  return own === undefined ? daemons : fill(own, { ...values });
}
