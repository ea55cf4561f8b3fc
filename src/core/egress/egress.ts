// The egress policy: decides for each resolved address whether the proxy may connect to it.
import { type Geo, NO_GEO } from '../geo.js';
import { type IpBytes, unmap } from '../ip.js';
import type { Protocol } from '../sessions/session.js';
import {
  type Candidate,
  type EgressEntry,
  ENTRY_FORMS,
  matchesEntry,
  parseDeniedPorts,
  parseEgressEntry,
} from './egress-entry.js';
import { embeddedIpv4, isNeverAllowed, isPrivate } from './special-addresses.js';

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
    /** Decides on a resolved address. `host` is the validated name that the client requested; null for an address. */
    judge({
      host,
      ip,
      port,
      protocol = 'tcp',
    }: {
      readonly host: string | null;
      readonly ip: IpBytes;
      readonly port: number;
      /** The protocol, for the check of own listeners. Default: tcp. */
      readonly protocol?: Protocol;
    }): EgressVerdict {
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
