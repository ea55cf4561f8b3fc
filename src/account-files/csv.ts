// Accounts as CSV (RFC 4180) with a header row: writes UTF-8, reads what spreadsheets save.
import { pipeline, Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { decodeText, type TextOptions } from './file-text.js';
import { fieldNamed } from './headings.js';
import type { FileView, LostSetting } from './reasons.js';
import { because, FILE_FIELDS, FormatError, HASHES, toRow } from './reasons.js';
import { type FileRecord, readRecord } from './record.js';

const MAX_RECORD_CHARS = 64 * 1024;
const MAX_SHOWN_HEADINGS = 10;

/** The column that is read literally, without removing the apostrophes of `guard`. */
const LITERAL = 'password';

/** `pipeline` destroys the last stream with the error, and its reader handles the error. */
const ownedByReader = (): void => {};

export interface ReadOptions extends TextOptions {
  /** IANA time zone of dates without one. Default: UTC. */
  readonly zone?: string | undefined;
  /** Called for each setting of each account that an import cannot keep. */
  readonly onLost?: ((setting: LostSetting) => void) | undefined;
}

/** Parses CSV as a stream. A format error ends the stream with a last record that contains the error. */
export async function* readCsv(input: Readable, options: ReadOptions = {}): AsyncGenerator<FileRecord> {
  try {
    const { texts, delimiter } = await withDelimiter(decodeText(input, options));
    const parser = parse({
      columns: requireUsername,
      delimiter,
      bom: true,
      info: true,
      skip_empty_lines: true,
      relax_column_count: true,
      max_record_size: MAX_RECORD_CHARS,
    });
    pipeline(Readable.from(texts), parser, ownedByReader);
    for await (const { record, info } of parser as AsyncIterable<{
      record: Record<string, string>;
      info: Info;
    }>) {
      const cells = Object.entries(record).map(([name, cell]) => [
        name,
        fieldNamed(name) === LITERAL ? cell : unguard(cell),
      ]);
      yield readRecord(info.lines, Object.fromEntries(cells), options.zone);
    }
  } catch (error) {
    if (error instanceof FormatError) yield { line: 1, username: null, fault: error.fault };
    else if (error instanceof CsvError) {
      const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
      yield { line, username: null, fault: because('not-csv') };
    } else throw error;
  }
}

function requireUsername(headings: string[]): string[] {
  if (headings.some((heading) => fieldNamed(heading) === 'username')) return headings;
  const found = headings
    .slice(0, MAX_SHOWN_HEADINGS)
    .map((heading) => JSON.stringify(heading.slice(0, 60)))
    .join(', ');
  throw new FormatError(because('no-heading', { found }));
}

/** Detects the delimiter from the header row. Excel writes tabs in Unicode text, and semicolons in locales with a decimal comma. */
async function withDelimiter(
  texts: AsyncGenerator<string>,
): Promise<{ texts: AsyncIterable<string>; delimiter: string }> {
  let heading = '';
  while (!/[\r\n]/.test(heading) && heading.length < MAX_RECORD_CHARS) {
    const next = await texts.next();
    if (next.done) break;
    heading += next.value;
  }
  const [line = ''] = heading.replace(/"[^"]*"/g, '').split(/[\r\n]/);
  const [delimiter = ','] = [',', '\t', ';'].sort((a, b) => line.split(b).length - line.split(a).length);
  async function* all() {
    yield heading;
    yield* texts;
  }
  return { texts: all(), delimiter };
}

type CsvCell = string | number | boolean | null | undefined;

export function writeCsv(views: Iterable<FileView>, { withHashes }: { withHashes: boolean }): Readable {
  const columns = FILE_FIELDS.filter((field) => withHashes || !HASHES.includes(field));
  const rows = function* () {
    for (const view of views) {
      const row = toRow(view);
      yield columns.map((column) => row[column]);
    }
  };
  return writeTable(columns, rows());
}

/**
 * Writes CSV with a byte order mark: without it, Excel assumes the system encoding. Adds an apostrophe before text that a
 * spreadsheet could evaluate as a formula; `readCsv` removes it.
 */
export function writeTable(columns: readonly string[], table: Iterable<readonly CsvCell[]>): Readable {
  const rows = function* () {
    for (const row of table) {
      yield row.map((value) => {
        if (typeof value === 'boolean') return String(value);
        return typeof value === 'string' ? guard(value) : value;
      });
    }
  };
  const texts = stringify({
    bom: true,
    header: true,
    columns: [...columns],
    record_delimiter: 'windows',
    // Quote all text: some readers end a row at a lone CR or LF, or a cell at another separator.
    quoted_string: true,
  });
  pipeline(Readable.from(rows()), texts, ownedByReader);
  return texts;
}

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
const guard = (text: string): string => text.replace(UNGUARDED, "$1$2'");

/** Reverses `guard`. A text that was never guarded loses such apostrophes. */
const unguard = (text: string): string => text.replace(GUARDED, '$1$2');
