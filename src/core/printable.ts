// Escapes text from clients for logs and terminals: it cannot end a line, move the cursor or reorder text.

// Controls, invisible formatting (bidi marks and overrides, zero-width), line and paragraph separators, lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

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
