// Which destinations the proxy connects to. Decided on the resolved address, which is then the one that is dialled.

import { type IpBytes, unmap } from '../ip.js';
import type { Protocol } from '../sessions/session.js';
import {
  type Candidate,
  type EgressEntry,
  ENTRY_FORMS,
  matchesEntry,
  parseEgressEntry,
} from './egress-entry.js';
import { embeddedIpv4, isNeverAllowed, isPrivate } from './special-addresses.js';

export { checkDestinationName, type NameCheck, type NameRefusal } from './destination-name.js';

export interface EgressOptions {
  /** What happens to loopback, private, carrier-shared and unique local addresses, and those of this machine, that no `allow` entry names. */
  readonly private: 'deny' | 'allow';
  /** Entries whose private addresses may be reached; a name lets through the private addresses it resolves to. */
  readonly allow: readonly string[];
  /** Entries that may not be reached; stronger than `allow`. */
  readonly deny: readonly string[];
  /**
   * Whether an address (unmapped) is one of this machine: those count as private, public ones too. Left out: none is known.
   */
  readonly isThisMachine?: (ip: IpBytes) => boolean;
  /** Whether this process itself listens there. Asked with unmapped addresses. */
  readonly isOwnListener: (ip: IpBytes, port: number, protocol: Protocol) => boolean;
}

export type EgressRefusal = 'own-listener' | 'always-denied' | 'denied-by-rule' | 'private';
export type EgressVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: EgressRefusal };

export interface EgressPolicy {
  /** Judges one resolved address. `host` is the name the client asked for, as checked; null for an address. */
  judge(destination: {
    readonly host: string | null;
    readonly ip: IpBytes;
    readonly port: number;
    /** Which ports are our own depends on it. Default: tcp. */
    readonly protocol?: Protocol;
  }): EgressVerdict;
  /**
   * Judges a name that will be resolved somewhere else, by what is known of it here: the `deny` entries that name it or
   * any host, and names of this machine (RFC 6761 §6.3) unless private addresses are allowed.
   */
  judgeName(destination: { readonly host: string; readonly port: number }): EgressVerdict;
}

/** An entry of the lists that cannot be read: thrown when the policy is made, never when it is used. */
export class EgressEntryError extends Error {
  readonly code = 'BAD_EGRESS_ENTRY';
  readonly list: 'allow' | 'deny';
  /** Position in the list, from 0. */
  readonly index: number;
  readonly entry: string;
  readonly allowed = ENTRY_FORMS;

  constructor(list: 'allow' | 'deny', index: number, entry: string) {
    super(`egress.${list}[${index}]: ${JSON.stringify(entry)} is not ${ENTRY_FORMS}`);
    this.name = 'EgressEntryError';
    this.list = list;
    this.index = index;
    this.entry = entry;
  }
}

const ALLOWED: EgressVerdict = { ok: true };
/** In no block of addresses. */
const NO_ADDRESS: IpBytes = new Uint8Array(0);

/**
 * Makes the policy. In this order, the first that applies: our own listeners and addresses that are never a destination
 * (link-local, metadata services, multicast, unspecified, reserved) are refused whatever the lists say; then `deny`;
 * then `allow`; then private addresses, and all of this machine, as `private` says; the rest is public and allowed. An IPv6 address that carries an
 * IPv4 address is judged as both. Throws EgressEntryError for an entry that cannot be read.
 */
export function createEgressPolicy(options: EgressOptions): EgressPolicy {
  const allow = readList('allow', options.allow);
  const deny = readList('deny', options.deny);
  const isThisMachine = options.isThisMachine ?? (() => false);
  const mayBeReached = (candidate: Candidate) =>
    options.private === 'allow' ||
    !(isPrivate(candidate.ip) || isThisMachine(candidate.ip)) ||
    matchesAny(allow, candidate);

  return {
    judge({ host, ip, port, protocol = 'tcp' }) {
      const name = host === null ? null : host.toLowerCase().replace(/\.$/, '');
      const plain = unmap(ip);
      const candidates = [plain, ...embeddedIpv4(plain)].map((each) => ({ host: name, ip: each, port }));
      if (candidates.some((each) => options.isOwnListener(each.ip, port, protocol)))
        return refuse('own-listener');
      if (candidates.some((each) => isNeverAllowed(each.ip))) return refuse('always-denied');
      if (candidates.some((each) => matchesAny(deny, each))) return refuse('denied-by-rule');
      return candidates.every(mayBeReached) ? ALLOWED : refuse('private');
    },

    judgeName({ host, port }) {
      const name = host.toLowerCase().replace(/\.$/, '');
      const candidate = { host: name, ip: NO_ADDRESS, port };
      if (matchesAny(deny, candidate)) return refuse('denied-by-rule');
      const isLocalName = name === 'localhost' || name.endsWith('.localhost');
      const isAllowed = options.private === 'allow' || !isLocalName || matchesAny(allow, candidate);
      return isAllowed ? ALLOWED : refuse('private');
    },
  };
}

function readList(list: 'allow' | 'deny', texts: readonly string[]): readonly EgressEntry[] {
  return texts.map((text, index) => {
    const entry = parseEgressEntry(text);
    if (!entry) throw new EgressEntryError(list, index, text);
    return entry;
  });
}

function matchesAny(entries: readonly EgressEntry[], candidate: Candidate): boolean {
  return entries.some((entry) => matchesEntry(entry, candidate));
}

function refuse(reason: EgressRefusal): EgressVerdict {
  return { ok: false, reason };
}
