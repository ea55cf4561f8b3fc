// The header in front of every datagram between a client and the UDP relay, RFC 1928 §7: reading and writing it.
import type { IpBytes } from '../../core/addresses/ip.js';
import { AddressType, withAddress } from './socks5.js';

//  +----+------+------+----------+----------+----------+
//  |RSV | FRAG | ATYP | DST.ADDR | DST.PORT |   DATA   |
//  +----+------+------+----------+----------+----------+
//  | 2  |  1   |  1   | Variable |    2     | Variable |
//  +----+------+------+----------+----------+----------+
const FRAG_AT = 2;
const ATYP_AT = 3;
const ADDRESS_AT = 4;
const PORT_BYTES = 2;
const IPV4_HEADER_BYTES = 10;

/** Maximum data of a UDP datagram over IPv4: 65,535 less the headers of IP and UDP (RFC 791, RFC 768). */
export const MAX_DATAGRAM_BYTES = 65_507;

/** A header as the client sent it. */
export interface DatagramHeader {
  /** 0: standalone; else the position 1 to 127 in its sequence, with 128 added for the last fragment. */
  readonly fragment: number;
  /** ATYP, RFC 1928 §5. */
  readonly addressType: number;
  /** DST.ADDR as raw bytes: 4, 16, or a domain name of 1 to 255. A view of the datagram. */
  readonly address: Uint8Array;
  readonly port: number;
  /** Where the data begins in the datagram. */
  readonly length: number;
}

/** Bytes that the header of `datagram` takes; 0 when the datagram is too short for it or its ATYP is unknown. */
export function headerLengthOf(datagram: Uint8Array): number {
  const length = ADDRESS_AT + addressBytes(datagram) + PORT_BYTES;
  return length > ADDRESS_AT + PORT_BYTES && datagram.length >= length ? length : 0;
}

/** DST.ADDR with the length octet that a domain name has; 0 when it cannot be read. */
function addressBytes(datagram: Uint8Array): number {
  switch (datagram[ATYP_AT]) {
    case AddressType.ipv4:
      return 4;
    case AddressType.ipv6:
      return 16;
    case AddressType.domain: {
      const length = datagram[ADDRESS_AT] ?? 0;
      return length === 0 ? 0 : 1 + length;
    }
    default:
      return 0;
  }
}

/**
 * Reads the header of a datagram from a client. Null for what no client may send: too short, RSV not zero, an unknown
 * ATYP, an empty name, port 0, or a fragment number of 128 (the last of a sequence that has no first).
 */
export function readDatagramHeader(datagram: Uint8Array): DatagramHeader | null {
  const length = headerLengthOf(datagram);
  if (length === 0 || datagram[0] !== 0 || datagram[1] !== 0) return null;
  const fragment = datagram[FRAG_AT] ?? 0;
  const addressType = datagram[ATYP_AT] ?? 0;
  const portAt = length - PORT_BYTES;
  const port = ((datagram[portAt] ?? 0) << 8) | (datagram[portAt + 1] ?? 0);
  if (port === 0 || fragment === 0x80) return null;
  const address = datagram.subarray(addressType === AddressType.domain ? ADDRESS_AT + 1 : ADDRESS_AT, portAt);
  return { fragment, addressType, address, port, length };
}

/** The header of a standalone datagram from `ip` (an IPv4-mapped one is written as IPv4) and `port`. */
export const writeDatagramHeader = (ip: IpBytes, port: number): Buffer => withAddress([0, 0, 0], ip, port);

/**
 * A map key for the header of a standalone datagram: equal for equal headers. A number for IPv4 destinations, so that
 * a lookup allocates nothing. Null when the header cannot be read or belongs to a fragment.
 */
export function headerKey(datagram: Buffer): number | string | null {
  const key = ipv4HeaderKey(datagram, 0, datagram.length);
  if (key !== -1) return key;
  const length = headerLengthOf(datagram);
  if (length === 0 || datagram.readUIntBE(0, 3) !== 0) return null;
  return datagram.toString('latin1', 0, length);
}

/** The same for the datagram of `length` bytes at `at`; -1 when it is not a standalone one to an IPv4 address. */
export function ipv4HeaderKey(bytes: Uint8Array, at: number, length: number): number {
  if (length < IPV4_HEADER_BYTES || bytes[at + ATYP_AT] !== AddressType.ipv4) return -1;
  if (bytes[at] !== 0 || bytes[at + 1] !== 0 || bytes[at + FRAG_AT] !== 0) return -1;
  const byte = (i: number): number => bytes[at + ADDRESS_AT + i] ?? 0;
  const address = byte(0) * 0x100_0000 + (byte(1) << 16) + (byte(2) << 8) + byte(3);
  return address * 0x1_0000 + (byte(4) << 8) + byte(5);
}
