// Where one association sends: names resolved, every address judged, and both kept for a short while.
// Direct ones that are settled become routes of the relay, which then moves the datagrams by itself until the next look.

import type { PayloadInspector } from '../../core/heartbeats/heartbeat-recorder.js';
import { parseIp } from '../../core/ip.js';
import { type DatagramHeader, headerKey } from '../../core/sessions/datagram-header.js';
import type { DatagramRelay, Endpoint } from '../../core/sessions/datagram-relay.js';
import type { SocksContext } from '../context.js';
import { permittedAddresses } from '../permitted.js';
import type { ResolveResult } from '../resolve.js';
import { readTarget } from '../target.js';
import type { Upstream } from '../upstreams.js';
import { Backlog } from './backlog.js';
import type { ParentContext, ParentWay } from './parent.js';
import type { ThroughParent } from './parent-sources.js';
import { Parents } from './parents.js';
import { Peers } from './peers.js';

/** How long a verdict on a destination holds, in ms: own ports, addresses and names change. */
const JUDGED_FOR_MS = 5_000;
/** The same for a name that could not be resolved. */
const UNRESOLVED_FOR_MS = 1_000;
/** Datagrams of one association that wait for names to be resolved; more are dropped. */
const MAX_WAITING_FOR_NAMES = 64;

export interface DestinationsOptions {
  readonly context: ParentContext & Pick<SocksContext, 'allowUnderscore' | 'upstreams'>;
  readonly accountId: string;
  readonly relay: DatagramRelay;
  /**
   * The association sends to a destination for the first time; its address is empty when only a parent knows it, and
   * `via` names that parent. Returns what must see its first data.
   */
  readonly onNew: (host: string, to: Endpoint, via: string | null) => PayloadInspector | null;
  /** `reason` as in the log; `host` as the client wrote it. Called for every dropped datagram. */
  readonly onDropped: (reason: string, host: string, port: number) => void;
  /** A datagram that a parent brought and that is not for the client. */
  readonly onIgnored: (reason: string) => void;
}

/** The way to a destination. */
interface Lead {
  readonly to: Endpoint;
  /** The parent proxy that takes datagrams there, and as what; null: they go directly. */
  readonly by: { readonly parent: ParentWay; readonly as: ThroughParent } | null;
}

interface Destination {
  readonly host: string;
  readonly isName: boolean;
  readonly port: number;
  /** As the client writes it in front of standalone datagrams. */
  readonly header: Buffer;
  /** Where datagrams go; null while that is not known or not permitted. */
  lead: Lead | null;
  /** Why `lead` is null, once that is known. */
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
  readonly #parents: Parents;
  readonly #waitingForNames = new Backlog(MAX_WAITING_FOR_NAMES);
  #isClosed = false;

  constructor(options: DestinationsOptions) {
    this.#options = options;
    this.#peers = new Peers(options.relay);
    this.#parents = new Parents({
      ...options,
      onDropped: (reason, { host, port }) => options.onDropped(reason, host, port),
    });
  }

  /** Whether the association has sent to this address directly, on whatever port. */
  hasSentTo(address: string): boolean {
    return this.#peers.hasAddress(address);
  }

  /** Sends what follows the first `offset` bytes of `datagram` to where `header` says, now or once its name is resolved. */
  send(header: DatagramHeader, standalone: Buffer, datagram: Buffer, offset: number): void {
    const destination = this.#find(header, standalone);
    if (destination === null) return;
    const { now } = this.#options.context;
    if (Math.abs(now() - destination.checkedAt) >= destination.validForMs) this.#check(destination);
    if (destination.lead !== null) this.#pass(destination, destination.lead, datagram, offset);
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
    this.#parents.close();
  }

  #find(header: DatagramHeader, standalone: Buffer): Destination | null {
    const key = headerKey(standalone);
    if (key === null) return null;
    const known = this.#known.get(key);
    const destination = known ?? this.#create(header, standalone);
    if (destination === null) return null;
    // Looked at now: to the end of the line.
    if (known) this.#known.delete(key);
    else if (this.#known.size >= this.#options.context.udp.maxDestinations) this.#forgetOldest();
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
      lead: null,
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
    const upstream = context.upstreams.selectForName(destination.host, destination.port);
    if (upstream !== null) return this.#judgeName(destination, upstream);
    destination.waiting ??= [];
    context.resolve(destination.host, accountId, (result) => {
      if (!this.#isClosed) this.#resolved(destination, result);
    });
  }

  /** The parent resolves the name: it is judged by what is known of it here. */
  #judgeName(destination: Destination, upstream: Upstream): void {
    const { host, port } = destination;
    const verdict = this.#options.context.egress.judgeName({ host, port });
    if (!verdict.ok) return this.#lead(destination, null, verdict.reason);
    const by = this.#parents.through(upstream, host, port);
    this.#lead(destination, { to: { address: '', port }, by }, null);
  }

  #resolved(destination: Destination, result: ResolveResult): void {
    const waiting = destination.waiting ?? [];
    destination.waiting = null;
    if (destination.isForgotten) this.#lead(destination, null, 'forgotten');
    else if (result.ok) this.#choose(destination, result.addresses);
    else if (result.reason === 'not-found' || destination.lead === null) {
      this.#lead(destination, null, `resolve-${result.reason}`);
      destination.validForMs = UNRESOLVED_FOR_MS;
    } else this.#choose(destination, [destination.lead.to.address]);
    for (const data of waiting) {
      this.#waitingForNames.release(data.length);
      if (destination.lead !== null) this.#pass(destination, destination.lead, data, 0);
      else this.#drop(destination, destination.refusal ?? 'unresolved');
    }
  }

  /** Leads the destination to one of `addresses` that is permitted: the one in use if it still is among them. */
  #choose(destination: Destination, addresses: readonly string[]): void {
    const { host, isName, port } = destination;
    const { egress, upstreams } = this.#options.context;
    const { permitted, refusal } = permittedAddresses(egress, addresses, isName ? host : null, port, 'udp');
    const inUse = permitted.find((address) => address === destination.lead?.to.address);
    // Nobody hears that a datagram was not delivered, so there is no second try: IPv4 is what every host has.
    const address = inUse ?? permitted.find((each) => !each.includes(':')) ?? permitted[0];
    if (address === undefined) return this.#lead(destination, null, refusal);
    const ip = upstreams.isEmpty ? null : parseIp(address);
    const upstream = ip === null ? null : upstreams.select(host, ip, port);
    const by = upstream === null ? null : this.#parents.through(upstream, address, port);
    this.#lead(destination, { to: { address, port }, by }, null);
  }

  #lead(destination: Destination, lead: Lead | null, refusal: string | null): void {
    destination.refusal = refusal;
    const old = destination.lead;
    if (lead !== null && old?.to.address === lead.to.address && old.by?.parent === lead.by?.parent) return;
    this.#unroute(destination);
    if (old?.by) old.by.parent.sources.remove(old.by.as);
    else if (old) this.#peers.remove(old.to);
    destination.lead = lead;
    if (lead === null) return;
    if (lead.by) lead.by.parent.sources.add(lead.by.as);
    else this.#peers.add(lead.to);
    if (!destination.isNew) return;
    destination.isNew = false;
    destination.inspect = this.#options.onNew(destination.host, lead.to, lead.by?.parent.name ?? null);
  }

  #pass(destination: Destination, { to, by }: Lead, datagram: Buffer, offset: number): void {
    const { relay } = this.#options;
    if (destination.inspect && !destination.inspect(datagram.subarray(offset))) destination.inspect = null;
    if (by) return by.parent.send(by.as, datagram, offset);
    relay.sendOutside(datagram, offset, to);
    if (destination.inspect !== null || destination.isRouted) return;
    destination.isRouted = true;
    relay.setRoute(destination.header, to);
  }

  #wait(destination: Destination, waiting: Buffer[], datagram: Buffer, offset: number): void {
    const data = datagram.subarray(offset);
    if (this.#waitingForNames.hold(data.length)) waiting.push(data);
    else this.#drop(destination, 'waiting');
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
