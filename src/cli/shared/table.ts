// Prints tables: columns as wide as their contents, colour only on a terminal.
import type { ClientOrigin } from '../../core/addresses/geo.js';
import { printable } from '../../core/text.js';
import { type CommandIo, printLine } from './command.js';

const BOLD = '\x1b[1m';
const RESET = '\x1b[0m';

type Cell<Row> = Extract<keyof Row, string> | ((row: Row) => string);
/** Columns by their headings, from left to right: a field of the row, or what makes the text of a cell. */
export type Columns<Row> = readonly Readonly<Record<string, Cell<Row>>>[];

/** The value of a field of /api/v1 as a text, by the words that all its operations have in names: `createdAt`, `bytesUp`. */
function textOf(name: string, value: unknown): string {
  if (/(^a|A)t$/.test(name)) return formatIso(value as string | null, 'never');
  if (name === 'clientOrigin') return formatOrigin(value as ClientOrigin | null);
  if (typeof value === 'number' && name.startsWith('bytes')) return formatBytes(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(' ') : String(value ?? '');
}

const cellOf = <Row>(row: Row, of: Cell<Row>): string =>
  typeof of === 'string' ? textOf(of, row[of]) : of(row);

/** Prints rows under a header. Control characters in cells are escaped. @param none stderr when there are no rows */
export function printTable<Row>(
  { stdout, stderr, env }: CommandIo,
  rows: readonly Row[],
  columns: Columns<Row>,
  none: string | null = null,
): void {
  if (rows.length === 0 && none !== null) return printLine(stderr, none);
  const all: [string, Cell<Row>][] = columns.flatMap(Object.entries);
  const widths = all.map(() => 0);
  const toCell = (text: string, column: number) => {
    const cell = printable(text, 60);
    const width = displayWidth(cell);
    widths[column] = Math.max(widths[column] ?? 0, width);
    return { cell, width };
  };
  const heading = all.map(([name], column) => toCell(name, column));
  const texts = rows.map((row) => all.map(([, of], column) => toCell(cellOf(row, of), column)));
  const pad = ({ cell, width }: ReturnType<typeof toCell>, column: number) =>
    cell + ' '.repeat((widths[column] ?? 0) - width);
  const [head = '', ...rest] = [heading, ...texts].map((cells) => cells.map(pad).join('  ').trimEnd());
  // https://no-color.org: any value but the empty string disables colour.
  const isColoured = stdout.isTTY && !env['NO_COLOR'];
  stdout.write(`${[isColoured ? `${BOLD}${head}${RESET}` : head, ...rest].join('\n')}\n`);
}

/** Prints a row as one line for each column. */
export function printFields<Row>({ stdout }: CommandIo, row: Row, columns: Columns<Row>): void {
  const all: [string, Cell<Row>][] = columns.flatMap(Object.entries);
  const width = Math.max(...all.map(([name]) => name.length));
  for (const [name, of] of all) stdout.write(`${name.padEnd(width)}  ${printable(cellOf(row, of), 4000)}\n`);
}

// East Asian wide characters take two columns.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

const ASCII = /^[ -~]*$/;

const displayWidth = (text: string): number =>
  ASCII.test(text) ? text.length : [...text].reduce((width, char) => width + (WIDE.test(char) ? 2 : 1), 0);

/** `1 account`, `2 accounts`: a count with a noun whose plural ends in s. */
export const countOf = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `512 B`, `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[power]}`;
}

/** The country of a client and the number of its network, as far as they are known. */
const formatOrigin = (of: ClientOrigin | null): string =>
  [of?.country?.toUpperCase(), of?.asn && `AS${of.asn}`].filter(Boolean).join(' ');

/** A time of /api/v1 as `2026-11-20 21:00 UTC`; `none` for null. @param length 19: with seconds */
export const formatIso = (time: string | null, none: string, length = 16): string =>
  time === null ? none : `${new Date(time).toISOString().slice(0, length).replace('T', ' ')} UTC`;
