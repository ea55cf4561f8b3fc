// The proxy link for players, socks5h://user:password@host:port, and its server address.
import { isHost } from '../../addresses/endpoints.js';
import { formatHostPort } from '../../addresses/ip.js';
import { differences } from '../../audit/audit.js';
import { createAuditedSetting, type SettingStore } from '../../settings/setting.js';

/** The public address from the operator; null when it is not set. */
export interface PublicAddress {
  readonly host: string | null;
  readonly port: number | null;
}

const NOT_SET: PublicAddress = { host: null, port: null };

export type PublicAddressSetting = ReturnType<typeof createPublicAddressSetting>;

/** @param ofFile the value from the configuration */
export function createPublicAddressSetting(store: SettingStore, ofFile: PublicAddress) {
  const { current: saved, ...setting } = createAuditedSetting<PublicAddress>({
    store,
    key: 'socks.public',
    name: 'public-address',
    initial: NOT_SET,
    parse: (text) => ({ ...NOT_SET, ...(text === '' ? {} : (JSON.parse(text) as Partial<PublicAddress>)) }),
    audited: (before, after) => differences({ ...before }, { ...after }),
  });
  return {
    ...setting,
    /** The configuration's, where the console has saved none. */
    current(): PublicAddress {
      const { host, port } = saved();
      return { host: host ?? ofFile.host, port: port ?? ofFile.port };
    },
    /** The value saved in the console; null when the configuration applies. */
    saved,
  };
}

/**
 * The server address in links. When the operator has set no host, `guess` names the source of the host: the listener address, the
 * address that the browser used for the console, or a network interface of this machine.
 */
export interface LinkAddress {
  readonly host: string;
  readonly port: number;
  readonly guess: 'listener' | 'browser' | 'interface' | null;
}

const EVERY_ADDRESS = ['0.0.0.0', '::', ''];

/** Whether players can connect to it: a host name or an address, but not a wildcard address. */
export const isPublicHost = (text: string): boolean => isHost(text) && !EVERY_ADDRESS.includes(text);

/**
 * @param set the public address from the operator
 * @param listener the address of the first listener, IPv6 without brackets
 * @param otherwise the host for a listener on all addresses
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
 * `socks5h` means that the proxy resolves names. Percent-encodes reserved characters and puts IPv6 into brackets. Without a
 * password, the client asks for it.
 */
export function socksLink(
  login: { readonly username: string; readonly password: string | null },
  to: { readonly host: string; readonly port: number },
): string {
  const password = login.password === null ? '' : `:${encoded(login.password)}`;
  return `socks5h://${encoded(login.username)}${password}@${formatHostPort(to.host, to.port)}`;
}

/** Percent-encoding (RFC 3986 §2.1), also of the characters that encodeURIComponent keeps and shells interpret. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
