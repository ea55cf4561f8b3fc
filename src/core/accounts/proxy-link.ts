// The link that a player pastes into a client, socks5h://user:password@host:port, and which address it names.
import { isIP } from 'node:net';
import { formatHostPort } from '../ip.js';

/** What the operator has set; null where nothing is. */
export interface PublicAddress {
  readonly host: string | null;
  readonly port: number | null;
}

/**
 * Where links lead. `guess` says what the host was taken from when the operator has set none: the address of the
 * listener, the address that the browser used for the console, or a network interface of this machine.
 */
export interface LinkAddress {
  readonly host: string;
  readonly port: number;
  readonly guess: 'listener' | 'browser' | 'interface' | null;
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;
const EVERY_ADDRESS = ['0.0.0.0', '::', ''];

/** Whether players could be sent to it: a host name or an address, and not the one that stands for all. */
export function isPublicHost(text: string): boolean {
  if (EVERY_ADDRESS.includes(text)) return false;
  return isIP(text) !== 0 || (HOST_NAME.test(text) && !/^[\d.]+$/.test(text));
}

/**
 * @param set what the operator has set
 * @param listener where the first listener is, an IPv6 address without brackets
 * @param otherwise the host for a listener on every address
 */
export function linkAddress(
  set: PublicAddress,
  listener: { readonly host: string; readonly port: number },
  otherwise: { readonly host: string; readonly guess: 'browser' | 'interface' },
): LinkAddress {
  const port = set.port ?? listener.port;
  if (set.host !== null) return { host: set.host, port, guess: null };
  return EVERY_ADDRESS.includes(listener.host)
    ? { ...otherwise, port }
    : { host: listener.host, port, guess: 'listener' };
}

/**
 * `socks5h`: the proxy resolves names. Whatever has a meaning in a URL is percent-encoded; IPv6 is put into brackets. Without
 * a password the client asks for it.
 */
export function socksLink(
  login: { readonly username: string; readonly password: string | null },
  to: { readonly host: string; readonly port: number },
): string {
  const password = login.password === null ? '' : `:${encode(login.password)}`;
  return `socks5h://${encode(login.username)}${password}@${formatHostPort(to.host, to.port)}`;
}

/** RFC 3986 §2.1, with the marks too that encodeURIComponent leaves and shells do not. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
