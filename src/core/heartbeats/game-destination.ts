// The destination part of a game rule: parses hosts, ports and protocol once, and matches every flow.
import { type PortRange, parsePortRange } from '../addresses/endpoints.js';
import { type Cidr, type IpBytes, inCidr, parseCidr, parseIp } from '../addresses/ip.js';
import type { Protocol } from '../sessions/session.js';
import { GameRuleError } from './payload-matcher.js';

/** All parts are optional; an omitted part matches everything. */
export interface GameMatch {
  /** Exact names, `*.example.com` (any name below it, not itself), addresses, CIDR blocks, `*`. */
  readonly hosts?: readonly string[] | undefined;
  /** Single ports and ranges: `7000`, `"7100-7200"`. */
  readonly ports?: readonly (number | string)[] | undefined;
  readonly protocol?: Protocol | undefined;
}

export interface Flow {
  /** As requested by the client: a name or an address. */
  readonly host: string;
  /** The dialled address; null before the connection is dialled. */
  readonly ip: IpBytes | null;
  readonly port: number;
  readonly protocol: Protocol;
}

/** A flow's destination, normalized for comparison: a lower-case name without root dot, and an address. */
interface Target {
  readonly name: string;
  readonly ip: IpBytes | null;
}

type HostTest = (target: Target) => boolean;

/** Compiles the `match` part of a rule; `path` is its position, for errors. Throws GameRuleError. */
export function readDestination(match: GameMatch, path: string): (flow: Flow) => boolean {
  const hosts = readList(match.hosts, `${path}.hosts`, readHost);
  const ports = readList(match.ports, `${path}.ports`, readPorts);
  const { protocol } = match;
  return (flow) => {
    if (protocol !== undefined && flow.protocol !== protocol) return false;
    if (ports && !ports.some(([first, last]) => flow.port >= first && flow.port <= last)) return false;
    if (!hosts) return true;
    const target = targetOf(flow);
    return hosts.some((matches) => matches(target));
  };
}

function readList<Entry, Read>(
  entries: readonly Entry[] | undefined,
  path: string,
  read: (entry: Entry, path: string) => Read,
): Read[] | null {
  if (entries === undefined) return null;
  // Refuse an empty list: ambiguous whether it means "none" or "any".
  if (entries.length === 0) throw new GameRuleError(path, 'match-empty');
  return entries.map((entry, i) => read(entry, `${path}[${i}]`));
}

function targetOf({ host, ip }: Flow): Target {
  const name = host.toLowerCase();
  return { name: name.endsWith('.') ? name.slice(0, -1) : name, ip: ip ?? parseIp(host) };
}

function readHost(text: string, path: string): HostTest {
  if (text === '*') return () => true;
  const block = parseCidr(text);
  if (block) return inBlock(block);
  const below = text.startsWith('*.');
  const name = hostName(below ? text.slice(2) : text);
  if (name === null) throw new GameRuleError(path, 'match-host', { value: JSON.stringify(text) });
  if (below) return (target) => target.name.endsWith(`.${name}`) && target.name.length > name.length + 1;
  return (target) => target.name === name;
}

const inBlock =
  (block: Cidr): HostTest =>
  ({ ip }) =>
    ip !== null && inCidr(ip, block);

const LABELS = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
// A name that ends in a number is a mistyped address: no top-level domain is numeric (RFC 3696 §2).
const ENDS_IN_NUMBER = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/** The name as it appears on the wire: lower case, no root dot, international names in ASCII form; null for an invalid name. */
function hostName(text: string): string | null {
  const name = text.toLowerCase().replace(/\.$/, '');
  const ascii = /^[\u0000-\u007f]*$/.test(name) ? name : asciiName(name);
  return LABELS.test(ascii) && !ENDS_IN_NUMBER.test(ascii) ? ascii : null;
}

/** The ASCII form of a name (RFC 5891 ToASCII, by the URL parser); empty when it has none. */
function asciiName(name: string): string {
  if (/[/?#@:\\\s]/.test(name)) return '';
  return URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : '';
}

function readPorts(entry: number | string, path: string): PortRange {
  const range = parsePortRange(String(entry));
  if (range === null) throw new GameRuleError(path, 'match-port', { value: JSON.stringify(entry) });
  return range;
}
