// Options that `pulsegate account import` and `export` share.
import { extname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { FILE_FORMATS, type FileFormat } from '../../account-files/formats.js';
import { isTimeZone } from '../../core/time-zone.js';

export const FORMAT_OPTION = {
  '--format <format>': { help: 'file format (default: by file extension)', choices: FILE_FORMATS },
} as const;

export function parseZone(zone: string): string {
  if (!isTimeZone(zone))
    throw new InvalidArgumentError('Use an IANA time zone such as Asia/Shanghai or UTC.');
  return zone;
}

/** Returns the given format, else that of the file's extension. */
export function formatOf(file: string | undefined, given: FileFormat | undefined): FileFormat {
  if (given) return given;
  switch (extname(file ?? '').toLowerCase()) {
    case '.json':
      return 'json';
    case '.ini':
      return 'ccproxy';
    default:
      return 'csv';
  }
}
