// Where one association sends: names resolved, every address judged, and both kept for a short while.
// What is settled becomes a route of the relay, which then moves the datagrams by itself until the next look.

import type { PayloadInspector } from '../../core/heartbeats/heartbeat-recorder.js';
import { parseIp } from '../../core/ip.js';
import { type DatagramHeader, headerKey } from '../../core/sessions/datagram-header.js';
import type { DatagramRelay, Endpoint } from '../../core/sessions/datagram-relay.js';
import type { SocksContext } from '../context.js';
import type { ResolveResult } from '../resolve.js';
import { readTarget } from '../target.js';
import { Peers } from './peers.js';

/** How long a verdict on a destination holds, in ms: own ports, addresses and names change. */
const JUDGED_FOR_MS = 5_000;
/** The same for a name that could not be resolved. */
const UNRESOLVED_FOR_MS = 1_000;
/** Data that waits for names to be resolved, for one association; more is dropped. */
const MAX_WAITING_BYTES = 128 * 1024;
const MAX_WAITING_DATAGRAMS = 64;

export interface DestinationsOptions {
  readonly context: Pick<SocksContext, 'egress' | 'resolve' | 'allowUnderscore' | 'upstreams' | 'now'>;
  readonly accountId: string;
  readonly relay: DatagramRelay;
  readonly maxDestinations: number;
  /** The association sends to a destination for the first time. Returns what must see its first data. */
  readonly onNew: (host: string, to: Endpoint) => PayloadInspector | null;
  /** `reason` as in the log; `host` as the client wrote it. Called for every dropped datagram. */
  readonly onDropped: (reason: string, host: string, port: number) => void;
}

interface Destination {
  readonly host: string;
  readonly isName: boolean;
  readonly port: number;
  /** As the client writes it in front of standalone datagrams. */
  readonly header: Buffer;
  /** Where it leads; null while that is not known or not permitted. */
  to: Endpoint | null;
  /** Why `to` is null, once that is known. */
  refusal: string | null;
  checkedAt: number;
  validForMs: number;
  /** Data that waits for the resolver; null while it is not asked. */
  waiting: Buffer[] | null;
  isNew: boolean;
  isForgotten: boolean;
  isRouted: boolean;
  inspect: PayloadInspector | null;
}

export class Destinations {
  readonly #options: DestinationsOptions;
  /** Least recently looked at first. */
  readonly #known = new Map<number | string, Destination>();
  readonly #peers: Peers;
  #waitingBytes = 0;
  #waitingDatagrams = 0;
  #isClosed = false;

  constructor(options: DestinationsOptions) {
    this.#options = options;
    this.#peers = new Peers(options.relay);
  }

  /** Whether the association has sent to this address, on whatever port. */
  hasSentTo(address: string): boolean {
    return this.#peers.hasAddress(address);
  }

  /** Sends what follows the first `offset` bytes of `datagram` to where `header` says, now or once its name is resolved. */
  send(header: DatagramHeader, standalone: Buffer, datagram: Buffer, offset: number): void {
    const destination = this.#find(header, standalone);
    if (destination === null) return;
    const { now } = this.#options.context;
    if (Math.abs(now() - destination.checkedAt) >= destination.validForMs) this.#check(destination);
    if (destination.to !== null) this.#pass(destination, destination.to, datagram, offset);
    else if (destination.waiting !== null) this.#wait(destination, destination.waiting, datagram, offset);
    else this.#drop(destination, destination.refusal ?? 'unresolved');
  }

  /** Takes routes back whose verdict is no longer fresh: the next datagram is looked at again. Meant to be called every second. */
  refresh(now: number): void {
    for (const destination of this.#known.values()) {
      if (Math.abs(now - destination.checkedAt) >= destination.validForMs) this.#unroute(destination);
    }
  }

  /** Answers of the resolver that still come are passed over. */
  close(): void {
    this.#isClosed = true;
    this.#known.clear();
  }

  #find(header: DatagramHeader, standalone: Buffer): Destination | null {
    const key = headerKey(standalone);
    if (key === null) return null;
    const known = this.#known.get(key);
    const destination = known ?? this.#create(header, standalone);
    if (destination === null) return null;
    // Looked at now: to the end of the line.
    if (known) this.#known.delete(key);
    else if (this.#known.size >= this.#options.maxDestinations) this.#forgetOldest();
    this.#known.set(key, destination);
    return destination;
  }

  #create(header: DatagramHeader, standalone: Buffer): Destination | null {
    const { context, onDropped } = this.#options;
    const target = readTarget(header.addressType, header.address, context.allowUnderscore);
    if (!target.ok) {
      onDropped(target.reason, target.host, header.port);
      return null;
    }
    return {
      host: target.host,
      isName: target.kind === 'name',
      port: header.port,
      header: Buffer.from(standalone.subarray(0, header.length)),
      to: null,
      refusal: null,
      checkedAt: Number.NEGATIVE_INFINITY,
      validForMs: 0,
      waiting: null,
      isNew: true,
      isForgotten: false,
      isRouted: false,
      inspect: null,
    };
  }

  #check(destination: Destination): void {
    const { context, accountId } = this.#options;
    destination.checkedAt = context.now();
    destination.validForMs = JUDGED_FOR_MS;
    if (!destination.isName) return this.#choose(destination, [destination.host]);
    if (context.upstreams.selectForName(destination.host, destination.port) !== null) {
      return this.#lead(destination, null, 'upstream');
    }
    destination.waiting ??= [];
    context.resolve(destination.host, accountId, (result) => {
      if (!this.#isClosed) this.#resolved(destination, result);
    });
  }

  #resolved(destination: Destination, result: ResolveResult): void {
    const waiting = destination.waiting ?? [];
    destination.waiting = null;
    if (destination.isForgotten) this.#lead(destination, null, 'forgotten');
    else if (result.ok) this.#choose(destination, result.addresses);
    else if (result.reason === 'not-found' || destination.to === null) {
      this.#lead(destination, null, `resolve-${result.reason}`);
      destination.validForMs = UNRESOLVED_FOR_MS;
    } else this.#choose(destination, [destination.to.address]);
    for (const data of waiting) {
      this.#waitingBytes -= data.length;
      this.#waitingDatagrams -= 1;
      if (destination.to !== null) this.#pass(destination, destination.to, data, 0);
      else this.#drop(destination, destination.refusal ?? 'unresolved');
    }
  }

  /** Leads the destination to one of `addresses` that is permitted: the one in use if it still is among them. */
  #choose(destination: Destination, addresses: readonly string[]): void {
    const { host, isName, port } = destination;
    const { egress, upstreams } = this.#options.context;
    const permitted: string[] = [];
    let refusal = 'no-address';
    for (const address of addresses) {
      const ip = parseIp(address);
      if (ip === null) continue;
      const verdict = egress.judge({ host: isName ? host : null, ip, port, protocol: 'udp' });
      if (!verdict.ok) refusal = verdict.reason;
      // Past a parent proxy would be past what the operator wants.
      else if (upstreams.select(host, ip, port) !== null) refusal = 'upstream';
      else permitted.push(address);
    }
    const inUse = permitted.find((address) => address === destination.to?.address);
    // Nobody hears that a datagram was not delivered, so there is no second try: IPv4 is what every host has.
    const address = inUse ?? permitted.find((each) => !each.includes(':')) ?? permitted[0];
    if (address === undefined) this.#lead(destination, null, refusal);
    else this.#lead(destination, { address, port }, null);
  }

  #lead(destination: Destination, to: Endpoint | null, refusal: string | null): void {
    destination.refusal = refusal;
    if (to !== null && destination.to?.address === to.address) return;
    this.#unroute(destination);
    if (destination.to !== null) this.#peers.remove(destination.to);
    destination.to = to;
    if (to === null) return;
    this.#peers.add(to);
    if (!destination.isNew) return;
    destination.isNew = false;
    destination.inspect = this.#options.onNew(destination.host, to);
  }

  #pass(destination: Destination, to: Endpoint, datagram: Buffer, offset: number): void {
    const { relay } = this.#options;
    if (destination.inspect && !destination.inspect(datagram.subarray(offset))) destination.inspect = null;
    relay.sendOutside(datagram, offset, to);
    if (destination.inspect !== null || destination.isRouted) return;
    destination.isRouted = true;
    relay.setRoute(destination.header, to);
  }

  #wait(destination: Destination, waiting: Buffer[], datagram: Buffer, offset: number): void {
    const data = datagram.subarray(offset);
    const isFull =
      this.#waitingDatagrams >= MAX_WAITING_DATAGRAMS || this.#waitingBytes + data.length > MAX_WAITING_BYTES;
    if (isFull) return this.#drop(destination, 'waiting');
    this.#waitingBytes += data.length;
    this.#waitingDatagrams += 1;
    waiting.push(data);
  }

  #unroute(destination: Destination): void {
    if (!destination.isRouted) return;
    destination.isRouted = false;
    this.#options.relay.removeRoute(destination.header);
  }

  #forgetOldest(): void {
    const [oldest] = this.#known;
    if (!oldest) return;
    const [key, destination] = oldest;
    this.#known.delete(key);
    destination.isForgotten = true;
    this.#lead(destination, null, 'forgotten');
  }

  #drop({ host, port }: Destination, reason: string): void {
    this.#options.onDropped(reason, host, port);
  }
}
