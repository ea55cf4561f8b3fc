// The hosts that an association sends to: the relay forwards datagrams from them to the client.
import { type Endpoint, formatHostPort, parseIp } from '../../core/ip.js';
import type { DatagramRelay } from '../io/datagrams.js';
import { writeDatagramHeader } from '../protocols/datagram-header.js';
import { Multiset } from './multiset.js';

/** Several destinations (a name and its address) may lead to one host, so each is counted. */
export class Peers {
  readonly #relay: DatagramRelay;
  readonly #addresses = new Multiset<string>();
  readonly #endpoints = new Multiset<string>();

  constructor(relay: DatagramRelay) {
    this.#relay = relay;
  }

  hasAddress(address: string): boolean {
    return this.#addresses.has(address);
  }

  add(peer: Endpoint): void {
    this.#addresses.add(peer.address);
    const ip = parseIp(peer.address);
    if (this.#endpoints.add(formatHostPort(peer.address, peer.port)) && ip)
      this.#relay.setSource(peer, writeDatagramHeader(ip, peer.port));
  }

  remove(peer: Endpoint): void {
    this.#addresses.remove(peer.address);
    if (this.#endpoints.remove(formatHostPort(peer.address, peer.port))) this.#relay.removeSource(peer);
  }
}
