// Where the program is installed, and which version it is.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folder of package.json, seen from dist/program, where the build puts the program, and from dist/src, where tests find its modules. */
export const PROGRAM_FOLDER = resolve(import.meta.dirname, '../..');

/** The version in package.json, as `0.1.0`. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(PROGRAM_FOLDER, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
