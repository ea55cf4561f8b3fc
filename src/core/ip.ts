// IP addresses as bytes: what egress rules, the whitelist and SOCKS requests are decided on.
import { isIP } from 'node:net';

/** 4 bytes (IPv4) or 16 bytes (IPv6), network order. */
export type IpBytes = Uint8Array;
