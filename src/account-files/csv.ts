// Accounts as CSV (RFC 4180, UTF-8), one a line under a heading.
import { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { FIELDS, type FileRecord, type FileView, readRecord, toRow } from './record.js';

const MAX_RECORD_CHARS = 64 * 1024;

/** A cell that a spreadsheet would run as a formula, or that looks like one we have already made safe. */
const FORMULA = /^'*[=+\-@\t\r]/;
/** Columns that only ever hold what their owner chose literally: never unquoted when read. */
const LITERAL = /^password$/i;

/** Reads CSV as it comes. A fault in the file's form ends it with a last record that says so. */
export async function* readCsv(input: Readable): AsyncGenerator<FileRecord> {
  const parser = input.pipe(
    parse({
      columns: true,
      bom: true,
      info: true,
      skip_empty_lines: true,
      relax_column_count: true,
      max_record_size: MAX_RECORD_CHARS,
    }),
  );
  input.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: Record<string, string>;
      info: Info;
    }>) {
      const cells = Object.entries(record).map(([name, cell]) => [
        name,
        LITERAL.test(name) ? cell : unquote(cell),
      ]);
      yield readRecord(info.lines, Object.fromEntries(cells));
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    yield { line, username: null, fault: 'this is not valid CSV; nothing after it was read' };
  }
}

/** Writes CSV. A cell that a spreadsheet would run starts with an apostrophe, which `readCsv` takes away again. */
export function writeCsv(views: Iterable<FileView>, { withHashes }: { withHashes: boolean }): Readable {
  const columns = FIELDS.filter((field) => withHashes || field !== 'passwordHash');
  const rows = function* () {
    for (const view of views) {
      const row = toRow(view);
      yield columns.map((column) => quote(row[column]));
    }
  };
  return Readable.from(rows()).pipe(
    stringify({ header: true, columns: [...columns], record_delimiter: 'windows' }),
  );
}

function quote(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value);
  return typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
}

function unquote(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}
