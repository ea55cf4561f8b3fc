// One association's own association at an upstream proxy, the client's side of RFC 1928 §6 and §7: opened by the first
// datagram that needs it, closed when the proxy ends its control connection, and then opened again by the next one.
import { isIPv6 } from 'node:net';
import { type Endpoint, normalizeAddress, parseIp, unmap } from '../../core/addresses/ip.js';
import type { EgressPolicy } from '../../core/egress/egress.js';
import type { ResolveClient } from '../dns/messages.js';
import type { DatagramRelay, UpstreamSocket } from '../io/datagrams.js';
import type { Attempt, Stream } from '../io/io.js';
import { readDatagramHeader } from '../protocols/datagram-header.js';
import { destinationFields } from '../protocols/socks5-client.js';
import { askUpstreams } from '../upstreams/ask.js';
import type { ExitUse } from '../upstreams/exits.js';
import type { Upstream } from '../upstreams/rules.js';
import type { WorkerHost } from '../worker/host.js';
import { type AccountDecisions, Backlog } from './decisions.js';
import { type UpstreamDestination, UpstreamSources } from './sources.js';

/** Minimum time between two attempts to open an association at a proxy, in ms; doubled after each failure. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** The address of a client that does not know it yet (RFC 1928 §4); NAT may change it anyway. */
const UNKNOWN_SOURCE = { host: '0.0.0.0', port: 0 };

export type UpstreamAssociationContext = Pick<
  WorkerHost,
  'io' | 'resolve' | 'exits' | 'settings' | 'connections'
>;

export interface UpstreamAssociationOptions {
  /** In their order; at least one. */
  readonly upstreams: readonly Upstream[];
  /** Where connections and datagrams to them leave from; null: as the system chooses. */
  readonly exit: ExitUse | null;
  readonly context: UpstreamAssociationContext;
  readonly egress: EgressPolicy;
  readonly client: ResolveClient;
  readonly relay: DatagramRelay;
  readonly decisions: AccountDecisions;
  /** Limits the datagrams that wait for a proxy; shared by all upstream proxies of an association. */
  readonly backlog: Backlog;
  /** A datagram of the client that could not be sent; `reason` as in the log. */
  readonly onDropped: (reason: string, to: UpstreamDestination) => void;
  /** A datagram from outside that is not for the client. */
  readonly onIgnored: (reason: string) => void;
}

interface Waiting {
  readonly to: UpstreamDestination;
  readonly data: Buffer;
}

class UpstreamAssociation {
  /** The upstream proxy; before one has answered, the first. */
  upstream: Upstream | null;
  readonly sources: UpstreamSources;
  #open: { readonly control: Stream; readonly socket: UpstreamSocket } | null = null;
  /** Datagrams that wait for the proxy; null: no request is running. */
  #waiting: Waiting[] | null = null;
  #attempt: Attempt | null = null;
  #releaseConnection: (() => void) | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  /** Why there is no association, during a pause. */
  #failure = '';

  constructor(private readonly options: UpstreamAssociationOptions) {
    const { upstreams, egress, context } = options;
    this.upstream = upstreams[0] ?? null;
    this.sources = new UpstreamSources(egress, context.settings.udp.fullCone);
  }

  /** Sends the data after `offset` in `datagram`, now or when the proxy has accepted the request. */
  send(to: UpstreamDestination, datagram: Buffer, offset: number): void {
    if (this.#open !== null) return this.#open.socket.send(to.header, datagram, offset);
    if (this.#waiting === null && this.#mayAsk()) this.#ask();
    // The request may have finished synchronously.
    if (this.#open !== null) return this.send(to, datagram, offset);
    if (this.#waiting === null) return this.options.onDropped(this.#failure, to);
    if (!this.options.backlog.tryAcquire(datagram.length - offset)) {
      return this.options.onDropped('waiting', to);
    }
    this.#waiting.push({ to, data: Buffer.from(datagram.subarray(offset)) });
  }

  /** The association has ended. */
  close(): void {
    this.#attempt?.cancel();
    this.#attempt = null;
    this.#takeWaiting();
    this.#shut();
  }

  #mayAsk(): boolean {
    return this.options.context.io.now() - this.#askedAt >= this.#pauseMs;
  }

  #ask(): void {
    const { upstreams, exit, context, egress, client } = this.options;
    this.#askedAt = context.io.now();
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, this.#pauseMs * 2));
    this.#waiting = [];
    // A control connection and a socket: as many descriptors as a CONNECT.
    this.#releaseConnection = context.connections.tryAcquire();
    if (this.#releaseConnection === null) return this.#failed('max-connections');
    const attempt = askUpstreams(
      {
        upstreams,
        exit,
        command: 'associate',
        destination: UNKNOWN_SOURCE,
        client,
        onConnected: (control, bound, _ahead, upstream) => {
          this.upstream = upstream;
          this.#accepted(control, bound);
        },
        onFailed: (_reply, reason) => this.#failed(reason),
      },
      { ...context, egress, connectTimeoutMs: context.settings.connectTimeoutMs },
    );
    if (this.#waiting !== null) this.#attempt = attempt;
  }

  #accepted(control: Stream, bound: Endpoint): void {
    this.#attempt = null;
    const to = { address: relayAddress(control, bound.address), port: bound.port };
    const socket = this.#mayBeRelay(control, to) ? this.#openSocket(control, to) : 'upstream-relay';
    if (typeof socket === 'string') {
      control.close();
      return this.#failed(socket);
    }
    this.#open = { control, socket };
    this.#pauseMs = SHORTEST_PAUSE_MS;
    control.keepAlive();
    const onClosed = (): void => this.#controlClosed();
    // The proxy sends nothing on it; it is read to detect its end.
    control.listener = { onData() {}, onEnd: onClosed, onFailed: onClosed };
    control.resume();
    for (const { to: destination, data } of this.#takeWaiting()) socket.send(destination.header, data, 0);
  }

  #openSocket(control: Stream, to: Endpoint): UpstreamSocket | string {
    const local = control.local.address;
    const isOfFamily = isIPv6(local) === isIPv6(to.address);
    const { exit, relay } = this.options;
    const end = (isIPv6(to.address) ? exit?.ipv6 : exit?.ipv4) ?? null;
    if (exit !== null && end === null) return 'exit-without-family';
    const everyAddress = isIPv6(to.address) ? '::' : '0.0.0.0';
    // Many proxies accept datagrams only from the address of the control connection.
    const bindAddress = isOfFamily ? local : (end?.address ?? everyAddress);
    const onDatagram = (datagram: Buffer, from: Endpoint): void => this.#onDatagram(datagram, from, to);
    return relay.openUpstream({ bindAddress, end, to, onDatagram }) ?? 'no-port';
  }

  /** A proxy may have its relay at another address, but a malicious one could name a target that it wants us to reach. */
  #mayBeRelay(control: Stream, { address, port }: Endpoint): boolean {
    const ip = parseIp(address);
    if (ip === null || port === 0) return false;
    const verdict = this.options.egress.judge({ host: null, ip, port, protocol: 'udp' });
    if (verdict.ok || verdict.reason === 'private' || verdict.reason === 'denied-by-rule') return true;
    return verdict.reason === 'always-denied' && normalizeAddress(address) === proxyAddress(control);
  }

  #onDatagram(datagram: Buffer, from: Endpoint, proxy: Endpoint): void {
    const { relay, decisions, onIgnored } = this.options;
    if (!isSame(from, proxy)) return onIgnored('unsolicited');
    const header = readDatagramHeader(datagram);
    if (header === null) return onIgnored('upstream-malformed');
    if (header.fragment !== 0) return onIgnored('upstream-fragment');
    const data = datagram.subarray(header.length);
    if (this.sources.hasExactly(datagram)) {
      return relay.sendToClient(datagram.subarray(0, header.length), data);
    }
    if (!decisions.ofOthers.tryAcquire()) return onIgnored('over-share');
    const forClient = this.sources.headerFor(header);
    if (forClient === null) return onIgnored('unsolicited');
    relay.sendToClient(forClient, data);
  }

  #controlClosed(): void {
    this.#shut();
    this.#failure = 'upstream-closed';
  }

  #failed(reason: string): void {
    this.#attempt = null;
    this.#failure = reason;
    const { context, onDropped } = this.options;
    if (reason !== 'max-connections') context.exits.failed(this.upstream?.exit ?? null);
    this.#shut();
    for (const { to } of this.#takeWaiting()) onDropped(reason, to);
  }

  #takeWaiting(): readonly Waiting[] {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const { data } of waiting) this.options.backlog.release(data.length);
    return waiting;
  }

  #shut(): void {
    this.#open?.control.close();
    this.#open?.socket.close();
    this.#open = null;
    this.#releaseConnection?.();
    this.#releaseConnection = null;
  }
}

/** Where datagrams to the proxy go, from BND.ADDR of its reply. All zeros (also used for a name) mean the proxy's own address. */
function relayAddress(control: Stream, boundAddress: string): string {
  const ip = parseIp(boundAddress);
  const isUnspecified = ip === null || unmap(ip).every((byte) => byte === 0);
  // The proxy's own address as the system writes it may have a zone.
  const isOwn = isUnspecified || boundAddress === proxyAddress(control);
  return isOwn ? control.peer.address : boundAddress;
}

const proxyAddress = (control: Stream): string => normalizeAddress(control.peer.address);

function isSame(from: Endpoint, to: Endpoint): boolean {
  if (from.port !== to.port) return false;
  return from.address === to.address || normalizeAddress(from.address) === normalizeAddress(to.address);
}

/** The way to a destination through an upstream proxy. */
export interface UpstreamHop {
  readonly association: UpstreamAssociation;
  readonly destination: UpstreamDestination;
}

type SharedOptions = Omit<UpstreamAssociationOptions, 'upstreams' | 'backlog'>;

export class UpstreamAssociations {
  readonly #backlog: Backlog;
  /** By address and credentials of the proxy: several rules may name the same proxy. */
  readonly #associations = new Map<string, UpstreamAssociation>();

  constructor(private readonly options: SharedOptions) {
    this.#backlog = new Backlog(options.context.settings.udp.maxWaitingForUpstream);
  }

  /** The way to a destination: `host` is an address, or a name that the upstream proxy resolves. */
  hopTo(upstreams: readonly Upstream[], exit: ExitUse | null, host: string, port: number): UpstreamHop {
    const key = JSON.stringify([
      exit?.name,
      upstreams.map((each) => [each.exit, each.host, each.port, each.login]),
    ]);
    const association =
      this.#associations.get(key) ??
      new UpstreamAssociation({ ...this.options, upstreams, exit, backlog: this.#backlog });
    this.#associations.set(key, association);
    // RSV and FRAG are zero; the rest is as in a request.
    const header = Buffer.concat([Buffer.alloc(3), destinationFields(host, port)]);
    return { association, destination: { host, port, header } };
  }

  close(): void {
    for (const association of this.#associations.values()) association.close();
    this.#associations.clear();
  }
}
