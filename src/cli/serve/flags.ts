// The options of `serve` that override the configuration.
import type { Override } from '../../config/overrides.js';

export type Flags = Readonly<Record<string, string | undefined>>;

/** The configuration key of each option of `serve`. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  dataDir: ['dataDir'],
  socksHost: ['socks', 'host'],
  socksPort: ['socks', 'port'],
  adminHost: ['admin', 'host'],
  adminPort: ['admin', 'port'],
  logLevel: ['log', 'level'],
};

export function overrides(given: Flags): Override[] {
  return Object.entries(FLAGS).flatMap(([name, path]) => {
    const text = given[name];
    const where = `flag --${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return text === undefined ? [] : [{ path, text, where }];
  });
}
