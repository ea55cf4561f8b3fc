// Egress at a worker: the policy of each class, and the addresses of a destination that one permits.
import { createEgressPolicy, type EgressPolicy } from '../core/egress/egress.js';
import { type IpBytes, parseIp } from '../core/ip.js';
import type { Protocol } from '../core/sessions/session.js';
import type { OwnPorts } from './own-ports.js';
import type { EgressLists, ProxySettings } from './settings.js';

/** Returns the policy of a class; of null the one that holds for everybody. Null: there is no such class. */
export function createEgressPolicies(
  { egress, egressClasses }: Pick<ProxySettings, 'egress' | 'egressClasses'>,
  ownPorts: OwnPorts,
  isLocalAddress: (ip: IpBytes) => boolean,
): (egressClass: string | null) => EgressPolicy | null {
  const policyOf = (lists: EgressLists): EgressPolicy =>
    createEgressPolicy({
      ...lists,
      isThisMachine: isLocalAddress,
      // Of associations only the clients' side is a listener: players may reach each other's outer side, as behind any NAT.
      isOwnListener: (ip, port, protocol) =>
        ownPorts.has(protocol === 'tcp' ? 'tcp-listener' : 'udp-client-side', port) && isLocalAddress(ip),
    });
  const everybodys = policyOf(egress);
  const classes = new Map(Object.entries(egressClasses).map(([name, lists]) => [name, policyOf(lists)]));
  return (egressClass) => (egressClass === null ? everybodys : (classes.get(egressClass) ?? null));
}

/**
 * The addresses that the policy permits, in their order. `refusal` says why, when there is none.
 * @param name the name they are the addresses of; null for an address that the client itself gave
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
