// One entry of the operator's egress lists: whom it names, and on which ports.

import { type Cidr, type IpBytes, inCidr, parseCidr } from '../ip.js';
import { checkDestinationName } from './destination-name.js';

/** One destination to be judged by an entry. `host` is a checked name, null when the client asked for an address. */
export interface Candidate {
  readonly host: string | null;
  readonly ip: IpBytes;
  readonly port: number;
}

/** An entry, read. `target` null is any host; `ports` null is any port, else both ends included. */
export interface EgressEntry {
  readonly target: Cidr | HostPattern | null;
  readonly ports: { readonly first: number; readonly last: number } | null;
}

interface HostPattern {
  readonly host: string;
  /** `*.example.com`: the names under it, at any depth, and not `example.com` itself. */
  readonly under: boolean;
}

/** What an entry may look like, for messages. */
export const ENTRY_FORMS =
  'an address or block (10.1.2.0/24, 2001:db8::/32), a name (db.example, *.example.com), or any host (*), ' +
  'with or without :port or :first-last (IPv6 then in brackets: [2001:db8::/32]:443); any host needs a port';

const PORTS = /^(\d{1,5})(?:-(\d{1,5}))?$/;

/** Reads one entry; null when it has none of ENTRY_FORMS. */
export function parseEgressEntry(text: string): EgressEntry | null {
  // More than one colon outside brackets can only be an IPv6 address, which then has no port.
  const unbracketed = parseCidr(text);
  if (unbracketed) return { target: unbracketed, ports: null };
  const [, targetText = '', portText] = /^(\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/.exec(text) ?? [];
  const ports = portText === undefined ? null : parsePorts(portText);
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

function parsePorts(text: string): EgressEntry['ports'] {
  const [, firstText, lastText] = PORTS.exec(text) ?? [];
  const first = Number(firstText);
  const last = Number(lastText ?? firstText);
  return first >= 1 && first <= last && last <= 65535 ? { first, last } : null;
}

/** Whether the entry speaks of this destination. */
export function matchesEntry({ target, ports }: EgressEntry, { host, ip, port }: Candidate): boolean {
  if (ports && (port < ports.first || port > ports.last)) return false;
  if (target === null) return true;
  if ('bytes' in target) return inCidr(ip, target);
  if (host === null) return false;
  return target.under ? host.endsWith(`.${target.host}`) : host === target.host;
}
