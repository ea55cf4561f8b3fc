// The link that a player pastes into a client: socks5h://user:password@host:port.
import { networkInterfaces } from 'node:os';

/** Percent-encodes whatever has a meaning in a URL. The port is the configured one. */
export function proxyLink({
  username,
  password,
  hosts,
  port,
}: {
  username: string;
  password: string;
  hosts: readonly string[];
  port: number;
}): string {
  return `socks5h://${encode(username)}:${encode(password)}@${linkHost(hosts[0] ?? 'localhost')}:${port}`;
}

/** RFC 3986 §2.1, with the marks too that encodeURIComponent leaves and shells do not. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** What players can connect to, for an address to listen on: of all addresses, the first that is not loopback. */
function linkHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host.includes(':') ? `[${host}]` : host;
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  return outside?.address ?? '127.0.0.1';
}
