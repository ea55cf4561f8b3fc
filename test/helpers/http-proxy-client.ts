// An HTTP proxy client that can send arbitrary bytes.
import { basic } from './http.js';
import { RawClient } from './socks-client.js';

/** Returns a CONNECT head with the login of `player`, unless other `fields` are given. */
export function connectHead(
  authority: string,
  fields = `Proxy-Authorization: ${basic('player', 'secret')}\r\n`,
): string {
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${fields}\r\n`;
}

/** Reads the head of a response: its status line, and its fields by lower-case name. */
export async function readHead(client: RawClient): Promise<{
  readonly status: number;
  readonly line: string;
  readonly fields: Readonly<Record<string, string>>;
}> {
  let text = '';
  while (!text.endsWith('\r\n\r\n')) text += (await client.read(1)).toString('latin1');
  const [line = '', ...lines] = text.trimEnd().split('\r\n');
  const fields = Object.fromEntries(
    lines.map((field) => {
      const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(field) ?? [];
      return [name.toLowerCase(), value];
    }),
  );
  return { status: Number(line.split(' ')[1]), line, fields };
}

/** Sends a CONNECT and returns the status of the response. */
export async function connectStatus(port: number, authority: string, fields?: string): Promise<number> {
  const client = await RawClient.connect(port);
  client.send(connectHead(authority, fields));
  const { status } = await readHead(client);
  client.destroy();
  return status;
}
