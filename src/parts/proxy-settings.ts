// Converts the configuration of `socks` into the settings of the data plane.
import { readSecretFile } from '../agents/secrets.js';
import type { Config } from '../config.js';
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
    const secret = password?.reveal() ?? readSecretFile(passwordFile, `socks.upstreams[${i}].passwordFile`);
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
