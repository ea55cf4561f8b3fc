// Converts the configuration of `socks` into the settings of the data plane.
import { readFileSync } from 'node:fs';
import type { Config } from '../config.js';
import { StartError } from '../core/errors.js';
import type { UpstreamRule } from '../proxy/upstreams/rules.js';

/** The first and last port of `"40000-49999"`, which the schema has validated. */
export function portRange(text: string | null): readonly [number, number] | null {
  if (text === null) return null;
  const [first = 0, last = 0] = text.split('-').map(Number);
  return [first, last];
}

/** The rules for upstream proxies, with passwords read from their files. Throws StartError (`secret-file`). */
export function upstreamRules(rules: Config['socks']['upstreams']): UpstreamRule[] {
  return rules.map(({ match, proxy, username, password, passwordFile, names }, i) => {
    if (proxy === null) return { match, upstream: null };
    const [, protocol = 'socks5', where = ''] = /^(?:(socks5|http):\/\/)?(.*)$/i.exec(proxy) ?? [];
    const portAt = where.lastIndexOf(':');
    const secret = password?.reveal() ?? readPassword(passwordFile, `socks.upstreams[${i}].passwordFile`);
    return {
      match,
      upstream: {
        protocol: protocol.toLowerCase() === 'http' ? 'http' : 'socks5',
        host: where
          .slice(0, portAt)
          .replace(/^\[|\]$/g, '')
          .toLowerCase(),
        port: Number(where.slice(portAt + 1)),
        login: username === null || secret === null ? null : { username, password: secret },
        names,
      },
    };
  });
}

function readPassword(path: string | null, key: string): string | null {
  if (path === null) return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new StartError(
      'secret-file',
      `${key}: ${path} cannot be read (${code}). Check its path and permissions.`,
      {
        cause,
      },
    );
  }
  if (text === '')
    throw new StartError('secret-file', `${key}: ${path} is empty. Write the password into it.`);
  return text;
}
