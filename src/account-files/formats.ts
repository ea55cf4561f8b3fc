// The formats of account files, by name.
import type { Readable } from 'node:stream';
import { readCcproxy, writeCcproxy } from './ccproxy.js';
import { type ReadOptions, readCsv, writeCsv } from './csv.js';
import { readJson, writeJson } from './json.js';
import type { FileView } from './reasons.js';
import type { FileRecord } from './record.js';

export const FILE_FORMATS = ['csv', 'json', 'ccproxy'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

interface WriteOptions {
  readonly withHashes: boolean;
  readonly zone?: string;
  readonly outgoing?: ReadonlyMap<string, string>;
}

const FORMATS: Readonly<
  Record<
    FileFormat,
    {
      read(input: Readable, options?: ReadOptions): AsyncIterable<FileRecord>;
      write(views: Iterable<FileView>, options: WriteOptions): Readable;
    }
  >
> = {
  csv: { read: readCsv, write: writeCsv },
  json: { read: readJson, write: writeJson },
  ccproxy: { read: readCcproxy, write: writeCcproxy },
};

/** Parses records as a stream. A format error is a last record that contains the error. */
export const readAccounts = (format: FileFormat, input: Readable, options?: ReadOptions) =>
  FORMATS[format].read(input, options);

/**
 * `ccproxy` cannot store hashes, so it ignores `withHashes`. Only `ccproxy` uses `zone`, because its dates have no time zone,
 * and `outgoing`, because the others name the exit itself.
 */
export const writeAccounts = (format: FileFormat, views: Iterable<FileView>, options: WriteOptions) =>
  FORMATS[format].write(views, options);
