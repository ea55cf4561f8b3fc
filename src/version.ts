// Which version this is.
import { readFileSync } from 'node:fs';

/** The version in package.json, as `0.1.0`. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
