// Keeps texts in CSV files from becoming formulas in a spreadsheet, whichever separator it uses.
// Quotes around a cell do not help there: with another separator they stand in the middle of a cell, and mean nothing.

/** With which a formula begins; Japanese spreadsheets take the full-width forms too. */
const FORMULA = '=+\\-@\uff1d\uff0b\uff0d\uff20';
/** What may end a cell, besides the end of the text: commas, semicolons, bars, white space, line breaks, controls. */
const SEPARATOR = ',;|\\s\\u0000-\\u001f\\u007f-\\u009f';
/** At the beginning of a text some spreadsheets drop these and look at what follows. */
const DROPPED = '\\t\\r';

/** Where a cell could begin with a formula; quotes before it may vanish. The group ends where an apostrophe is to stand. */
const placeOf = (apostrophe: '' | "'"): RegExp =>
  new RegExp(
    `(^['"]*)${apostrophe}(?=[${FORMULA}${DROPPED}])|((?<=[${SEPARATOR}])['"]*)${apostrophe}(?=[${FORMULA}])`,
    'g',
  );
const UNGUARDED = placeOf('');
const GUARDED = placeOf("'");

/** `text` with an apostrophe before everything that could begin a formula. */
export function guard(text: string): string {
  return text.replace(UNGUARDED, "$1$2'");
}

/** The text that `guard` made this of; a text that was never guarded loses such apostrophes. */
export function unguard(text: string): string {
  return text.replace(GUARDED, '$1$2');
}
