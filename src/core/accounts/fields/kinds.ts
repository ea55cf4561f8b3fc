// The kinds of values that fields of accounts have: how each is stored in a column, and written to and read from files.
import { isoOrNull } from '../../time/clock.js';
import { toWireDate } from '../../time/wire-date.js';
import { addressesOfText, NO_ADDRESSES, textOfAddresses } from '../access/address-list.js';
import { tagsOfText, textOfTags } from './contacts.js';

/** A value of a column, or of a file or audit record. There, null and an empty text say that the account has no value. */
export type Cell = string | number | boolean | null;

export const isEmpty = (cell: Cell): boolean => cell === null || cell === '';

export interface Kind<Value> {
  /** Of a new account for which nobody gives another value. */
  readonly initial: Value;
  toColumn(value: Value): Cell;
  ofColumn(stored: Cell): Value;
  /** For files and for the audit log. */
  toCell(value: Value): Cell;
  /** Reads a cell of a file that is not empty. CSV has only texts, JSON has other types too. Null: it is not of this kind. */
  ofCell(cell: unknown): Value | null;
  /** Why a cell of a file is refused (`account-files/reasons.ts`). Null: `account-files/` reads the field by itself, or no file has it. */
  readonly fault: string | null;
  /** The words of a choice. */
  readonly allowed?: readonly string[];
}

export const TEXT: Kind<string | null> = {
  initial: null,
  toColumn: (text) => text,
  ofColumn: (stored) => stored as string | null,
  toCell: (text) => text,
  ofCell: (cell) => (typeof cell === 'string' ? cell : null),
  fault: 'text',
};

export const choiceOf = <const Word extends string, Initial extends NoInfer<Word> | null>(
  allowed: readonly Word[],
  initial: Initial,
): Kind<Word | Initial> => ({
  initial,
  toColumn: (word) => word,
  ofColumn: (stored) => stored as Word,
  toCell: (word) => word,
  ofCell: (cell) => allowed.find((word) => word === cell) ?? null,
  fault: 'choice',
  allowed,
});

export const NUMBER: Kind<number | null> = {
  initial: null,
  toColumn: (number) => number,
  ofColumn: (stored) => (stored === null ? null : Number(stored)),
  toCell: (number) => number,
  ofCell: wholeNumber,
  fault: null,
};

/** 1 or more; null is no limit. */
export const COUNT: Kind<number | null> = {
  ...NUMBER,
  ofCell: (cell) => wholeNumber(cell) || null,
  fault: 'limit',
};

/** A limit of the guard; 0: any number; null: as a more general rule says. */
export const GUARD_LIMIT: Kind<number | null> = {
  ...NUMBER,
  ofCell(cell) {
    const number = wholeNumber(cell);
    return number !== null && number <= MAX_GUARD_LIMIT ? number : null;
  },
  fault: 'guard-limit',
};
export const MAX_GUARD_LIMIT = 10_000_000;

const YES = new Set(['true', '1', 'yes', 'y', 'on', 'enabled', '是', '启用', '已启用', '正常', '开', '有效']);
const NO = new Set([
  'false',
  '0',
  'no',
  'n',
  'off',
  'disabled',
  '否',
  '停用',
  '已停用',
  '禁用',
  '已禁用',
  '关',
  '无效',
]);

/** In ms since the epoch. Files have dates of several forms and zones; `account-files/` reads and writes them. */
export const DATE: Kind<number | null> = {
  ...NUMBER,
  // Versions without validation could store dates that the account API cannot represent.
  ofColumn: (stored) => (stored === null ? null : toWireDate(Number(stored))),
  toCell: isoOrNull,
};

export const FLAG: Kind<boolean> = {
  initial: false,
  toColumn: (flag) => flag,
  ofColumn: Boolean,
  toCell: (flag) => flag,
  ofCell(cell) {
    const text = String(cell).toLowerCase();
    if (YES.has(text)) return true;
    return NO.has(text) ? false : null;
  },
  fault: 'is-enabled',
};

export const ADDRESSES = listKind(addressesOfText, textOfAddresses, 'addresses');
export const TAGS = listKind(tagsOfText, textOfTags, 'tags');

/** A list of texts: a JSON array in its column, one text in files. */
function listKind(
  split: (text: string) => string[],
  join: (texts: readonly string[]) => string,
  fault: string,
): Kind<readonly string[]> {
  return {
    initial: NO_ADDRESSES,
    toColumn: (list) => (list.length === 0 ? null : JSON.stringify(list)),
    // Most accounts share the empty list.
    ofColumn: (stored) => (stored === null ? NO_ADDRESSES : (JSON.parse(String(stored)) as string[])),
    toCell: join,
    ofCell(cell) {
      const given: unknown[] = Array.isArray(cell) ? cell : [cell];
      return given.every((each) => typeof each === 'string') ? given.flatMap(split) : null;
    },
    fault,
  };
}

/** Null when invalid. */
export function wholeNumber(value: unknown): number | null {
  const number =
    typeof value === 'number' ? value : /^\d{1,16}$/.test(String(value)) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}
