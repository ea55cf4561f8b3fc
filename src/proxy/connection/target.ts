// The destination of a request: DST.ADDR as an address or as a name to resolve, and which of its addresses the egress rules of the
// account permit.
import type { Geo } from '../../core/addresses/geo.js';
import { formatIp, type IpBytes, parseIp, unmap } from '../../core/addresses/ip.js';
import {
  checkDestinationName,
  createEgressPolicy,
  type EgressDenial,
  type EgressPolicy,
} from '../../core/egress/egress.js';
import type { Protocol } from '../../core/sessions/session.js';
import { intern } from '../interned-strings.js';
import type { OwnPorts } from '../memory/own-ports.js';
import type { EgressLists, ProxySettings } from '../plane-settings.js';
import { AddressType } from '../protocols/socks5.js';

/** Why a destination is not reached: a reason as in the log, or the egress rule that denies it. */
export type Refusal = string | EgressDenial;

export function refusalFields(refusal: Refusal) {
  return typeof refusal === 'string' ? { reason: refusal } : { reason: refusal.reason, rule: refusal.rule };
}

type Target =
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

/** Returns the policy of a class; for null the default policy. Null: there is no such class. */
export function createEgressPolicies(
  { egress, egressClasses }: Pick<ProxySettings, 'egress' | 'egressClasses'>,
  ownPorts: OwnPorts,
  isLocalAddress: (ip: IpBytes) => boolean,
  geo: Geo,
): (egressClass: string | null) => EgressPolicy | null {
  const policyOf = (lists: EgressLists, path: string): EgressPolicy =>
    createEgressPolicy({
      ...egress,
      ...lists,
      path,
      geo,
      isThisMachine: isLocalAddress,
      // Only the client side of an association is denied: players may reach the outbound sockets of others, as behind any NAT.
      isOwnListener: (ip, port, protocol) =>
        ownPorts.has(protocol === 'tcp' ? 'tcp-listener' : 'udp-client-side', port) && isLocalAddress(ip),
    });
  const defaultPolicy = policyOf(egress, 'egress');
  const classes = new Map(
    Object.entries(egressClasses).map(([name, lists]) => [name, policyOf(lists, `egress.classes.${name}`)]),
  );
  return (egressClass) => (egressClass === null ? defaultPolicy : (classes.get(egressClass) ?? null));
}

/**
 * The addresses that the policy permits, in their order. When there is none, `refusal` is the reason.
 * @param name the name that was resolved; null: the client's request contained the address
 */
export function permittedAddresses(
  egress: EgressPolicy,
  addresses: readonly string[],
  name: string | null,
  port: number,
  protocol: Protocol = 'tcp',
): { readonly permitted: readonly string[]; readonly refusal: Refusal } {
  const permitted: string[] = [];
  let refusal: Refusal = 'no-address';
  for (const address of addresses) {
    const ip = parseIp(address);
    if (ip === null) continue;
    const verdict = egress.judge({ host: name, ip, port, protocol });
    if (verdict.ok) permitted.push(address);
    else refusal = verdict;
  }
  return { permitted, refusal };
}
