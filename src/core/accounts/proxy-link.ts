// The link that a player pastes into a client: socks5://user:password@host:port.
import { formatHostPort } from '../ip.js';

/** Percent-encodes whatever has a meaning in a URL; an IPv6 `host` is put into brackets. */
export function socksLink(
  scheme: 'socks5' | 'socks5h',
  to: { readonly username: string; readonly password: string; readonly host: string; readonly port: number },
): string {
  return `${scheme}://${encode(to.username)}:${encode(to.password)}@${formatHostPort(to.host, to.port)}`;
}

/** RFC 3986 §2.1, with the marks too that encodeURIComponent leaves and shells do not. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
