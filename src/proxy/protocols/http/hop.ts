// Hop-by-hop header fields, RFC 9110 §7.6.1. The proxy adds neither Via nor X-Forwarded-For, so that the destination does not learn
// the player's address or that there is a proxy.
import { type Field, TOKEN, valuesOf } from './head.js';

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);
/** Fields that Connection must not name: without them the destination would understand another message. */
const NEVER_NAMED = new Set(['content-length', 'content-type', 'host']);

/** The options of Connection and Proxy-Connection, in lower case; null: malformed. */
export function connectionOptions(fields: readonly Field[]): ReadonlySet<string> | null {
  const values = [...valuesOf(fields, 'connection'), ...valuesOf(fields, 'proxy-connection')];
  const options = values
    .flatMap((value) => value.split(','))
    .map((option) => option.trim().toLowerCase())
    .filter((option) => option !== '');
  if (!options.every((option) => TOKEN.test(option))) return null;
  return options.some((option) => NEVER_NAMED.has(option)) ? null : new Set(options);
}

/** The fields to forward. */
export function endToEnd(fields: readonly Field[], options: ReadonlySet<string>): readonly Field[] {
  return fields.filter(({ lower }) => !HOP_BY_HOP.has(lower) && !options.has(lower));
}

/** A head as bytes. */
export function writeHead(startLine: string, fields: readonly (readonly [string, string])[]): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${startLine}\r\n${lines.join('')}\r\n`, 'latin1');
}
