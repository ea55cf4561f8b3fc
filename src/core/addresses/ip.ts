// IP addresses as bytes, for egress rules, the whitelist and SOCKS requests.
// Parses text strictly: it refuses the alternative forms that inet_aton accepts.

/** 4 bytes (IPv4) or 16 bytes (IPv6), network order. */
export type IpBytes = Uint8Array;

/** An IP address (IPv4-mapped ones as IPv4, a link-local one with its zone) and a port; '' and 0 for a Unix socket. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** A block of addresses of one family: `bytes` with every bit past `length` cleared. */
export interface Cidr {
  readonly bytes: IpBytes;
  /** Prefix length in bits: 0 to 32 (IPv4) or 0 to 128 (IPv6). */
  readonly length: number;
}

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;
const GROUP = /^[0-9a-f]{1,4}$/i;
const ZONE = /^(.+)%[0-9a-z._~:-]+$/i;
const MAPPED_PREFIX_BITS = 96;
// The longest IPv6 text (45 characters) and a generous zone; longer text is refused.
const MAX_TEXT_LENGTH = 128;
const DIGIT_ZERO = 48;

/**
 * Parses one address: dotted-decimal IPv4 of four octets without leading zeros, or IPv6 in any form of RFC 4291 §2.2
 * (upper or lower case, `::`, IPv4 in the last 32 bits). A zone (`fe80::1%eth0`) is ignored.
 * Returns null for everything else: no brackets, no white space, no octal, hexadecimal or short forms.
 */
export function parseIp(text: string): IpBytes | null {
  if (text.length > MAX_TEXT_LENGTH) return null;
  return text.includes(':') ? parseIpv6(ZONE.exec(text)?.[1] ?? text) : parseIpv4(text);
}

/** Parses character by character, because each connection parses several addresses. */
function parseIpv4(text: string): IpBytes | null {
  const bytes = new Uint8Array(4);
  let octets = 0;
  /** -1: no digit of this octet yet. */
  let octet = -1;
  for (let i = 0; i <= text.length; i += 1) {
    const digit = text.charCodeAt(i) - DIGIT_ZERO;
    if (digit >= 0 && digit <= 9) {
      // No leading zeros: others would read them as octal.
      if (octet === 0) return null;
      octet = octet === -1 ? digit : 10 * octet + digit;
      if (octet > 255) return null;
      continue;
    }
    const isEnd = i === text.length;
    if (octet === -1 || octets === 4 || (!isEnd && text[i] !== '.')) return null;
    bytes[octets] = octet;
    octets += 1;
    octet = -1;
  }
  return octets === 4 ? bytes : null;
}

function parseIpv6(text: string): IpBytes | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = parseGroups(halves[1] ?? '', true);
  if (!head || !tail) return null;
  const given = head.length + tail.length;
  // "::" stands for at least one group of zeros (RFC 4291 §2.2); without it all eight must be there.
  if (halves.length === 2 ? given > 14 : given !== 16) return null;
  const bytes = new Uint8Array(16);
  bytes.set(head);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** Bytes of colon-separated groups; an empty text has none. The last may be an IPv4 address if it ends the whole text. */
function parseGroups(text: string, endsAddress: boolean): number[] | null {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [i, group] of groups.entries()) {
    if (GROUP.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
      continue;
    }
    const embedded = endsAddress && i === groups.length - 1 ? parseIpv4(group) : null;
    if (!embedded) return null;
    bytes.push(...embedded);
  }
  return bytes;
}

/** The canonical text of an address: RFC 5952, with IPv4-mapped addresses in mixed form (§5). */
export function formatIp(bytes: IpBytes): string {
  if (bytes.length === 4) return formatIpv4(bytes, 0);
  if (isMapped(bytes)) return `::ffff:${formatIpv4(bytes, 12)}`;
  const groups = groupsOf(bytes);
  const [start, end] = longestZeroRun(groups);
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(':');
  if (end - start < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(end))}`;
}

/** The text of the IPv4 address at `at`. */
export function formatIpv4(bytes: Uint8Array, at: number): string {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

/** The eight 16-bit groups of an IPv6 address. */
export function groupsOf(bytes: IpBytes): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  return Array.from({ length: 8 }, (_, i) => view.getUint16(i * 2));
}

/** [start, end) of the longest run of zero groups, the first of equals (RFC 5952 §4.2.3). */
function longestZeroRun(groups: readonly number[]): [number, number] {
  let best: [number, number] = [0, 0];
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > best[1] - best[0]) best = [start, i];
    start = i + 1;
  }
  return best;
}

function isMapped(bytes: IpBytes): boolean {
  if (bytes.length !== 16 || bytes[10] !== 0xff || bytes[11] !== 0xff) return false;
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** The IPv4 address inside an IPv4-mapped one (`::ffff:a.b.c.d`, RFC 4291 §2.5.5.2); any other address unchanged. */
export const unmap = (bytes: IpBytes): IpBytes => (isMapped(bytes) ? bytes.subarray(12) : bytes);

/**
 * Parses `address/length`, or an address alone as the block of only that address. Host bits may be set and are cleared.
 * An IPv4-mapped block of 96 bits or more becomes the IPv4 block that it represents. Returns null for anything else.
 */
export function parseCidr(text: string): Cidr | null {
  const [address = '', lengthText, ...rest] = text.split('/');
  const ip = parseIp(address);
  if (!ip || rest.length > 0) return null;
  const bits = ip.length * 8;
  const length = lengthText === undefined ? bits : Number(lengthText);
  if (lengthText !== undefined && !OCTET.test(lengthText)) return null;
  if (length > bits) return null;
  const plain = length >= MAPPED_PREFIX_BITS ? unmap(ip) : ip;
  return masked(plain, length - (bits - plain.length * 8));
}

function masked(ip: IpBytes, length: number): Cidr {
  const bytes = Uint8Array.from(ip, (byte, i) => byte & maskByte(length - i * 8));
  return { bytes, length };
}

/** The mask of one byte of which the first `bits` count. */
function maskByte(bits: number): number {
  if (bits >= 8) return 0xff;
  return bits <= 0 ? 0 : 0xff & (0xff << (8 - bits));
}

/** Whether `ip` is in the block. An IPv4-mapped `ip` counts as IPv4, so no IPv6 block contains it, not even `::/0`. */
export function inCidr(ip: IpBytes, cidr: Cidr): boolean {
  const plain = unmap(ip);
  if (plain.length !== cidr.bytes.length) return false;
  const whole = cidr.length >> 3;
  for (let i = 0; i < whole; i++) if (plain[i] !== cidr.bytes[i]) return false;
  const rest = cidr.length & 7;
  return rest === 0 || ((plain[whole] ?? 0) & maskByte(rest)) === cidr.bytes[whole];
}

/** The mask of the bits of one byte after the first `bits`. */
export const hostMask = (bits: number): number => 0xff & ~maskByte(bits);

/** The last address of a block. */
export const lastOf = ({ bytes, length }: Cidr): IpBytes =>
  bytes.map((byte, i) => byte | hostMask(length - 8 * i));

/** Sortable addresses: the first and the last of a network. */
export type AddressRange = readonly [first: string, last: string];

export const sortableRange = (block: Cidr): AddressRange => [sortable(block.bytes), sortable(lastOf(block))];

/** Text that sorts as addresses do: '4' or '6', and the bytes in hexadecimal. */
export const sortable = (ip: IpBytes): string =>
  (ip.length === 4 ? '4' : '6') + Buffer.from(ip).toString('hex');

/** The canonical text of an address for logs, lists and limits: unmapped, without zone. Returns other text unchanged. */
export function normalizeAddress(text: string): string {
  const ip = parseIp(text);
  return ip ? formatIp(unmap(ip)) : text;
}

/** The address of a socket, with an IPv4-mapped address as IPv4. Keeps a zone, without which a link-local address cannot be used. */
export const withoutMapping = (text: string): string => (text.includes('%') ? text : normalizeAddress(text));

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseCidr).filter((range) => range !== null);

export function isLoopback(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && LOOPBACK.some((range) => inCidr(ip, range));
}

/** `host:port` for logs, entries and messages, with IPv6 addresses in brackets (RFC 3986 §3.2.2). */
export const formatHostPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** The source of an address: an IPv6 address becomes its /64; other text is unchanged. */
export function sourceOf(address: string): string {
  if (!address.includes(':')) return address;
  const ip = parseIp(address);
  return ip?.length === 16 ? Buffer.from(ip.subarray(0, 8)).toString('hex') : address;
}

/** The source of an address as readable text: `2001:0db8:0000:0001::/64`. */
export function sourceText(address: string): string {
  const source = sourceOf(address);
  return source === address ? address : `${(source.match(/.{4}/g) ?? []).join(':')}::/64`;
}
