// DST.ADDR of a request as an address, or as a name to resolve.
import { checkDestinationName } from '../../core/egress/egress.js';
import { formatIp, type IpBytes, unmap } from '../../core/ip.js';
import { intern } from '../interned-strings.js';
import { AddressType } from '../protocols/socks5.js';

export type Target =
  | { readonly ok: true; readonly kind: 'address'; readonly host: string; readonly ip: IpBytes }
  | { readonly ok: true; readonly kind: 'name'; readonly host: string }
  /** `host` is the raw bytes as Latin-1, for the log only. */
  | { readonly ok: false; readonly host: string; readonly reason: string };

/**
 * Reads DST.ADDR (RFC 1928 §5) from its raw bytes. A domain name that is the text of an address becomes that address; names
 * that some resolvers would read as numeric addresses are refused.
 */
export function readTarget(addressType: number, address: Uint8Array, allowUnderscore: boolean): Target {
  if (addressType !== AddressType.domain) return addressTarget(address);
  const name = checkDestinationName(address, { allowUnderscore });
  if (!name.ok)
    return { ok: false, host: Buffer.from(address).toString('latin1'), reason: `name-${name.reason}` };
  if ('ip' in name) return addressTarget(name.ip);
  return { ok: true, kind: 'name', host: intern(name.name) };
}

function addressTarget(address: Uint8Array): Target {
  const ip = unmap(address);
  return { ok: true, kind: 'address', host: intern(formatIp(ip)), ip };
}
