// Texts for logs, terminals and messages: unprintable characters, values in a text, and the nearest known name.
import { tryOr } from './errors.js';

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
export const withoutUnprintable = (text: string): string => text.replace(EACH_UNPRINTABLE, '');

/** Whether `text` has a control character (C0, DEL, C1) or a line or paragraph separator. */
export const hasControl = (text: string): boolean => CONTROL.test(text);

/** Keeps a byte order mark, which is part of a name or password. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
export const UTF8_WITHOUT_MARK = new TextDecoder('utf-8', { fatal: true });

/** The text of bytes; null: they are not of the encoding. @param decoder a fatal one */
export const decoded = (bytes: Uint8Array, decoder = UTF8): string | null =>
  tryOr(null, () => decoder.decode(bytes));

/** The value of a JSON text; undefined: it is malformed. The error of JSON.parse would quote the text, and with it a password. */
export const parseJson = (text: string): unknown => tryOr(undefined, () => JSON.parse(text) as unknown);

/** `text` on one line: a space in place of each run of white space and control, invisible or unassigned characters. */
export const oneLine = (text: string): string => text.replace(/[\p{C}\s]+/gu, ' ').trim();

/** Replaces each name in braces by its value in `values`. A name without a value stays. */
export const fillText = (text: string, values: Readonly<Record<string, string | number | null>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

/** The candidate nearest to `name` by edit distance, ignoring case; undefined when none is near. */
export function closest(name: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

/** Damerau–Levenshtein distance: insertions, deletions, substitutions and transpositions of adjacent characters. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 20 || a.length > 100) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** A character by which mail clients and messengers find addresses in text, between two others, or `@` anywhere. */
const LINKING = /(?<=\S)[.。．｡:](?=\S)|@/gu;

/**
 * Returns `text` so that no client makes a link of it, cut to `maxLength` characters: `http://a.example` becomes
 * `http[:]//a[.]example`. A text without addresses stays as it is.
 */
export function withoutLinks(text: string, maxLength: number): string {
  const shown = withoutUnprintable(text);
  const chars = [...shown];
  const cut = chars.length > maxLength ? `${chars.slice(0, maxLength).join('')}…` : shown;
  return cut.replace(LINKING, '[$&]');
}
