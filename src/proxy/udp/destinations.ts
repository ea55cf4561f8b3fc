// The destinations of one association: resolves names, applies the egress rules to addresses, and caches both for a short
// time. A permitted direct destination becomes a route of the relay until its verdict expires.
import { type Endpoint, parseIp } from '../../core/addresses/ip.js';
import type { FlowInspector } from '../../core/egress/bittorrent.js';
import { permittedAddresses, type Refusal, readTarget } from '../connection/target.js';
import type { ResolveResult } from '../dns/messages.js';
import type { HandedDestination } from '../handover/state.js';
import { type DatagramHeader, headerKey } from '../protocols/datagram-header.js';
import { type ExitUse, leavingBy, proxiesOf } from '../upstreams/exits.js';
import type { Upstream } from '../upstreams/rules.js';
import type { WorkerHost } from '../worker/host.js';
import { Backlog } from './decisions.js';
import { Peers, type UpstreamDestination } from './sources.js';
import {
  type UpstreamAssociationContext,
  type UpstreamAssociationOptions,
  UpstreamAssociations,
  type UpstreamHop,
} from './upstream-association.js';

/** How long the verdict on a destination is valid, in ms: names, addresses and own ports change. */
const JUDGED_FOR_MS = 5_000;
/** The same for a name that could not be resolved. */
const UNRESOLVED_FOR_MS = 1_000;
/** Maximum number of datagrams of one association that wait for the resolver; more are dropped. */
const MAX_WAITING_FOR_NAMES = 64;

export interface DestinationsOptions
  extends Pick<
    UpstreamAssociationOptions,
    'egress' | 'exit' | 'client' | 'relay' | 'decisions' | 'onIgnored'
  > {
  readonly context: UpstreamAssociationContext & Pick<WorkerHost, 'upstreams'>;
  /**
   * Called for the first datagram to a destination, and when its name has another address. The address is empty when only
   * `upstream` knows it. Returns an inspector for the first data of a new one.
   */
  readonly onNew: (
    host: string,
    to: Endpoint,
    upstream: Upstream | null,
    isNew: boolean,
  ) => FlowInspector | null;
  /** Whether the guard admits a destination that is new to the association. */
  readonly mayAdd: (to: DatagramHeader) => boolean;
  /** `reason` as in the log; `host` as the client wrote it. Called for every dropped datagram. */
  readonly onDropped: (reason: Refusal, host: string, port: number) => void;
}

/** How a destination is reached. */
interface Hop {
  readonly to: Endpoint;
  /** Null: directly. */
  readonly upstream: UpstreamHop | null;
}

interface Destination extends UpstreamDestination {
  readonly isName: boolean;
  /** How the destination is reached; null while unknown or not permitted. */
  hop: Hop | null;
  /** Why `hop` is null, once that is known. */
  refusal: Refusal | null;
  checkedAt: number;
  validForMs: number;
  /** Data that waits for the resolver; null: no lookup is running. */
  waiting: Buffer[] | null;
  isNew: boolean;
  isForgotten: boolean;
  isRouted: boolean;
  inspect: FlowInspector | null;
}

export class Destinations {
  /** Least recently used first. */
  readonly #known = new Map<number | string, Destination>();
  readonly #peers: Peers;
  readonly #upstreams: UpstreamAssociations;
  readonly #waitingForNames = new Backlog(MAX_WAITING_FOR_NAMES);
  #isClosed = false;

  constructor(private readonly options: DestinationsOptions) {
    this.#peers = new Peers(options.relay);
    this.#upstreams = new UpstreamAssociations({
      ...options,
      onDropped: (reason, { host, port }) => options.onDropped(reason, host, port),
    });
  }

  /** Whether the association has sent to this address directly, to any port. */
  hasSentTo(address: string): boolean {
    return this.#peers.hasAddress(address);
  }

  /** Sends the data after `offset` in `datagram` to the destination in `header`, now or when its name is resolved. */
  send(header: DatagramHeader, standalone: Buffer, datagram: Buffer, offset: number): void {
    const key = headerKey(standalone);
    if (key === null) return;
    const known = this.#known.get(key);
    const now = this.options.context.io.now();
    const isFresh = known !== undefined && now - known.checkedAt < known.validForMs;
    if (!isFresh && !this.options.decisions.ofClients.tryAcquire())
      return this.options.onIgnored('over-share');
    if (known === undefined && !this.options.mayAdd(header))
      return this.options.onIgnored('too-many-destinations');
    const destination = known ?? this.#create(header, standalone);
    if (destination === null) return;
    this.#remember(key, destination);
    if (!isFresh) this.#check(destination, now);
    if (destination.hop !== null) this.#pass(destination, destination.hop, datagram, offset);
    else if (destination.waiting !== null) this.#wait(destination, destination.waiting, datagram, offset);
    else this.#drop(destination, destination.refusal ?? 'unresolved');
  }

  /** Removes routes whose verdict has expired: the next datagram needs a decision. Call it every second. */
  refresh(nowMs: number): void {
    for (const destination of this.#known.values()) {
      if (nowMs - destination.checkedAt >= destination.validForMs) this.#unroute(destination);
    }
  }

  /** Those that are reached directly, least recently used first. Through upstream proxies the next datagram opens a new way. */
  capture(): HandedDestination[] {
    return [...this.#known.values()].flatMap(({ hop, header, host, isName }) =>
      hop === null || hop.upstream !== null
        ? []
        : [{ header: header.toString('base64'), host, isName, to: hop.to }],
    );
  }

  /** Continues with destinations of another process: what they send goes to the client, and each is judged again when it is used. */
  continue(handed: readonly HandedDestination[]): void {
    for (const { header: base64, host, isName, to } of handed) {
      const header = Buffer.from(base64, 'base64');
      const key = headerKey(header);
      if (key === null) continue;
      this.#known.set(key, {
        ...newDestination(host, isName, to.port, header),
        hop: { to, upstream: null },
        isNew: false,
      });
      this.#peers.add(to);
    }
  }

  /** Later answers of the resolver are ignored. */
  close(): void {
    this.#isClosed = true;
    this.#known.clear();
    this.#upstreams.close();
  }

  /** Marks the destination as most recently used. */
  #remember(key: number | string, destination: Destination): void {
    if (!this.#known.delete(key) && this.#known.size >= this.options.context.settings.udp.maxDestinations) {
      this.#forgetOldest();
    }
    this.#known.set(key, destination);
  }

  #create(header: DatagramHeader, standalone: Buffer): Destination | null {
    const { context, onDropped } = this.options;
    const target = readTarget(header.addressType, header.address, context.settings.allowUnderscore);
    if (!target.ok) {
      onDropped(target.reason, target.host, header.port);
      return null;
    }
    const prefix = Buffer.from(standalone.subarray(0, header.length));
    return newDestination(target.host, target.kind === 'name', header.port, prefix);
  }

  #check(destination: Destination, now: number): void {
    const { context, client, egress, exit } = this.options;
    const { host, port } = destination;
    destination.checkedAt = now;
    destination.validForMs = JUDGED_FOR_MS;
    if (!destination.isName) return this.#choose(destination, [host]);
    const rule = context.upstreams.isEmpty ? undefined : context.upstreams.selectForName(host, port);
    const proxies = proxiesOf(rule, exit);
    if (proxies[0]?.names === 'proxy') return this.#judgeName(destination, proxies, rule ? null : exit);
    // A name that a rule denies is not looked up. Otherwise its addresses decide.
    const verdict = egress.judgeName({ host, port });
    if (!verdict.ok && verdict.reason === 'denied-by-rule') {
      return this.#setHop(destination, null, verdict);
    }
    destination.waiting ??= [];
    context.resolve(host, client, (result) => {
      if (!this.#isClosed) this.#resolved(destination, result);
    });
  }

  /** The upstream proxy resolves the name: only rules for names and ports apply. */
  #judgeName(destination: Destination, proxies: readonly Upstream[], exit: ExitUse | null): void {
    const { host, port } = destination;
    const verdict = this.options.egress.judgeName({ host, port });
    if (!verdict.ok) return this.#setHop(destination, null, verdict);
    const hop = this.#upstreams.hopTo(proxies, exit, host, port);
    this.#setHop(destination, { to: { address: '', port }, upstream: hop }, null);
  }

  #resolved(destination: Destination, result: ResolveResult): void {
    const waiting = destination.waiting ?? [];
    destination.waiting = null;
    if (destination.isForgotten) this.#setHop(destination, null, 'forgotten');
    else if (result.ok) this.#choose(destination, result.addresses);
    // When the lookup itself failed, the address in use remains, if the rules still permit it.
    else if (result.reason === 'not-found' || destination.hop === null) {
      this.#setHop(destination, null, `resolve-${result.reason}`);
      destination.validForMs = UNRESOLVED_FOR_MS;
    } else this.#choose(destination, [destination.hop.to.address]);
    for (const data of waiting) {
      this.#waitingForNames.release(data.length);
      if (destination.hop !== null) this.#pass(destination, destination.hop, data, 0);
      else this.#drop(destination, destination.refusal ?? 'unresolved');
    }
  }

  /** Selects a permitted one of `addresses`: the present one if it is still permitted. */
  #choose(destination: Destination, addresses: readonly string[]): void {
    const { host, isName, port } = destination;
    const { egress, exit, context, relay } = this.options;
    const { upstreams, exits } = context;
    const { permitted, refusal } = permittedAddresses(egress, addresses, isName ? host : null, port, 'udp');
    const inUse = destination.hop?.to.address;
    // UDP reports no failed delivery, so there is no second attempt; IPv4 works on every host.
    const first = exit?.prefersIpv6 ? ':' : '.';
    const choose = (from: readonly string[]) =>
      from.find((each) => each === inUse) ?? from.find((each) => each.includes(first)) ?? from[0];
    const address = choose(permitted);
    if (address === undefined) return this.#setHop(destination, null, refusal);
    const ruleOf = (each: string): Upstream | null | undefined => {
      const ip = upstreams.isEmpty ? null : parseIp(each);
      return ip === null ? undefined : upstreams.select(host, ip, port);
    };
    const rule = ruleOf(address);
    const proxies = proxiesOf(rule, exit);
    if (proxies.length === 0) {
      const direct = choose(leavingBy(exit, permitted).filter((each) => ruleOf(each) === rule));
      if (direct === undefined) return this.#setHop(destination, null, 'exit-without-family');
      const outside = relay.outsidePort(direct);
      if (typeof outside === 'number')
        return this.#setHop(destination, { to: { address: direct, port }, upstream: null }, null);
      exits.failed(exit?.name ?? null);
      return this.#setHop(destination, null, outside);
    }
    const upstream = this.#upstreams.hopTo(proxies, rule ? null : exit, address, port);
    this.#setHop(destination, { to: { address, port }, upstream }, null);
  }

  #setHop(destination: Destination, hop: Hop | null, refusal: Refusal | null): void {
    destination.refusal = refusal;
    const old = destination.hop;
    const via = hop?.upstream?.association;
    if (hop !== null && old?.to.address === hop.to.address && old.upstream?.association === via) return;
    this.#unroute(destination);
    if (old?.upstream) old.upstream.association.sources.remove(old.upstream.destination);
    else if (old) this.#peers.remove(old.to);
    destination.hop = hop;
    if (hop === null) return;
    if (hop.upstream) hop.upstream.association.sources.add(hop.upstream.destination);
    else this.#peers.add(hop.to);
    const { host, isNew } = destination;
    const inspect = this.options.onNew(host, hop.to, via?.upstream ?? null, isNew);
    if (isNew) destination.inspect = inspect;
    destination.isNew = false;
  }

  #pass(destination: Destination, { to, upstream }: Hop, datagram: Buffer, offset: number): void {
    const { relay } = this.options;
    const verdict = destination.inspect?.(datagram.subarray(offset)) ?? false;
    if (verdict !== true) destination.inspect = null;
    if (verdict === 'denied') {
      // As long as it is remembered.
      destination.validForMs = Number.POSITIVE_INFINITY;
      this.#setHop(destination, null, this.options.egress.bittorrent);
      return this.#drop(destination, destination.refusal ?? '');
    }
    if (upstream) return upstream.association.send(upstream.destination, datagram, offset);
    relay.sendOutside(datagram, offset, to);
    if (destination.inspect !== null || destination.isRouted) return;
    destination.isRouted = true;
    relay.setRoute(destination.header, to);
  }

  #wait(destination: Destination, waiting: Buffer[], datagram: Buffer, offset: number): void {
    if (this.#waitingForNames.tryAcquire(datagram.length - offset)) {
      waiting.push(Buffer.from(datagram.subarray(offset)));
    } else this.#drop(destination, 'waiting');
  }

  #unroute(destination: Destination): void {
    if (!destination.isRouted) return;
    destination.isRouted = false;
    this.options.relay.removeRoute(destination.header);
  }

  #forgetOldest(): void {
    const [oldest] = this.#known;
    if (!oldest) return;
    const [key, destination] = oldest;
    this.#known.delete(key);
    destination.isForgotten = true;
    this.#setHop(destination, null, 'forgotten');
  }

  #drop({ host, port }: Destination, reason: Refusal): void {
    this.options.onDropped(reason, host, port);
  }
}

function newDestination(host: string, isName: boolean, port: number, header: Buffer): Destination {
  return {
    host,
    isName,
    port,
    header,
    hop: null,
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
