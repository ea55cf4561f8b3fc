// The egress policy: decides for each resolved address whether the proxy may connect to it; and the special-purpose addresses.
import { type Geo, NO_GEO } from '../addresses/geo.js';
import { type Cidr, type IpBytes, inCidr, parseCidr, unmap } from '../addresses/ip.js';
import type { Protocol } from '../sessions/session.js';
import type { Candidate, EgressEntry } from './egress-entry.js';
import { ENTRY_FORMS, matchesEntry, parseDeniedPorts, parseEgressEntry } from './egress-entry.js';

export { checkDestinationName, type NameCheck, type NameRefusal } from './egress-entry.js';

export interface EgressOptions {
  /** The rule for loopback, private, CGNAT and unique local addresses, and addresses of this machine, without an `allow` entry. */
  readonly private: 'deny' | 'allow';
  /** Allowed private destinations; a name allows the private addresses that it resolves to. */
  readonly allow: readonly string[];
  /** Denied destinations; takes precedence over `allow`. */
  readonly deny: readonly string[];
  /** Ports that are denied at every host, as `parseDeniedPorts` reads them; take precedence over `allow`. Default: none. */
  readonly denyPorts?: readonly (number | string)[] | undefined;
  /** Whether BitTorrent is denied where its handshake shows (bittorrent.ts). Default: allow. */
  readonly bittorrent?: 'deny' | 'allow' | undefined;
  /** Where the configuration has these rules, to name them. Default: `egress`. */
  readonly path?: string;
  /**
   * Whether an unmapped address belongs to this machine. Such addresses count as private, also public ones. Default: never.
   */
  readonly isThisMachine?: (ip: IpBytes) => boolean;
  /** Whether this process listens on the unmapped address and port. */
  readonly isOwnListener: (ip: IpBytes, port: number, protocol: Protocol) => boolean;
  /** Of entries for countries and networks. Default: knows no address. */
  readonly geo?: Geo;
}

type EgressRefusal = 'own-listener' | 'always-denied' | 'denied-by-rule' | 'private' | 'bittorrent';

/** Why a destination is denied, as the log says it. */
export interface EgressDenial {
  readonly reason: EgressRefusal;
  /** The key and the entry of the configuration, such as `egress.denyPorts: smtp`. */
  readonly rule?: string | undefined;
}
type EgressVerdict = { readonly ok: true } | ({ readonly ok: false } & EgressDenial);

/** An entry, and the verdict when it denies. */
type Rule = EgressEntry & { readonly verdict: EgressVerdict };

const ALLOWED: EgressVerdict = { ok: true };
/** In no block of addresses. */
const NO_ADDRESS: IpBytes = new Uint8Array(0);

export type EgressPolicy = ReturnType<typeof createEgressPolicy>;

/**
 * Creates the policy. The first applicable rule decides: own listeners and never-allowed addresses (link-local, metadata services,
 * multicast, unspecified, reserved) are always refused; then `deny` and `denyPorts`; then `allow`; then `private` for private
 * addresses and addresses of this machine; all other addresses are allowed. An IPv6 address with an embedded IPv4 address must pass as
 * both. Throws TypeError for an invalid entry, which the configuration refuses before.
 */
export function createEgressPolicy(options: EgressOptions) {
  const { isThisMachine = () => false, geo = NO_GEO, path = 'egress' } = options;
  const allow = readList('allow', options.allow, path);
  const deny: readonly Rule[] = [
    ...readList('deny', options.deny, path),
    ...(options.denyPorts ?? []).flatMap((text) => {
      const verdict = denied('denied-by-rule', `${path}.denyPorts: ${text}`);
      return parseDeniedPorts(text).map((ports) => ({ target: null, ports, verdict }));
    }),
  ];
  function mayBeReached(candidate: Candidate): boolean {
    if (options.private === 'allow') return true;
    const isHere = isThisMachine(candidate.ip);
    if (!isHere && !isPrivate(candidate.ip)) return true;
    // A country is allowed for its hosts, and not for the services of this machine, which stands in one.
    return matching(allow, candidate, isHere ? NO_GEO : geo) !== undefined;
  }

  const bittorrent: EgressDenial | null =
    options.bittorrent === 'deny' ? { reason: 'bittorrent', rule: `${path}.bittorrent` } : null;

  return {
    /** Decides on a resolved address. `protocol` is for the check of own listeners. */
    judge({ host, ip, port, protocol = 'tcp' }: Candidate & { readonly protocol?: Protocol }): EgressVerdict {
      const name = host === null ? null : host.toLowerCase().replace(/\.$/, '');
      const plain = unmap(ip);
      const candidates = [plain, ...embeddedIpv4(plain)].map((each) => ({ host: name, ip: each, port }));
      if (candidates.some((each) => options.isOwnListener(each.ip, port, protocol)))
        return denied('own-listener');
      if (candidates.some((each) => isNeverAllowed(each.ip))) return denied('always-denied');
      for (const each of candidates) {
        const rule = matching(deny, each, geo);
        if (rule) return rule.verdict;
      }
      return candidates.every(mayBeReached) ? ALLOWED : denied('private');
    },

    /**
     * Decides on a name that an upstream proxy resolves: denied by `deny` entries for the name or any host, and for names of this
     * machine (RFC 6761 §6.3) unless private addresses are allowed.
     */
    judgeName({ host, port }: { readonly host: string; readonly port: number }): EgressVerdict {
      const name = host.toLowerCase().replace(/\.$/, '');
      const candidate = { host: name, ip: NO_ADDRESS, port };
      const rule = matching(deny, candidate, NO_GEO);
      if (rule) return rule.verdict;
      const isLocalName = name === 'localhost' || name.endsWith('.localhost');
      const isAllowed = options.private === 'allow' || !isLocalName || matching(allow, candidate, NO_GEO);
      return isAllowed ? ALLOWED : denied('private');
    },

    /** Set when BitTorrent is denied. */
    bittorrent,
  };
}

function readList(list: 'allow' | 'deny', texts: readonly string[], path: string): readonly Rule[] {
  return texts.map((text, index) => {
    const entry = parseEgressEntry(text);
    if (!entry)
      throw new TypeError(`${path}.${list}[${index}]: ${JSON.stringify(text)} is not ${ENTRY_FORMS}`);
    return { ...entry, verdict: denied('denied-by-rule', `${path}.${list}: ${text}`) };
  });
}

const matching = (rules: readonly Rule[], candidate: Candidate, geo: Geo): Rule | undefined =>
  rules.find((rule) => matchesEntry(rule, candidate, geo));

const denied = (reason: EgressRefusal, rule?: string): EgressVerdict => ({ ok: false, reason, rule });

/** Special-purpose addresses that are never allowed as destination. */
const NEVER = [
  '0.0.0.0/8', // this network (RFC 1122 §3.2.1.3); 0.0.0.0 connects to this machine
  '169.254.0.0/16', // link-local (RFC 3927), and where most clouds keep their metadata
  '100.100.100.200', // Alibaba Cloud metadata
  '168.63.129.16', // Azure platform address
  '192.0.0.192', // Oracle Cloud metadata, classic
  '224.0.0.0/4', // multicast (RFC 5771)
  '240.0.0.0/4', // reserved (RFC 1112 §4), with 255.255.255.255
  '::', // unspecified
  'fe80::/10', // link-local (RFC 4291 §2.5.6)
  'fec0::/10', // site-local, deprecated (RFC 3879)
  'ff00::/8', // multicast (RFC 4291 §2.7)
  'fd00:ec2::/32', // AWS: metadata, task roles, time, names
  'fd20:ce::254', // Google Cloud metadata
  'fd00:c1::a9fe:a9fe', // Oracle Cloud metadata
  'fd00:42::42', // Scaleway metadata
].map(block);

/** Private networks: allowed only by the configuration. */
const PRIVATE = [
  '127.0.0.0/8', // loopback (RFC 1122 §3.2.1.3)
  '10.0.0.0/8', // RFC 1918
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10', // shared by carriers (RFC 6598)
  '192.0.0.0/24', // protocol assignments (RFC 6890)
  '198.18.0.0/15', // benchmarks (RFC 2544)
  '::1', // loopback
  'fc00::/7', // unique local (RFC 4193)
  '64:ff9b:1::/48', // translators for local use (RFC 8215)
].map(block);

/** Link-local, multicast, unspecified or reserved addresses, and cloud metadata services. */
export const isNeverAllowed = (ip: IpBytes): boolean => NEVER.some((block) => inCidr(ip, block));

/** Loopback, private, carrier-shared, unique local: RFC 6890 addresses that are not globally reachable but are hosts. */
export const isPrivate = (ip: IpBytes): boolean => PRIVATE.some((block) => inCidr(ip, block));

const COMPATIBLE = block('::/96');
const TRANSLATED = block('::ffff:0:0:0/96');
const NAT64 = block('64:ff9b::/96');
const LOCAL_NAT64 = block('64:ff9b:1::/48');
const TEREDO = block('2001::/32');
const SIX_TO_FOUR = block('2002::/16');
const NO_EMBEDDING = ['::', '::1'].map(block);

/**
 * The IPv4 addresses that a translator, tunnel or network stack may extract from an IPv6 address: IPv4-mapped and IPv4-compatible
 * (RFC 4291 §2.5.5), IPv4-translated (RFC 2765 §2.1), NAT64 (RFC 6052 §2.2, RFC 8215), 6to4 (RFC 3056 §2), Teredo's server
 * and client (RFC 4380 §4), ISATAP (RFC 5214 §6.1). None for IPv4 and for other IPv6.
 */
function embeddedIpv4(ip: IpBytes): IpBytes[] {
  if (ip.length !== 16) return [];
  const plain = unmap(ip);
  if (plain.length === 4) return [plain];
  if (NO_EMBEDDING.some((each) => inCidr(ip, each))) return [];
  const last = ip.subarray(12);
  const found: IpBytes[] = [];
  if (inCidr(ip, COMPATIBLE) || inCidr(ip, TRANSLATED) || inCidr(ip, NAT64) || isIsatap(ip)) found.push(last);
  if (inCidr(ip, LOCAL_NAT64)) found.push(...localNat64(ip));
  if (inCidr(ip, SIX_TO_FOUR)) found.push(ip.subarray(2, 6));
  if (inCidr(ip, TEREDO))
    found.push(
      ip.subarray(4, 8),
      last.map((byte) => byte ^ 0xff),
    );
  return found;
}

/** The prefix may have 48, 56, 64 or 96 bits, which the address does not show: returns all four possible addresses. */
function localNat64(ip: IpBytes): IpBytes[] {
  const at = (...positions: number[]) => Uint8Array.from(positions, (position) => ip[position] ?? 0);
  // Byte 8 is always zero and no part of the address (RFC 6052 §2.2).
  const readings = [at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), at(12, 13, 14, 15)];
  return readings.filter(([first]) => first !== 0);
}

/** Interface identifier 00-00-5E-FE or 02-00-5E-FE and the IPv4 address, under any prefix. */
const isIsatap = (ip: IpBytes): boolean =>
  ((ip[8] ?? 0) & 0xfd) === 0 && ip[9] === 0 && ip[10] === 0x5e && ip[11] === 0xfe;

function block(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new Error(`not an address block: ${text}`);
  return cidr;
}
