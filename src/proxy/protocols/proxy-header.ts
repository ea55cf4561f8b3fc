// The PROXY protocol, versions 1 and 2 (haproxy.org, proxy-protocol.txt, 2020/03/05): a load balancer sends the address of
// the client before the client's first byte.
import type { Cidr, Endpoint } from '../../core/addresses/ip.js';
import { formatIp, inCidr, parseCidr, parseIp, unmap } from '../../core/addresses/ip.js';

/** Stands for clients of a Unix socket, which have no address. */
export const UNIX_CLIENT = 'unix';

export type ProxyHeader =
  /** The bytes so far are the beginning of a header. */
  | { readonly kind: 'more' }
  /** Not a valid header. */
  | { readonly kind: 'malformed' }
  /** `client` is null when the proxy connects for itself (a health check) or does not know its client (§2.1, §2.2). */
  | { readonly kind: 'header'; readonly length: number; readonly client: Endpoint | null };

const MORE: ProxyHeader = { kind: 'more' };
const MALFORMED: ProxyHeader = { kind: 'malformed' };

const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V2_FIXED_BYTES = 16;
/** Maximum size of a version 2 header: addresses, and TLVs, which are ignored. */
const V2_MAX_BYTES = 4096;
const V2_LOCAL = 0x20;
const V2_PROXY = 0x21;
const V2_TCP4 = 0x11;
const V2_TCP6 = 0x21;

const V1_PREFIX = Buffer.from('PROXY ', 'latin1');
/** Maximum length of a line with CRLF (§2.1). */
const V1_MAX_BYTES = 107;
const CR = 0x0d;
const LF = 0x0a;
const V1_PORT = /^(?:0|[1-9]\d{0,4})$/;

/** Reads the header at the start of `bytes`, which may be incomplete, or continue after the header. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  const first = bytes[0];
  if (first === undefined) return MORE;
  return first === V2_SIGNATURE[0] ? parseVersion2(bytes) : parseVersion1(bytes);
}

function begins(bytes: Buffer, expected: Buffer): boolean {
  const length = Math.min(bytes.length, expected.length);
  return bytes.subarray(0, length).equals(expected.subarray(0, length));
}

/** `PROXY TCP4 <source> <destination> <source port> <destination port>` CR LF, or `PROXY UNKNOWN` and anything (§2.1). */
function parseVersion1(bytes: Buffer): ProxyHeader {
  if (!begins(bytes, V1_PREFIX)) return MALFORMED;
  const end = bytes.subarray(0, V1_MAX_BYTES).indexOf(LF);
  if (end === -1) return bytes.length >= V1_MAX_BYTES ? MALFORMED : MORE;
  if (bytes[end - 1] !== CR) return MALFORMED;
  const [, protocol, source = '', destination = '', sourcePort = '', destinationPort = '', ...rest] = bytes
    .toString('latin1', 0, end - 1)
    .split(' ');
  if (protocol === 'UNKNOWN') return { kind: 'header', length: end + 1, client: null };
  const bytesOfAddress = protocol === 'TCP4' ? 4 : protocol === 'TCP6' ? 16 : 0;
  const ports = [sourcePort, destinationPort];
  const address = parseIp(source);
  const isWellFormed =
    rest.length === 0 &&
    address?.length === bytesOfAddress &&
    parseIp(destination)?.length === bytesOfAddress &&
    !source.includes('%') &&
    ports.every((port) => V1_PORT.test(port) && Number(port) <= 65_535);
  if (!isWellFormed || !address) return MALFORMED;
  return {
    kind: 'header',
    length: end + 1,
    client: { address: formatIp(unmap(address)), port: Number(sourcePort) },
  };
}

/** A signature, version and command, family and transport, the length of the rest, and that rest (§2.2). */
function parseVersion2(bytes: Buffer): ProxyHeader {
  if (!begins(bytes, V2_SIGNATURE)) return MALFORMED;
  const command = bytes[12];
  if (command !== undefined && command !== V2_LOCAL && command !== V2_PROXY) return MALFORMED;
  if (bytes.length < V2_FIXED_BYTES) return MORE;
  const length = V2_FIXED_BYTES + bytes.readUInt16BE(14);
  if (length > V2_MAX_BYTES) return MALFORMED;
  const addressBytes = bytes[13] === V2_TCP4 ? 4 : bytes[13] === V2_TCP6 ? 16 : 0;
  const sourcePortAt = V2_FIXED_BYTES + 2 * addressBytes;
  if (command === V2_PROXY && addressBytes > 0 && length < sourcePortAt + 4) return MALFORMED;
  if (bytes.length < length) return MORE;
  // Unspecified, datagram and Unix families contain no usable client: the proxy itself counts as the client.
  if (command === V2_LOCAL || addressBytes === 0) return { kind: 'header', length, client: null };
  const address = unmap(bytes.subarray(V2_FIXED_BYTES, V2_FIXED_BYTES + addressBytes));
  return {
    kind: 'header',
    length,
    client: { address: formatIp(address), port: bytes.readUInt16BE(sourcePortAt) },
  };
}

/** A version 2 header for a TCP connection from `source` to `destination`; null when their families differ. */
export function writeProxyHeader(source: Endpoint, destination: Endpoint): Buffer | null {
  const [from, to] = [parseIp(source.address), parseIp(destination.address)].map((ip) => ip && unmap(ip));
  if (!from || !to || from.length !== to.length) return null;
  const header = Buffer.alloc(V2_FIXED_BYTES + 2 * from.length + 4);
  V2_SIGNATURE.copy(header);
  header[12] = V2_PROXY;
  header[13] = from.length === 4 ? V2_TCP4 : V2_TCP6;
  header.writeUInt16BE(header.length - V2_FIXED_BYTES, 14);
  header.set(from, V2_FIXED_BYTES);
  header.set(to, V2_FIXED_BYTES + from.length);
  header.writeUInt16BE(source.port, header.length - 4);
  header.writeUInt16BE(destination.port, header.length - 2);
  return header;
}

/** The load balancers whose PROXY headers are trusted. */
export type ProxySources = (peer: Pick<Endpoint, 'address'>) => boolean;

/** Reads addresses, networks, and `unix` for the peers of Unix sockets. Throws RangeError for other texts. */
export function createProxySources(texts: readonly string[]): ProxySources {
  const blocks: Cidr[] = [];
  for (const text of texts) {
    if (text === UNIX_CLIENT) continue;
    const block = parseCidr(text);
    if (!block) throw new RangeError(`not an address or a network: ${text}`);
    blocks.push(block);
  }
  const hasUnix = texts.includes(UNIX_CLIENT);
  return ({ address }) => {
    if (address === UNIX_CLIENT) return hasUnix;
    const ip = parseIp(address);
    return ip !== null && blocks.some((block) => inCidr(ip, block));
  };
}
