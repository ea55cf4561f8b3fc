// Decides which datagrams from an upstream proxy reach the client, by the same rule as for direct datagrams.
import type { EgressPolicy } from '../../core/egress/egress.js';
import { formatIp, type IpBytes, parseIp, unmap } from '../../core/ip.js';
import { type DatagramHeader, headerKey, writeDatagramHeader } from '../protocols/datagram-header.js';
import { AddressType } from '../protocols/socks5.js';
import { Multiset } from './multiset.js';

/** A destination as the upstream proxy gets it. */
export interface UpstreamDestination {
  /** A name that the upstream proxy resolves, or an address. */
  readonly host: string;
  readonly port: number;
  /** The header of datagrams to it, RFC 1928 §7. */
  readonly header: Buffer;
}

export class UpstreamSources {
  readonly #egress: EgressPolicy;
  readonly #fullCone: boolean;
  readonly #exact = new Multiset<number | string>();
  readonly #addresses = new Multiset<string>();
  /** Ports of destinations that the upstream proxy resolves. */
  readonly #namedPorts = new Multiset<number>();

  /** @param fullCone whether datagrams of hosts that the client has not sent to are accepted */
  constructor(egress: EgressPolicy, fullCone: boolean) {
    this.#egress = egress;
    this.#fullCone = fullCone;
  }

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
    const verdict = this.#egress.judge({ host: null, ip, port, protocol: 'udp' });
    // The address to which the upstream proxy resolves a name is unknown here, and may be private; only the port is known.
    if (this.#namedPorts.has(port)) return verdict.ok || verdict.reason === 'private';
    return verdict.ok && (this.#fullCone || this.#addresses.has(formatIp(ip)));
  }
}

function keyOf(header: Buffer): number | string {
  return headerKey(header) ?? '';
}
