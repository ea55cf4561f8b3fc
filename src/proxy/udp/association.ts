// One UDP association of a player, from its reply to its end: whose datagrams count, and what becomes of each.
import type { EgressPolicy } from '../../core/egress/egress.js';
import { formatHostPort, normalizeAddress, parseIp } from '../../core/ip.js';
import type { Account } from '../account.js';
import type { ConnectionContext } from '../context.js';
import type { DatagramRelay } from '../io/datagrams.js';
import type { Endpoint, Stream, StreamListener } from '../io/io.js';
import type { AccountRates } from '../io/rates.js';
import type { Permit } from '../permits.js';
import { type DatagramHeader, readDatagramHeader } from '../protocols/datagram-header.js';
import { Reassembly } from '../protocols/fragments.js';
import type { ReplyCode } from '../protocols/socks5.js';
import type { Session, SessionEnd, SessionOwner } from '../session.js';
import { type AccountDecisions, decisionsOf } from './decisions.js';
import { Destinations } from './destinations.js';
import { UnsolicitedSources } from './unsolicited.js';

export interface AssociationOptions {
  readonly context: AssociationContext;
  readonly request: AssociateRequest;
  /** Where the client's datagrams come from, as far as its connection tells: canonical. */
  readonly clientAddress: string;
  /** The address that the client says it will send from, canonical; null when it left that open. */
  readonly declaredAddress: string | null;
  /** Called once, when the association is over. */
  readonly onOver: () => void;
}

interface Open {
  readonly session: Session;
  readonly relay: DatagramRelay;
  readonly destinations: Destinations;
  readonly unsolicited: UnsolicitedSources;
}

export interface AssociateRequest {
  /** The control connection; its listener is replaced once the association is open. */
  readonly stream: Stream;
  readonly client: Endpoint;
  /** `client` is whom a PROXY header names. */
  readonly isProxied: boolean;
  readonly isUnix: boolean;
  /** The account was found by the client's address. */
  readonly isByAddress: boolean;
  readonly account: Account;
  /** For its session; null: none is needed. */
  readonly permit: Permit | null;
  readonly egress: EgressPolicy;
  /** DST.ADDR and DST.PORT: where the client will send from, if it knows. */
  readonly addressType: number;
  readonly address: Uint8Array;
  readonly port: number;
  /** Answers a request that cannot be served, and closes. Nothing else is called then. */
  readonly refuse: (reply: ReplyCode) => void;
  /** The association has ended and closed the stream. */
  readonly onClosed: () => void;
}

export type AssociationContext = Pick<
  ConnectionContext,
  | 'io'
  | 'settings'
  | 'resolve'
  | 'upstreams'
  | 'openSession'
  | 'associations'
  | 'ownPorts'
  | 'isLocalAddress'
  | 'fragmentMemory'
  | 'tryAcquireConnection'
  | 'log'
>;

export class Association implements SessionOwner, StreamListener {
  readonly #options: AssociationOptions;
  readonly #decisions: AccountDecisions;
  readonly #reassembly: Reassembly;
  readonly #dropped: Record<string, number> = {};
  #open: Open | null = null;
  /** The client's address and port, once a datagram has come from it. */
  #lockedTo: Endpoint | null = null;
  #datagramsSeen = 0;
  #movedAt: number;
  #isOver = false;

  constructor(options: AssociationOptions) {
    const { io, settings, fragmentMemory } = options.context;
    this.#options = options;
    this.#decisions = decisionsOf(options.request.account, settings.udp.maxDecisionsPerSecond, io);
    this.#reassembly = new Reassembly(fragmentMemory);
    this.#movedAt = io.now();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The relay is open: from now on the association belongs to `session` and to the control connection. */
  start(session: Session, relay: DatagramRelay): void {
    const { context, request } = this.#options;
    const { io, settings } = context;
    const { account, client, egress, stream } = request;
    const destinations = new Destinations({
      context,
      egress,
      client: { accountId: account.record.id, source: client.address },
      relay,
      decisions: this.#decisions,
      onNew: (host, { address, port }, via) => {
        session.via = via;
        return session.newDestination({ host, address, port });
      },
      onDropped: (reason, host, port) => this.#refused(reason, host, port),
      onIgnored: (reason) => this.#count(reason, 1),
    });
    const unsolicited = new UnsolicitedSources({
      io,
      egress,
      fullCone: settings.udp.fullCone,
      decisions: this.#decisions.ofOthers,
      hasSentTo: (address) => destinations.hasSentTo(address),
    });
    this.#open = { session, relay, destinations, unsolicited };
    session.start('');
    // Nothing is expected on the control connection; reading it is how its end is noticed.
    stream.listener = this;
    stream.keepAlive();
    stream.resume();
  }

  // ── The control connection: the association ends with it, and it with the association ────────────────────────────

  onData(): void {}

  onEnd(): void {
    this.end('client-closed');
  }

  onFailed(): void {
    this.end('client-closed');
  }

  // ── The session's owner ──────────────────────────────────────────────────────────────────────────────────────────

  tick(nowMs: number): void {
    if (this.#open === null) return;
    const { relay, destinations } = this.#open;
    const datagrams = relay.counts.datagramsUp + relay.counts.datagramsDown;
    if (datagrams !== this.#datagramsSeen) {
      this.#datagramsSeen = datagrams;
      this.#movedAt = nowMs;
    } else if (nowMs - this.#movedAt >= this.#options.context.settings.udp.idleTimeoutMs) {
      return this.end('idle-timeout');
    }
    this.#count('fragments', this.#reassembly.expire(nowMs));
    relay.watchClient(this.#reassembly.isActive);
    destinations.refresh(nowMs);
  }

  setRates(rates: AccountRates | null): void {
    this.#open?.relay.setRates(rates);
  }

  end(reason: SessionEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { request, onOver } = this.#options;
    request.stream.close();
    this.#reassembly.abandon();
    if (this.#open !== null) {
      const { session, relay, destinations } = this.#open;
      relay.close();
      destinations.close();
      const { datagramsUp, datagramsDown, unsendable, overRate } = relay.counts;
      this.#count('unsendable', unsendable);
      this.#count('over-rate', overRate);
      session.finish(reason, { datagramsUp, datagramsDown, dropped: this.#dropped });
    }
    onOver();
  }

  // ── Datagrams that the engine has no route or source for ─────────────────────────────────────────────────────────

  readonly onClientDatagram = (datagram: Buffer, from: Endpoint): void => {
    if (this.#open === null) return;
    const isKnown = this.#lockedTo?.port === from.port && this.#lockedTo.address === from.address;
    if (!isKnown) {
      if (!this.#decisions.ofOthers.tryAcquire()) return this.#count('over-share', 1);
      if (!this.#isClient(from)) return this.#count('stranger', 1);
    }
    const header = readDatagramHeader(datagram);
    if (header === null) return this.#count('malformed', 1);
    const { relay, destinations } = this.#open;
    // The first port that speaks SOCKS; later another one of the same address, since consoles and browsers change theirs.
    if (!isKnown) {
      this.#lockedTo = { address: from.address, port: from.port };
      relay.setClient(this.#lockedTo);
    }
    if (header.fragment !== 0) return this.#takeFragment(relay, destinations, datagram, header);
    // RFC 1928 §7: a lower FRAG than the highest so far, and 0 is lower than all, gives the sequence up.
    if (this.#reassembly.isActive) {
      this.#count('fragments', this.#reassembly.abandon());
      relay.watchClient(false);
    }
    destinations.send(header, datagram, datagram, header.length);
  };

  readonly onOutsideDatagram = (data: Buffer, from: Endpoint): void => {
    if (this.#open === null || this.#lockedTo === null) return this.#count('unsolicited', 1);
    const header = this.#open.unsolicited.headerFor(from);
    if (typeof header === 'string') this.#count(header, 1);
    else this.#open.relay.sendToClient(header, data);
  };

  #takeFragment(
    relay: DatagramRelay,
    destinations: Destinations,
    datagram: Buffer,
    header: DatagramHeader,
  ): void {
    if (!this.#decisions.ofClients.tryAcquire()) return this.#count('over-share', 1);
    const { data, lost } = this.#reassembly.add(datagram, header, this.#options.context.io.now());
    this.#count('fragments', lost);
    // While a sequence waits, standalone datagrams must be seen too.
    relay.watchClient(this.#reassembly.isActive);
    if (data === null) return;
    const standalone = Buffer.from(datagram.subarray(0, header.length));
    standalone[2] = 0;
    destinations.send(header, standalone, data, 0);
  }

  #isClient(from: Endpoint): boolean {
    const { context, clientAddress, declaredAddress } = this.#options;
    const address = normalizeAddress(from.address);
    if (this.#lockedTo !== null && normalizeAddress(this.#lockedTo.address) !== address) return false;
    if (address !== clientAddress && address !== declaredAddress) return false;
    // What a player sends to us through the proxy is not from its own client, though it may come from that address.
    const ip = parseIp(address);
    const isOurs = (): boolean => context.ownPorts.has('udp-outside', from.port);
    return ip !== null && !(isOurs() && context.isLocalAddress(ip));
  }

  /** The first destination that is refused is logged, so that a player can be helped; the rest is only counted. */
  #refused(reason: string, host: string, port: number): void {
    if (this.#dropped[reason] === undefined) {
      const { context, request } = this.#options;
      context.log.info(
        {
          account: request.account.record.username,
          client: request.client.address,
          destination: formatHostPort(host, port),
          protocol: 'udp',
          reason,
        },
        'destination refused',
      );
    }
    this.#count(reason, 1);
  }

  #count(reason: string, datagrams: number): void {
    if (datagrams > 0) this.#dropped[reason] = (this.#dropped[reason] ?? 0) + datagrams;
  }
}
