// The formats of account files, by name.
import type { Readable } from 'node:stream';
import { readCcproxy, writeCcproxy } from './ccproxy.js';
import { type ReadOptions, readCsv, writeCsv } from './csv.js';
import { readJson, writeJson } from './json.js';
import type { FileRecord, FileView } from './record.js';

export type FileFormat = 'csv' | 'json' | 'ccproxy';
export const FILE_FORMATS: readonly FileFormat[] = ['csv', 'json', 'ccproxy'];

/** Reads records as they come; a fault in the file's form is a last record that says so. */
export function readAccounts(
  format: FileFormat,
  input: Readable,
  options: ReadOptions = {},
): AsyncIterable<FileRecord> {
  switch (format) {
    case 'csv':
      return readCsv(input, options);
    case 'json':
      return readJson(input, options);
    case 'ccproxy':
      return readCcproxy(input, options);
  }
}

/** `ccproxy` has no place for our hashes, and dates that name no zone: only to it `zone` means something. */
export function writeAccounts(
  format: FileFormat,
  views: Iterable<FileView>,
  options: { readonly withHashes: boolean; readonly zone?: string },
): Readable {
  switch (format) {
    case 'csv':
      return writeCsv(views, options);
    case 'json':
      return writeJson(views, options);
    case 'ccproxy':
      return writeCcproxy(views, options.zone);
  }
}
