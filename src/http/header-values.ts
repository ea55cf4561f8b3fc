// Reads all values of a repeated header. Node joins or drops repeated headers in `headers`.
import type { IncomingMessage } from 'node:http';

/** Returns every value of `name` (lower case), in order. */
export function headerValues(req: IncomingMessage, name: string): string[] {
  const { rawHeaders } = req;
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i] ?? '';
    if (each.length === name.length && each.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}
