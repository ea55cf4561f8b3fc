// Which hosts' datagrams reach the client of an association: those that it sends to, directly or through an upstream proxy.
import type { Endpoint, IpBytes } from '../../core/addresses/ip.js';
import { formatHostPort, formatIp, parseIp, unmap } from '../../core/addresses/ip.js';
import type { EgressPolicy } from '../../core/egress/egress.js';
import type { DatagramRelay } from '../io/datagrams.js';
import { type DatagramHeader, headerKey, writeDatagramHeader } from '../protocols/datagram-header.js';
import { AddressType } from '../protocols/socks5.js';

/** Several destinations (a name and its address) may lead to one host, so each is counted. */
export class Peers {
  readonly #addresses = new Multiset<string>();
  readonly #endpoints = new Multiset<string>();

  constructor(private readonly relay: DatagramRelay) {}

  hasAddress(address: string): boolean {
    return this.#addresses.has(address);
  }

  add(peer: Endpoint): void {
    this.#addresses.add(peer.address);
    const ip = parseIp(peer.address);
    if (this.#endpoints.add(formatHostPort(peer.address, peer.port)) && ip)
      this.relay.setSource(peer, writeDatagramHeader(ip, peer.port));
  }

  remove(peer: Endpoint): void {
    this.#addresses.remove(peer.address);
    if (this.#endpoints.remove(formatHostPort(peer.address, peer.port))) this.relay.removeSource(peer);
  }
}

/** A destination as the upstream proxy gets it. */
export interface UpstreamDestination {
  /** A name that the upstream proxy resolves, or an address. */
  readonly host: string;
  readonly port: number;
  /** As the client writes it in front of standalone datagrams, RFC 1928 §7. */
  readonly header: Buffer;
}

/** Decides which datagrams from an upstream proxy reach the client, by the same rule as for direct datagrams. */
export class UpstreamSources {
  readonly #exact = new Multiset<number | string>();
  readonly #addresses = new Multiset<string>();
  /** Ports of destinations that the upstream proxy resolves. */
  readonly #namedPorts = new Multiset<number>();

  /** @param fullCone whether datagrams of hosts that the client has not sent to are accepted */
  constructor(
    private readonly egress: EgressPolicy,
    private readonly fullCone: boolean,
  ) {}

  add({ host, port, header }: UpstreamDestination): void {
    this.#exact.add(keyOf(header));
    if (parseIp(host) === null) this.#namedPorts.add(port);
    else this.#addresses.add(host);
  }

  remove({ host, port, header }: UpstreamDestination): void {
    this.#exact.remove(keyOf(header));
    if (parseIp(host) === null) this.#namedPorts.remove(port);
    else this.#addresses.remove(host);
  }

  /** Whether a destination has the header that `datagram` begins with. */
  hasExactly(datagram: Buffer): boolean {
    return this.#exact.has(keyOf(datagram));
  }

  /** The header for the client of a datagram with header `header`; null: drop it. */
  headerFor(header: DatagramHeader): Buffer | null {
    if (header.addressType === AddressType.domain) return null;
    const ip = unmap(header.address);
    const canonical = writeDatagramHeader(ip, header.port);
    return this.hasExactly(canonical) || this.#mayAnswer(ip, header.port) ? canonical : null;
  }

  #mayAnswer(ip: IpBytes, port: number): boolean {
    const verdict = this.egress.judge({ host: null, ip, port, protocol: 'udp' });
    // The address to which the upstream proxy resolves a name is unknown here, and may be private; only the port is known.
    if (this.#namedPorts.has(port)) return verdict.ok || verdict.reason === 'private';
    return verdict.ok && (this.fullCone || this.#addresses.has(formatIp(ip)));
  }
}

const keyOf = (header: Buffer): number | string => headerKey(header) ?? '';

/** A member that was added n times needs n removals. */
class Multiset<Key> {
  readonly #counts = new Map<Key, number>();

  has(key: Key): boolean {
    return this.#counts.has(key);
  }

  /** Returns whether it was no member. */
  add(key: Key): boolean {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return count === 0;
  }

  /** Returns whether it is no longer a member. */
  remove(key: Key): boolean {
    const remaining = (this.#counts.get(key) ?? 0) - 1;
    if (remaining <= 0) return this.#counts.delete(key);
    this.#counts.set(key, remaining);
    return false;
  }
}
