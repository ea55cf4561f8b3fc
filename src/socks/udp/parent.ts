// The way of one association through a parent proxy, the client's side of RFC 1928 §6 and §7: opened by the first
// datagram that needs it, closed when the parent ends its control connection, and then opened again by the next one.
import { isIPv6, type Socket } from 'node:net';
import { formatHostPort, normalizeAddress, parseIp, unmap, withoutMapping } from '../../core/ip.js';
import { readDatagramHeader } from '../../core/sessions/datagram-header.js';
import type { DatagramRelay, Endpoint, ParentSocket } from '../../core/sessions/datagram-relay.js';
import type { SocksContext } from '../context.js';
import { keepAlive } from '../keep-alive.js';
import { askUpstream } from '../upstream.js';
import type { Upstream } from '../upstreams.js';
import type { Backlog } from './backlog.js';
import { ParentSources, type ThroughParent } from './parent-sources.js';

/** The least time from asking a parent to asking it again, in ms; doubled for each time it fails in between. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** What the client says of itself where it does not know yet (RFC 1928 §4); a translator may change it anyway. */
const UNKNOWN_SOURCE = { host: '0.0.0.0', port: 0 };

export type ParentContext = Pick<
  SocksContext,
  'egress' | 'resolve' | 'connectTimeoutMs' | 'takeConnection' | 'now' | 'udp'
>;

export interface ParentOptions {
  readonly upstream: Upstream;
  readonly context: ParentContext;
  readonly accountId: string;
  readonly relay: DatagramRelay;
  /** Bounds what waits while the parent is asked; shared by the parents of an association. */
  readonly backlog: Backlog;
  /** A datagram of the client that could not be sent; `reason` as in the log. */
  readonly onDropped: (reason: string, to: ThroughParent) => void;
  /** A datagram that came from outside and is not for the client. */
  readonly onIgnored: (reason: string) => void;
}

interface OpenWay {
  readonly control: Socket;
  readonly socket: ParentSocket;
}

interface Waiting {
  readonly to: ThroughParent;
  readonly data: Buffer;
}

export class ParentWay {
  /** `host:port` of the parent. */
  readonly name: string;
  readonly sources: ParentSources;
  readonly #options: ParentOptions;
  #way: OpenWay | null = null;
  /** What waits while the parent is asked; null while it is not. */
  #waiting: Waiting[] | null = null;
  #giveUp: (() => void) | null = null;
  #giveBack: (() => void) | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  /** Why there is no way, during a pause. */
  #failure = '';

  constructor(options: ParentOptions) {
    const { upstream, context } = options;
    this.#options = options;
    this.name = formatHostPort(upstream.host, upstream.port);
    this.sources = new ParentSources(context.egress, context.udp.fullCone);
  }

  /** Sends what follows the first `offset` bytes of `datagram`, now or once the parent has agreed. */
  send(to: ThroughParent, datagram: Buffer, offset: number): void {
    if (this.#way !== null) return this.#way.socket.send(to.header, datagram, offset);
    if (this.#waiting === null && this.#mayAsk()) this.#ask();
    // It may have failed at once.
    if (this.#waiting === null) return this.#options.onDropped(this.#failure, to);
    const data = datagram.subarray(offset);
    if (this.#options.backlog.hold(data.length)) this.#waiting.push({ to, data });
    else this.#options.onDropped('waiting', to);
  }

  /** For good: the association has ended. */
  close(): void {
    this.#giveUp?.();
    this.#waiting = null;
    this.#shut();
  }

  #mayAsk(): boolean {
    return Math.abs(this.#options.context.now() - this.#askedAt) >= this.#pauseMs;
  }

  #ask(): void {
    const { upstream, context, accountId } = this.#options;
    this.#askedAt = context.now();
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, this.#pauseMs * 2));
    this.#waiting = [];
    // A control connection and a socket: what a CONNECT holds.
    this.#giveBack = context.takeConnection();
    if (this.#giveBack === null) return this.#failed('max-connections');
    const giveUp = askUpstream(
      {
        upstream,
        command: 'associate',
        destination: UNKNOWN_SOURCE,
        onConnected: (control, address, port) => this.#agreed(control, address, port),
        onFailed: (_reply, reason) => this.#failed(reason),
      },
      accountId,
      context,
    );
    if (this.#waiting !== null) this.#giveUp = giveUp;
  }

  #agreed(control: Socket, boundAddress: string, boundPort: number): void {
    this.#giveUp = null;
    const to = { address: relayAddress(control, boundAddress), port: boundPort };
    const socket = this.#mayBeRelay(control, to) ? this.#open(control, to) : 'upstream-relay';
    if (typeof socket === 'string') {
      control.destroy();
      return this.#failed(socket);
    }
    this.#way = { control, socket };
    keepAlive(control);
    this.#pauseMs = SHORTEST_PAUSE_MS;
    control.once('end', this.#onControlClosed).once('close', this.#onControlClosed);
    // Nothing is expected on it; reading it is how its end is noticed.
    control.resume();
    for (const { to: destination, data } of this.#endWait()) socket.send(destination.header, data, 0);
  }

  #open(control: Socket, to: Endpoint): ParentSocket | string {
    const local = withoutMapping(control.localAddress ?? '');
    const isOfFamily = isIPv6(local) === isIPv6(to.address);
    // Many parents take datagrams only from the address that the control connection came from.
    const bindAddress = isOfFamily ? local : isIPv6(to.address) ? '::' : '0.0.0.0';
    const onDatagram = (datagram: Buffer, from: Endpoint): void => this.#onDatagram(datagram, from, to);
    return this.#options.relay.openParent({ bindAddress, to, onDatagram }) ?? 'no-port';
  }

  /** A parent may have its relay elsewhere, but where no parent can be it would use us to reach others. */
  #mayBeRelay(control: Socket, { address, port }: Endpoint): boolean {
    const ip = parseIp(address);
    if (ip === null || port === 0) return false;
    const verdict = this.#options.context.egress.judge({ host: null, ip, port, protocol: 'udp' });
    if (verdict.ok || verdict.reason === 'private' || verdict.reason === 'denied-by-rule') return true;
    return verdict.reason === 'always-denied' && normalizeAddress(address) === parentAddress(control);
  }

  #onDatagram(datagram: Buffer, from: Endpoint, parent: Endpoint): void {
    const { relay, onIgnored } = this.#options;
    if (!isSame(from, parent)) return onIgnored('unsolicited');
    const header = readDatagramHeader(datagram);
    if (header === null) return onIgnored('upstream-malformed');
    if (header.fragment !== 0) return onIgnored('upstream-fragment');
    const forClient = this.sources.headerFor(header, datagram);
    if (forClient === null) return onIgnored('unsolicited');
    relay.sendToClient(forClient, datagram.subarray(header.length));
  }

  readonly #onControlClosed = (): void => {
    this.#shut();
    this.#failure = 'upstream-closed';
  };

  #failed(reason: string): void {
    this.#giveUp = null;
    this.#failure = reason;
    this.#shut();
    for (const { to } of this.#endWait()) this.#options.onDropped(reason, to);
  }

  #endWait(): readonly Waiting[] {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const { data } of waiting) this.#options.backlog.release(data.length);
    return waiting;
  }

  #shut(): void {
    const way = this.#way;
    this.#way = null;
    if (way) {
      way.control.off('end', this.#onControlClosed).off('close', this.#onControlClosed).destroy();
      way.socket.close();
    }
    this.#giveBack?.();
    this.#giveBack = null;
  }
}

/** BND.ADDR as where to send; all zeros (and a name, which is read as them) stand for the parent's own address. */
function relayAddress(control: Socket, boundAddress: string): string {
  const ip = parseIp(boundAddress);
  const isOpen = ip === null || unmap(ip).every((byte) => byte === 0);
  // The parent's own address as the system writes it may have a zone.
  const isOwn = isOpen || boundAddress === parentAddress(control);
  return isOwn ? withoutMapping(control.remoteAddress ?? '') : boundAddress;
}

function parentAddress(control: Socket): string {
  return normalizeAddress(control.remoteAddress ?? '');
}

function isSame(from: Endpoint, to: Endpoint): boolean {
  if (from.port !== to.port) return false;
  return from.address === to.address || normalizeAddress(from.address) === normalizeAddress(to.address);
}
