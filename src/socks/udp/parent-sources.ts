// Whose answers a parent proxy may bring to the client: the same rule as for datagrams that come directly.
import type { EgressPolicy } from '../../core/egress/egress.js';
import { formatIp, type IpBytes, parseIp, unmap } from '../../core/ip.js';
import { type DatagramHeader, headerKey, writeDatagramHeader } from '../../core/sessions/datagram-header.js';
import { AddressType } from '../protocol.js';

/** A destination as its parent is told of it. */
export interface ThroughParent {
  /** A name that the parent resolves, or an address. */
  readonly host: string;
  readonly port: number;
  /** In front of datagrams to it, RFC 1928 §7. */
  readonly header: Buffer;
}

export class ParentSources {
  readonly #egress: EgressPolicy;
  readonly #fullCone: boolean;
  readonly #exact = new Tally<number | string>();
  readonly #addresses = new Tally<string>();
  /** Ports of destinations whose address only the parent knows. */
  readonly #namedPorts = new Tally<number>();

  /** @param fullCone whether hosts that the client never sent to are heard */
  constructor(egress: EgressPolicy, fullCone: boolean) {
    this.#egress = egress;
    this.#fullCone = fullCone;
  }

  add({ host, port, header }: ThroughParent): void {
    this.#exact.add(keyOf(header));
    if (parseIp(host) === null) this.#namedPorts.add(port);
    else this.#addresses.add(host);
  }

  remove({ host, port, header }: ThroughParent): void {
    this.#exact.remove(keyOf(header));
    if (parseIp(host) === null) this.#namedPorts.remove(port);
    else this.#addresses.remove(host);
  }

  /** The header behind which an answer goes to the client; null when it may not. `header` is that of `datagram`. */
  headerFor(header: DatagramHeader, datagram: Buffer): Buffer | null {
    if (this.#exact.has(keyOf(datagram))) return datagram.subarray(0, header.length);
    if (header.addressType === AddressType.domain) return null;
    const ip = unmap(header.address);
    const canonical = writeDatagramHeader(ip, header.port);
    const mayBeHeard = this.#exact.has(keyOf(canonical)) || this.#mayBeHeard(ip, header.port);
    return mayBeHeard ? canonical : null;
  }

  #mayBeHeard(ip: IpBytes, port: number): boolean {
    const verdict = this.#egress.judge({ host: null, ip, port, protocol: 'udp' });
    // What a name leads to at the parent's side is not known here, and may be private there; the port is known.
    if (this.#namedPorts.has(port)) return verdict.ok || verdict.reason === 'private';
    return verdict.ok && (this.#fullCone || this.#addresses.has(formatIp(ip)));
  }
}

function keyOf(header: Buffer): number | string {
  return headerKey(header) ?? '';
}

/** A set whose members may be added several times: as many removals take one away. */
class Tally<Key> {
  readonly #counts = new Map<Key, number>();

  has(key: Key): boolean {
    return this.#counts.has(key);
  }

  add(key: Key): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  remove(key: Key): void {
    const left = (this.#counts.get(key) ?? 0) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }
}
