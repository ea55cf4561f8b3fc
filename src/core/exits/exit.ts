// An exit: a named way out of this machine, which operators make at run time. The rules of its fields, and the local address that a
// session gets from it.
import type { Cidr, IpBytes } from '../addresses/ip.js';
import { formatIp, hostMask, inCidr, parseCidr, parseIp, unmap } from '../addresses/ip.js';
import { isNeverAllowed } from '../egress/egress.js';

/** `prefer-…`: the other family only where the destination has no address of this one, or does not answer. */
export const EXIT_FAMILIES = ['ipv4', 'ipv6', 'prefer-ipv4', 'prefer-ipv6'] as const;
export const MAX_EXITS = 256;
export const MAX_EXIT_ADDRESSES = 256;
export const MAX_EXIT_UPSTREAMS = 16;
export const MAX_EXIT_SELLERS = 1000;
export const EXIT_NAME = /^[\w.-]{1,64}$/;
/** IFNAMSIZ with its final zero is 16. */
export const INTERFACE_NAME = /^[^\s/]{1,15}$/;
export const MAX_MARK = 0xffff_ffff;

/** A SOCKS5 or HTTP proxy. */
export interface ExitUpstream {
  /** See parseProxy. */
  readonly proxy: string;
  /** Credentials; null: none. */
  readonly username: string | null;
  readonly password: string | null;
}

/** Whether all ways out of an exit work, as far as they have been tried, some, or none. */
export type ExitState = 'up' | 'degraded' | 'down';

export interface ExitFields {
  /** Local addresses, and IPv6 networks of which each account or session gets its own address; none: the system chooses. */
  readonly addresses: readonly string[];
  /** `account`: always the same address; `session`: the addresses in turn, or a new one of the network. */
  readonly choose: 'account' | 'session';
  /** The network interface that sockets are bound to (SO_BINDTODEVICE); null: none. */
  readonly interface: string | null;
  /** The mark of their packets (SO_MARK), for routes by policy; null: none. */
  readonly mark: number | null;
  /** null: both families, IPv6 first. */
  readonly family: (typeof EXIT_FAMILIES)[number] | null;
  /** In their order: the first that answers connects to the destination; none: directly. */
  readonly upstreams: readonly ExitUpstream[];
  /** Where names of destinations are resolved, with `upstreams`. */
  readonly names: 'here' | 'proxy';
  /** For accounts without an exit. At most one is. */
  readonly isDefault: boolean;
  /** Ids of the sellers whose accounts may use it. */
  readonly sellers: readonly string[];
}

export interface Exit extends ExitFields {
  readonly name: string;
}

/** The fields of a new exit that the request leaves out. */
export const NEW_EXIT: ExitFields = {
  addresses: [],
  choose: 'account',
  interface: null,
  mark: null,
  family: null,
  upstreams: [],
  names: 'here',
  isDefault: false,
  sellers: [],
};

/** Whether accounts of the owner may be given the exit. @param owner id of the seller; null: the administrator */
export const mayOwnerUse = ({ sellers }: Pick<Exit, 'sellers'>, owner: string | null): boolean =>
  owner === null || sellers.includes(owner);

/** The name of the exit that the proxy of a rule of the configuration is. @param i the place of the rule, from 0 */
export const exitOfUpstream = (exit: string | null, i: number): string => exit ?? `upstream-${i + 1}`;

/** How the certificate of a proxy is checked: its name is `host`, unless a fingerprint is given. */
export interface ProxyTls {
  readonly host: string;
  /** Path of a PEM file with the authorities to trust; null: those of Node. */
  readonly ca: string | null;
  /** SHA-256 of the only certificate to trust, in lower-case hexadecimal digits; null: any that is valid. */
  readonly fingerprint: string | null;
}

export interface ProxyAddress {
  readonly protocol: 'socks5' | 'http';
  readonly host: string;
  readonly port: number;
  /** Null: connections to it are not encrypted. */
  readonly tls: ProxyTls | null;
}

const PROXY = /^(?:(socks5|http)(s?):\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9.-]+):([1-9]\d{0,4})(?:\?(\w+)=(.+))?$/i;

/**
 * Reads the proxy of an upstream: `host:port`, with `socks5://` or `http://` before it, or for TLS `socks5s://` or `https://`, then also
 * with `?ca=/FILE` or `?fingerprint=SHA-256`. Null: another form.
 */
export function parseProxy(text: string): ProxyAddress | null {
  const [, protocol = 'socks5', secure = '', bracketed = '', digits, option, value = ''] =
    PROXY.exec(text) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) return null;
  const host = bracketed.replace(/^\[|\]$/g, '').toLowerCase();
  const ca = option === 'ca' && value.startsWith('/') ? value : null;
  const hex = value.replaceAll(':', '').toLowerCase();
  const fingerprint = option === 'fingerprint' && /^[0-9a-f]{64}$/.test(hex) ? hex : null;
  if (option !== undefined && (secure === '' || (ca ?? fingerprint) === null)) return null;
  const tls = secure === '' ? null : { host, ca, fingerprint };
  return { protocol: protocol.toLowerCase() === 'http' ? 'http' : 'socks5', host, port, tls };
}

/** Identifies a proxy of an exit: another exit may reach it where this one does not, and other credentials may be refused. */
export const upstreamId = (
  exit: string,
  { proxy, username }: Pick<ExitUpstream, 'proxy' | 'username'>,
): string => `${exit} ${username === null ? '' : `${username}@`}${proxy}`;

/** Identifies the ways out of an exit: its proxies, or else its addresses. Each begins with the name of the exit and a space. */
export function waysOf({ name, upstreams, addresses }: Exit): readonly string[] {
  if (upstreams.length > 0) return upstreams.map((each) => upstreamId(name, each));
  return (addresses.length > 0 ? addresses : ['*']).map((address) => `${name} ${address}`);
}

/** The two parts of a way. */
export function readWay(id: string): { readonly exit: string; readonly way: string } {
  const end = id.indexOf(' ');
  return { exit: id.slice(0, end), way: id.slice(end + 1) };
}

/** Whether `text` may be one of the addresses: one that sockets can be bound to, or an IPv6 network of a /32 or less. */
export function isExitAddress(text: string): boolean {
  const block = text.includes('%') ? null : parseCidr(text);
  if (block === null || unmap(block.bytes).length !== block.bytes.length || isNeverAllowed(block.bytes))
    return false;
  return !text.includes('/') || (block.bytes.length === 16 && block.length >= 32);
}

/** Returns whether an unmapped address is one of the exits, or in one of their networks: then it is this machine. */
export function addressesOf(exits: readonly Pick<Exit, 'addresses'>[]): (ip: IpBytes) => boolean {
  const single = new Set(
    exits.flatMap(({ addresses }) => addresses.flatMap((each) => parseIp(each) ?? [])).map(formatIp),
  );
  const networks = exits.flatMap(({ addresses }) =>
    addresses.flatMap((each) => (each.includes('/') ? (parseCidr(each) ?? []) : [])),
  );
  if (single.size === 0 && networks.length === 0) return () => false;
  return (ip) => single.has(formatIp(ip)) || networks.some((network) => inCidr(ip, network));
}

/** No address is in it. */
const NO_BLOCK: Cidr = { bytes: new Uint8Array(1), length: 0 };

/**
 * The address of a session among those of one family.
 * @param turn a whole number of 0 or more that chooses one of several: a hash of the account, or one more each time
 * @param host 16 bytes that fill a network's host part: a hash of the account, or random
 * @returns undefined: the exit has no address of the family; `isOfNetwork`: it need not be an address of an interface
 */
export function chooseAddress(
  { addresses }: Pick<Exit, 'addresses'>,
  isIpv6: boolean,
  turn: number,
  host: Uint8Array,
): { readonly address: string; readonly isOfNetwork: boolean } | undefined {
  const ofFamily = addresses.filter((address) => address.includes(':') === isIpv6);
  const chosen = ofFamily[turn % ofFamily.length];
  if (chosen === undefined) return undefined;
  if (!chosen.includes('/')) return { address: chosen, isOfNetwork: false };
  const { bytes, length } = parseCidr(chosen) ?? NO_BLOCK;
  const filled = bytes.map((byte, i) => byte | ((host[i] ?? 0) & hostMask(length - 8 * i)));
  return { address: formatIp(filled), isOfNetwork: true };
}

/** Why a machine cannot use an exit. */
export type ExitProblem = 'exit-needs-native' | 'exit-needs-net-admin' | 'exit-no-interface';
