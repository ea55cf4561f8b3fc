// The addresses of a destination that an egress policy permits.
import type { EgressPolicy } from '../core/egress/egress.js';
import { parseIp } from '../core/ip.js';
import type { Protocol } from '../core/sessions/session.js';

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
