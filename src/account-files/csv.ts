// Accounts as CSV (RFC 4180), one a line under a heading: written in UTF-8, read in what spreadsheets make of it.
import { pipeline, Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { decodeText, EncodingError, type TextOptions } from './file-text.js';
import { guard, unguard } from './formula-guard.js';
import { fieldNamed } from './headings.js';
import { because } from './reasons.js';
import { FIELDS, type FileRecord, type FileView, readRecord, toRow } from './record.js';

const MAX_RECORD_CHARS = 64 * 1024;
const MAX_SHOWN_HEADINGS = 10;

/** A column that only ever holds what its owner chose literally: read as it is. */
const LITERAL = 'password';

/** An error of either stream ends the last one of the pipeline with it: whoever reads that one handles it. */
const ownedByReader = (): void => {};

export interface ReadOptions extends TextOptions {
  /** Of dates that name none, by its IANA name; left out: UTC. */
  readonly zone?: string | undefined;
}

/** Not one of the headings names the field without which there is no account. */
class HeadingError extends Error {
  constructor(readonly found: string) {
    super('no user name among the headings');
  }
}

/** Reads CSV as it comes. A fault in the file's form ends it with a last record that says so. */
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
    if (error instanceof HeadingError)
      yield { line: 1, username: null, fault: because('no-heading', { found: error.found }) };
    else if (error instanceof EncodingError)
      yield { line: 1, username: null, fault: because('encoding', { encoding: error.encoding }) };
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
  throw new HeadingError(found);
}

/** Looks at the heading: Excel separates by tabs where it saves Unicode, and by semicolons where the comma is decimal. */
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

/**
 * Writes CSV, with a byte order mark: without it Excel would take it for the encoding of the system. What a spreadsheet could take for the beginning of a formula has an apostrophe before it, which `readCsv`
 * takes away again.
 */
export function writeCsv(views: Iterable<FileView>, { withHashes }: { withHashes: boolean }): Readable {
  const columns = FIELDS.filter((field) => withHashes || field !== 'passwordHash');
  const rows = function* () {
    for (const view of views) {
      const row = toRow(view);
      yield columns.map((column) => {
        const value = row[column];
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
    // A lone CR or LF would end the row for some readers, another separator the cell.
    quoted_string: true,
  });
  pipeline(Readable.from(rows()), texts, ownedByReader);
  return texts;
}
