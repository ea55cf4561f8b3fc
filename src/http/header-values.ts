// Reading a header that may stand once: Node joins or drops repeated ones before they can be seen.
import type { IncomingMessage } from 'node:http';

/** Every value that `name` (lower case) was sent with, in order. */
export function headerValues(req: IncomingMessage, name: string): string[] {
  const { rawHeaders } = req;
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i] ?? '';
    if (each.length === name.length && each.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}
