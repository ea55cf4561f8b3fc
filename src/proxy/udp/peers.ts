// The hosts that an association sends to: the relay forwards datagrams from them to the client.
import { type Endpoint, parseIp } from '../../core/ip.js';
import type { DatagramRelay } from '../io/datagrams.js';
import { writeDatagramHeader } from '../protocols/datagram-header.js';

/** Several destinations (a name and its address) may lead to one host, so each is counted. */
export class Peers {
  readonly #relay: DatagramRelay;
  /** Number of destinations by address and port. */
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(relay: DatagramRelay) {
    this.#relay = relay;
  }

  hasAddress(address: string): boolean {
    return this.#counts.has(address);
  }

  add(peer: Endpoint): void {
    const ports = this.#counts.get(peer.address) ?? new Map<number, number>();
    this.#counts.set(peer.address, ports);
    const count = ports.get(peer.port) ?? 0;
    ports.set(peer.port, count + 1);
    if (count > 0) return;
    const ip = parseIp(peer.address);
    if (ip) this.#relay.setSource(peer, writeDatagramHeader(ip, peer.port));
  }

  remove(peer: Endpoint): void {
    const ports = this.#counts.get(peer.address);
    const count = ports?.get(peer.port) ?? 0;
    if (!ports || count === 0) return;
    if (count > 1) {
      ports.set(peer.port, count - 1);
      return;
    }
    ports.delete(peer.port);
    if (ports.size === 0) this.#counts.delete(peer.address);
    this.#relay.removeSource(peer);
  }
}
