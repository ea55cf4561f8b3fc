// One UDP association of a player, from its reply to its end: checks the sources of datagrams and decides about each.
import { type Endpoint, formatHostPort, normalizeAddress, parseIp } from '../../core/addresses/ip.js';
import { inspectDatagrams } from '../../core/egress/bittorrent.js';
import type { DatagramDestination, SessionEnd } from '../../core/sessions/session.js';
import type { AuthorizedRequest } from '../connection/running-command.js';
import { type Refusal, refusalFields } from '../connection/target.js';
import type { HandedAssociation } from '../handover/state.js';
import type { DatagramRelay } from '../io/datagrams.js';
import type { Stream, StreamListener } from '../io/io.js';
import type { AccountRates } from '../io/rates.js';
import { type DatagramHeader, readDatagramHeader } from '../protocols/datagram-header.js';
import { Reassembly } from '../protocols/fragments.js';
import type { WorkerHost } from '../worker/host.js';
import type { SessionTransfer, WorkerSession } from '../worker/session.js';
import { type AccountDecisions, decisionsOf, UnsolicitedSources } from './decisions.js';
import { Destinations } from './destinations.js';

const DNS_PORT = 53;
/** Datagrams of one DNS question: a name's IPv4 and its IPv6 addresses. */
const MAX_QUESTIONS = 2;

export interface AssociationOptions {
  readonly context: WorkerHost;
  readonly request: AssociatedClient;
  /** The expected source address of the client's datagrams, from its connection; canonical. */
  readonly clientAddress: string;
  /** The source address that the client declared, canonical; null: none. */
  readonly declaredAddress: string | null;
  /** Called once, when the association has ended. */
  readonly onOver: () => void;
}

interface Open {
  readonly session: WorkerSession;
  readonly relay: DatagramRelay;
  readonly destinations: Destinations;
  readonly unsolicited: UnsolicitedSources;
}

/** Whose an association is, and how it leaves. */
export interface AssociatedClient extends Pick<AuthorizedRequest, 'account' | 'egress' | 'exit'> {
  /** The control connection; its listener is replaced once the association is open. */
  readonly stream: Stream;
  readonly client: Endpoint;
}

export class Association implements SessionTransfer, StreamListener {
  readonly #decisions: AccountDecisions;
  readonly #reassembly: Reassembly;
  readonly #dropped: Record<string, number> = {};
  /** The first ones, and one more than are recorded. */
  readonly #destinations: DatagramDestination[] = [];
  #open: Open | null = null;
  /** The client's address and port, once a datagram has come from it. */
  #lockedTo: Endpoint | null = null;
  #datagramsSeen = 0;
  #movedAt: number;
  /** No datagram has gone to another port than that of DNS. */
  #isOnlyDns = true;
  #isOver = false;

  constructor(private readonly options: AssociationOptions) {
    const { io, settings, fragmentMemory } = options.context;
    this.#decisions = decisionsOf(options.request.account, settings.udp.maxDecisionsPerSecond, io);
    this.#reassembly = new Reassembly(fragmentMemory);
    this.#movedAt = io.now();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * The relay is open: from now on `session` and the control connection hold the association.
   * @param handed what another process knew of it; null: it is new
   */
  start(
    session: WorkerSession,
    relay: DatagramRelay,
    handed: Omit<HandedAssociation<unknown>, 'session'> | null = null,
  ): void {
    const { context, request } = this.options;
    const { io, settings } = context;
    const { account, client, egress, exit, stream } = request;
    const destinations = new Destinations({
      context,
      egress,
      exit,
      client: context.guards.lookupsOf(account, client.address),
      relay,
      decisions: this.#decisions,
      onNew: (host, { address, port }, upstream, isNew) => {
        if (port !== DNS_PORT) this.#isOnlyDns = false;
        const end = address.includes(':') ? exit?.ipv6 : exit?.ipv4;
        const outgoing = upstream
          ? null
          : { address: end?.address ?? '', port: Number(relay.outsidePort(address)) };
        const via = upstream && formatHostPort(upstream.host, upstream.port);
        const leaves = upstream?.exit ?? exit?.name ?? null;
        const destination = { host, address, port, outgoing, via, exit: leaves };
        if (this.#destinations.length <= settings.udp.recordedDestinations)
          this.#destinations.push(destination);
        const inspect = session.newDestination(destination, isNew);
        if (egress.bittorrent === null || !isNew) return inspect;
        return inspectDatagrams(
          () => context.guards.note(account, 'bittorrent', true, client.address),
          inspect,
        );
      },
      mayAdd: (to) => context.guards.admit(account, 'datagram', to, client.address) === null,
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
    if (handed === null) session.start('', null);
    else this.#continue(relay, destinations, handed);
    // The client sends nothing on the control connection; it is read to detect its end.
    stream.listener = this;
    stream.keepAlive();
    stream.resume();
  }

  #continue(
    relay: DatagramRelay,
    destinations: Destinations,
    handed: Omit<HandedAssociation<unknown>, 'session'>,
  ): void {
    this.#lockedTo = handed.lockedTo;
    if (handed.lockedTo !== null) relay.setClient(handed.lockedTo);
    destinations.continue(handed.destinations);
    this.#destinations.push(...handed.recorded);
    Object.assign(this.#dropped, handed.dropped);
    this.#isOnlyDns = handed.isOnlyDns;
    this.#datagramsSeen = relay.counts.datagramsUp + relay.counts.datagramsDown;
    this.#movedAt = this.options.context.io.now() - handed.idleMs;
  }

  handOver(nowMs: number): Omit<HandedAssociation<never>, 'session'> | null {
    const { context, request, clientAddress, declaredAddress } = this.options;
    const sockets = this.#open?.relay.handOver?.();
    if (this.#open === null || sockets === undefined || context.io.handOver === undefined) return null;
    return {
      kind: 'association',
      descriptors: [...context.io.handOver(request.stream).descriptors, ...sockets.descriptors],
      datagrams: sockets.state,
      lockedTo: this.#lockedTo,
      clientAddress,
      declaredAddress,
      exit: request.exit?.name ?? null,
      destinations: this.#open.destinations.capture(),
      recorded: this.#destinations,
      dropped: this.#dropped,
      isOnlyDns: this.#isOnlyDns,
      idleMs: this.idleMs(nowMs),
    };
  }

  // ── The control connection: the association ends with it, and it with the association ────────────────────────────

  onData(): void {}

  onEnd(): void {
    this.end('client-closed');
  }

  onFailed(): void {
    this.end('client-closed');
  }

  // ── The transfer of its session ──────────────────────────────────────────────────────────────────────────────────

  tick(nowMs: number): void {
    if (this.#open === null) return;
    const { relay, destinations } = this.#open;
    const datagrams = relay.counts.datagramsUp + relay.counts.datagramsDown;
    if (datagrams !== this.#datagramsSeen) {
      this.#datagramsSeen = datagrams;
      this.#movedAt = nowMs;
    } else if (nowMs - this.#movedAt >= this.#idleTimeoutMs(relay)) {
      return this.end('idle-timeout');
    }
    this.#count('fragments', this.#reassembly.expire(nowMs));
    relay.watchClient(this.#reassembly.isActive);
    destinations.refresh(nowMs);
  }

  idleMs(nowMs: number): number {
    if (this.#open === null) return 0;
    const { datagramsUp, datagramsDown } = this.#open.relay.counts;
    return datagramsUp + datagramsDown === this.#datagramsSeen ? nowMs - this.#movedAt : 0;
  }

  /** RFC 4787 REQ-5: five minutes or more, except for well-known ports such as that of DNS. */
  #idleTimeoutMs({ counts }: DatagramRelay): number {
    const { idleTimeoutMs, dnsIdleTimeoutMs } = this.options.context.settings.udp;
    const isAnsweredQuestion =
      this.#isOnlyDns && counts.datagramsUp <= MAX_QUESTIONS && counts.datagramsDown > 0;
    return isAnsweredQuestion ? Math.min(dnsIdleTimeoutMs, idleTimeoutMs) : idleTimeoutMs;
  }

  setRates(rates: AccountRates | null): void {
    this.#open?.relay.setRates(rates);
  }

  end(reason: SessionEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { request, onOver } = this.options;
    request.stream.close();
    this.#reassembly.abandon();
    if (this.#open !== null) {
      const { session, relay, destinations } = this.#open;
      relay.close();
      destinations.close();
      const { datagramsUp, datagramsDown, unsendable, overRate } = relay.counts;
      this.#count('unsendable', unsendable);
      this.#count('over-rate', overRate);
      session.finish(reason, {
        datagramsUp,
        datagramsDown,
        dropped: this.#dropped,
        destinations: this.#destinations,
      });
    }
    onOver();
  }

  // ── Datagrams without a route or source in the relay ────────────────────────────────────────────────────────────

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
    const { data, lost } = this.#reassembly.add(datagram, header, this.options.context.io.now());
    this.#count('fragments', lost);
    // While a sequence is incomplete, standalone datagrams must be checked too.
    relay.watchClient(this.#reassembly.isActive);
    if (data === null) return;
    const standalone = Buffer.from(datagram.subarray(0, header.length));
    standalone[2] = 0;
    destinations.send(header, standalone, data, 0);
  }

  #isClient(from: Endpoint): boolean {
    const { context, clientAddress, declaredAddress } = this.options;
    const address = normalizeAddress(from.address);
    if (this.#lockedTo !== null && normalizeAddress(this.#lockedTo.address) !== address) return false;
    if (address !== clientAddress && address !== declaredAddress) return false;
    // A datagram that a player sends here through the proxy does not come from its client, although its address may match.
    const ip = parseIp(address);
    if (ip === null) return false;
    return !(context.ownPorts.has('udp-outside', from.port) && context.isLocalAddress(ip));
  }

  /** Logs the first refused destination, and only counts the others. */
  #refused(refusal: Refusal, host: string, port: number): void {
    const { reason } = refusalFields(refusal);
    if (this.#dropped[reason] === undefined) {
      const { context, request } = this.options;
      context.log.info(
        {
          account: request.account.record.username,
          client: request.client.address,
          destination: formatHostPort(host, port),
          protocol: 'udp',
          ...refusalFields(refusal),
          ...(request.exit === null ? {} : { exit: request.exit.name }),
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
