// The formats of account files, by name.
import type { Readable } from 'node:stream';
import { readCcproxy, writeCcproxy } from './ccproxy.js';
import { readCsv, writeCsv } from './csv.js';
import { readJson, writeJson } from './json.js';
import type { FileRecord, FileView } from './record.js';

export type FileFormat = 'csv' | 'json' | 'ccproxy';
export const FILE_FORMATS: readonly FileFormat[] = ['csv', 'json', 'ccproxy'];

/** Reads records as they come; a fault in the file's form is a last record that says so. */
export function readAccounts(format: FileFormat, input: Readable): AsyncIterable<FileRecord> {
  switch (format) {
    case 'csv':
      return readCsv(input);
    case 'json':
      return readJson(input);
    case 'ccproxy':
      return readCcproxy(input);
  }
}

/** `ccproxy` has no place for our hashes: `withHashes` means nothing to it. */
export function writeAccounts(
  format: FileFormat,
  views: Iterable<FileView>,
  options: { readonly withHashes: boolean },
): Readable {
  switch (format) {
    case 'csv':
      return writeCsv(views, options);
    case 'json':
      return writeJson(views, options);
    case 'ccproxy':
      return writeCcproxy(views);
  }
}
