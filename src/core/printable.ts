// Escapes text from clients for logs and terminals: it cannot end a line, move the cursor or reorder text.

// Controls, invisible formatting (bidi marks and overrides, zero-width), line and paragraph separators, lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Visible ASCII and spaces: a fast path for most texts. */
const PLAIN = /^[ -~]*$/;

/**
 * `text` with each unprintable character written as `\xNN` (up to U+00FF) or `\u{…}`, and at most `maxLength` characters
 * of result, the last of them `…` if something was cut. Applying it twice changes nothing more.
 */
export function printable(text: string, maxLength = 256): string {
  if (text.length <= maxLength && (PLAIN.test(text) || !UNPRINTABLE.test(text))) return text;
  let shown = '';
  // Where to cut, on a whole character or escape, if the rest turns out not to fit.
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
