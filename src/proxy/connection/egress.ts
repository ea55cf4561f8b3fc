// Egress in a worker: the policy of each class, and the addresses of a destination that it permits.
import { createEgressPolicy, type EgressPolicy } from '../../core/egress/egress.js';
import { type IpBytes, parseIp } from '../../core/ip.js';
import type { Protocol } from '../../core/sessions/session.js';
import type { OwnPorts } from '../memory/own-ports.js';
import type { EgressLists, ProxySettings } from '../plane-settings.js';

/** Returns the policy of a class; for null the default policy. Null: there is no such class. */
export function createEgressPolicies(
  { egress, egressClasses }: Pick<ProxySettings, 'egress' | 'egressClasses'>,
  ownPorts: OwnPorts,
  isLocalAddress: (ip: IpBytes) => boolean,
): (egressClass: string | null) => EgressPolicy | null {
  const policyOf = (lists: EgressLists): EgressPolicy =>
    createEgressPolicy({
      ...lists,
      isThisMachine: isLocalAddress,
      // Only the client side of an association is denied: players may reach the outbound sockets of others, as behind any NAT.
      isOwnListener: (ip, port, protocol) =>
        ownPorts.has(protocol === 'tcp' ? 'tcp-listener' : 'udp-client-side', port) && isLocalAddress(ip),
    });
  const defaultPolicy = policyOf(egress);
  const classes = new Map(Object.entries(egressClasses).map(([name, lists]) => [name, policyOf(lists)]));
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
): { readonly permitted: readonly string[]; readonly refusal: string } {
  const permitted: string[] = [];
  let refusal = 'no-address';
  for (const address of addresses) {
    const ip = parseIp(address);
    if (ip === null) continue;
    const verdict = egress.judge({ host: name, ip, port, protocol });
    if (verdict.ok) permitted.push(address);
    else refusal = verdict.reason;
  }
  return { permitted, refusal };
}
