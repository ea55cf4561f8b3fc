// The formats of account files, by name.
import type { Readable } from 'node:stream';
import { readCcproxy, writeCcproxy } from './ccproxy.js';
import { type ReadOptions, readCsv, writeCsv } from './csv.js';
import { readJson, writeJson } from './json.js';
import type { FileView } from './reasons.js';
import type { FileRecord } from './record.js';

export const FILE_FORMATS = ['csv', 'json', 'ccproxy'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** Parses records as a stream. A format error is a last record that contains the error. */
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

/**
 * `ccproxy` cannot store hashes, so it ignores `withHashes`. Only `ccproxy` uses `zone`, because its dates have no time zone,
 * and `outgoing`, because the others name the exit itself.
 */
export function writeAccounts(
  format: FileFormat,
  views: Iterable<FileView>,
  options: {
    readonly withHashes: boolean;
    readonly zone?: string;
    readonly outgoing?: ReadonlyMap<string, string>;
  },
): Readable {
  switch (format) {
    case 'csv':
      return writeCsv(views, options);
    case 'json':
      return writeJson(views, options);
    case 'ccproxy':
      return writeCcproxy(views, options.zone, options.outgoing);
  }
}
