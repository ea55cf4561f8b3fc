// Control and invisible characters: escaped or removed in text for logs and terminals, so that it cannot end a line, move the cursor
// or reorder text; and not allowed in names.

// Controls, invisible formatting (bidi marks and overrides, zero-width), line and paragraph separators, lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Visible ASCII and spaces: a fast path for most texts. */
const PLAIN = /^[ -~]*$/;

/**
 * Returns `text` with each unprintable character written as `\xNN` (up to U+00FF) or `\u{…}`, cut to `maxLength` characters. A cut
 * text ends with `…`. A second application changes nothing.
 */
export function printable(text: string, maxLength = 256): string {
  if (text.length <= maxLength && (PLAIN.test(text) || !UNPRINTABLE.test(text))) return text;
  let shown = '';
  // The last position at which a cut does not split a character or an escape.
  let cut = 0;
  for (const char of text) {
    shown += UNPRINTABLE.test(char) ? escaped(char) : char;
    if (shown.length > maxLength) return `${shown.slice(0, cut)}…`;
    if (shown.length < maxLength) cut = shown.length;
  }
  return shown;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code <= 0xff ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`;
}

/** Removes every unprintable character. */
export function withoutUnprintable(text: string): string {
  return text.replace(EACH_UNPRINTABLE, '');
}

/** Whether `text` has a control character (C0, DEL, C1) or a line or paragraph separator. */
export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

/** `text` on one line: a space in place of each run of white space and control, invisible or unassigned characters. */
export function oneLine(text: string): string {
  return text.replace(/[\p{C}\s]+/gu, ' ').trim();
}
