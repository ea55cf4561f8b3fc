// The installation folder and the version of the program.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folder of package.json. The path is the same from dist/program (the built program) and from dist/src (modules for tests). */
export const PROGRAM_FOLDER = resolve(import.meta.dirname, '../..');

/** The version in package.json, as `0.1.0`. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(PROGRAM_FOLDER, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
