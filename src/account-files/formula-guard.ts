// Protects against CSV injection: no text in a CSV file becomes a formula in a spreadsheet, whichever separator it uses.
// Quotes around a cell do not protect: with another separator they are in the middle of a cell and have no effect.

/** Characters that start a formula. Japanese spreadsheets accept the full-width forms too. */
const FORMULA = '=+\\-@\uff1d\uff0b\uff0d\uff20';
/** Characters that can end a cell: commas, semicolons, bars, white space, line breaks, control characters. */
const SEPARATOR = ',;|\\s\\u0000-\\u001f\\u007f-\\u009f';
/** Some spreadsheets skip these characters at the start of a text. */
const DROPPED = '\\t\\r';

/** Matches each position where a formula could start. Spreadsheets may remove quotes before it. The apostrophe follows the group. */
const placeOf = (apostrophe: '' | "'"): RegExp =>
  new RegExp(
    `(^['"]*)${apostrophe}(?=[${FORMULA}${DROPPED}])|((?<=[${SEPARATOR}])['"]*)${apostrophe}(?=[${FORMULA}])`,
    'g',
  );
const UNGUARDED = placeOf('');
const GUARDED = placeOf("'");

/** Adds an apostrophe before each position in `text` where a formula could start. */
export function guard(text: string): string {
  return text.replace(UNGUARDED, "$1$2'");
}

/** Reverses `guard`. A text that was never guarded loses such apostrophes. */
export function unguard(text: string): string {
  return text.replace(GUARDED, '$1$2');
}
