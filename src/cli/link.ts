// Which address a player's link names, for the one the listener has.
import { networkInterfaces } from 'node:os';
import { socksLink } from '../core/accounts/proxy-link.js';

/** The port is the configured one. */
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
  return socksLink('socks5h', { username, password, host: linkHost(hosts[0] ?? 'localhost'), port });
}

/** What players can connect to, for an address to listen on: of all addresses, the first that is not loopback. */
function linkHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host;
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  return outside?.address ?? '127.0.0.1';
}
