// An entry of the egress lists: hosts and ports.

import { type PortRange, parsePortRange } from '../endpoints.js';
import { type Cidr, type IpBytes, inCidr, parseCidr } from '../ip.js';
import { checkDestinationName } from './destination-name.js';

/** A destination to compare with an entry. `host` is a validated name; null when the client requested an address. */
export interface Candidate {
  readonly host: string | null;
  readonly ip: IpBytes;
  readonly port: number;
}

/** A parsed entry. `target` null: any host. `ports` null: any port. */
export interface EgressEntry {
  readonly target: Cidr | HostPattern | null;
  readonly ports: PortRange | null;
}

interface HostPattern {
  readonly host: string;
  /** `*.example.com` matches subdomains at any depth, but not `example.com`. */
  readonly under: boolean;
}

/** The accepted formats, for error messages. */
export const ENTRY_FORMS =
  'an address or block (10.1.2.0/24, 2001:db8::/32), a name (db.example, *.example.com), or any host (*), ' +
  'with or without :port or :first-last (IPv6 then in brackets: [2001:db8::/32]:443); any host needs a port';

/** Parses an entry; null when it has none of the formats. */
export function parseEgressEntry(text: string): EgressEntry | null {
  // More than one colon outside brackets can only be an IPv6 address, which then has no port.
  const unbracketed = parseCidr(text);
  if (unbracketed) return { target: unbracketed, ports: null };
  const [, targetText = '', portText] = /^(\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/.exec(text) ?? [];
  const ports = portText === undefined ? null : parsePortRange(portText);
  if (portText !== undefined && !ports) return null;
  if (targetText === '' || targetText === '*') return ports && { target: null, ports };
  const target = parseTarget(targetText);
  return target && { target, ports };
}

function parseTarget(text: string): Cidr | HostPattern | null {
  if (text.startsWith('[')) return text.includes(':') ? parseCidr(text.slice(1, -1)) : null;
  return parseCidr(text) ?? parseHostPattern(text);
}

function parseHostPattern(text: string): HostPattern | null {
  const under = text.startsWith('*.');
  const checked = checkDestinationName(Buffer.from(under ? text.slice(2) : text), { allowUnderscore: true });
  return checked.ok && 'name' in checked ? { host: checked.name, under } : null;
}

/** Whether the entry matches the destination. */
export function matchesEntry({ target, ports }: EgressEntry, { host, ip, port }: Candidate): boolean {
  if (ports && (port < ports[0] || port > ports[1])) return false;
  if (target === null) return true;
  if ('bytes' in target) return inCidr(ip, target);
  if (host === null) return false;
  return target.under ? host.endsWith(`.${target.host}`) : host === target.host;
}
