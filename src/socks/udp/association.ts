// One UDP association of a player, from its reply to its log line: whose datagrams count, and what becomes of each.
import type { Socket } from 'node:net';
import type { Account } from '../../core/accounts/account.js';
import { formatHostPort, normalizeAddress, parseIp } from '../../core/ip.js';
import { type DatagramHeader, readDatagramHeader } from '../../core/sessions/datagram-header.js';
import type { DatagramRelay, Endpoint } from '../../core/sessions/datagram-relay.js';
import type { AccountRates } from '../../core/sessions/rate-limit.js';
import type { Session, SessionEnd } from '../../core/sessions/session.js';
import { clientEnd, datagramAddress } from '../client-end.js';
import type { SocksContext } from '../context.js';
import { Destinations } from './destinations.js';
import { Reassembly } from './fragments.js';
import { Strangers } from './strangers.js';

/** Shown as the destination until the client has sent a datagram: an association may send anywhere. */
const ANYWHERE = { host: '*', address: '', port: 0 };

export class UdpAssociation implements Session {
  readonly id: string;
  readonly accountId: string;
  readonly username: string;
  readonly command = 'udp-associate';
  readonly protocol = 'udp';
  readonly client: { readonly address: string; readonly port: number };
  /** The newest of its destinations. */
  destination: { readonly host: string; readonly address: string; readonly port: number } = ANYWHERE;
  readonly openedAt: number;
  gameId: string | null = null;

  readonly #context: SocksContext;
  readonly #control: Socket;
  readonly #clientAddress: string;
  readonly #declared: string | null;
  readonly #reassembly: Reassembly;
  readonly #strangers: Strangers;
  readonly #onEnded: () => void;
  #relay: DatagramRelay | null = null;
  #destinations: Destinations | null = null;
  /** The client's address and port, once a datagram has come from it. */
  #lockedTo: Endpoint | null = null;
  /** The parent proxy that leads to the newest destination, as `host:port`; null: it is reached directly. */
  #via: string | null = null;
  #reason: SessionEnd | null = null;
  #datagramsSeen = 0;
  #movedAt: number;
  readonly #dropped: Record<string, number> = {};

  /**
   * @param control the TCP connection of the request: the association ends with it and it with the association
   * @param declared the address that the client says it will send from, canonical; null when it left that open
   * @param onEnded called once
   */
  constructor(
    context: SocksContext,
    account: Account,
    control: Socket,
    declared: string | null,
    onEnded: () => void,
  ) {
    this.#context = context;
    this.#control = control;
    this.#declared = declared;
    this.#onEnded = onEnded;
    this.#reassembly = new Reassembly(context.udp.fragmentMemory);
    this.#strangers = new Strangers(context);
    this.id = context.newId();
    this.accountId = account.id;
    this.username = account.username;
    this.client = clientEnd(control);
    this.#clientAddress = datagramAddress(this.client);
    this.openedAt = context.now();
    this.#movedAt = this.openedAt;
    context.sessions.add(this);
    control.once('close', this.#onControlClosed);
    control.once('end', this.#onControlClosed);
  }

  bytesUp(): number {
    return this.#relay?.counts.bytesUp ?? 0;
  }

  bytesDown(): number {
    return this.#relay?.counts.bytesDown ?? 0;
  }

  get isEnded(): boolean {
    return this.#reason !== null;
  }

  /** The relay is open and the client has its reply. */
  start(relay: DatagramRelay): void {
    this.#relay = relay;
    const { context, accountId } = { context: this.#context, accountId: this.accountId };
    this.#destinations = new Destinations({
      context,
      accountId,
      relay,
      onNew: (host, to, via) => {
        this.destination = { host, address: to.address, port: to.port };
        this.#via = via;
        return context.recorder.destination(this, { host, ip: parseIp(to.address), port: to.port });
      },
      onDropped: (reason, host, port) => this.#refused(reason, host, port),
      onIgnored: (reason) => this.#count(reason, 1),
    });
    context.recorder.opened(this);
    // Nothing is expected on the control connection; reading it is how its end is noticed.
    this.#control.resume();
  }

  /** The relay could not be opened: no heartbeat, no session line. */
  abandon(): void {
    if (this.#reason !== null) return;
    this.#reason = 'relay-failed';
    this.#forget();
  }

  enforceTimeLimits(now: number): void {
    if (!this.#relay) return;
    const { datagramsUp, datagramsDown } = this.#relay.counts;
    const datagrams = datagramsUp + datagramsDown;
    if (datagrams !== this.#datagramsSeen) {
      this.#datagramsSeen = datagrams;
      this.#movedAt = now;
    } else if (now - this.#movedAt >= this.#context.udp.idleTimeoutMs) {
      this.end('idle-timeout');
      return;
    }
    this.#count('fragments', this.#reassembly.expire(now));
    this.#relay.watchClient(this.#reassembly.isActive);
    this.#destinations?.refresh(now);
  }

  limitRates(rates: AccountRates): void {
    this.#relay?.limitRates(rates);
  }

  end(reason: SessionEnd): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#forget();
    this.#control.destroy();
    if (!this.#relay) return;
    this.#relay.end();
    this.#destinations?.close();
    this.#reassembly.abandon();
    this.#context.recorder.closed(this);
    this.#log(this.#relay);
  }

  /** A datagram to the client's side of the relay that no route covers. */
  readonly onClientDatagram = (datagram: Buffer, from: Endpoint): void => {
    if (!this.#relay || !this.#destinations) return;
    if (!this.#isClient(from)) return this.#count('stranger', 1);
    const header = readDatagramHeader(datagram);
    if (header === null) return this.#count('malformed', 1);
    // The first port that speaks SOCKS; later another one of the same address, since consoles and browsers change theirs.
    if (this.#lockedTo?.port !== from.port || this.#lockedTo.address !== from.address) {
      this.#lockedTo = { address: from.address, port: from.port };
      this.#relay.setClient(this.#lockedTo);
    }
    if (header.fragment !== 0) return this.#takeFragment(this.#relay, this.#destinations, datagram, header);
    // RFC 1928 §7: a lower FRAG than the highest so far, and 0 is lower than all, gives the sequence up.
    if (this.#reassembly.isActive) {
      this.#count('fragments', this.#reassembly.abandon());
      this.#relay.watchClient(false);
    }
    this.#destinations.send(header, datagram, datagram, header.length);
  };

  /** Data from a host that no destination leads to. */
  readonly onOutsideDatagram = (data: Buffer, from: Endpoint): void => {
    const destinations = this.#destinations;
    const isWanted = destinations !== null && this.#lockedTo !== null;
    const header = isWanted
      ? this.#strangers.headerFor(from, (address) => destinations.hasSentTo(address))
      : null;
    if (header === null) this.#count('unsolicited', 1);
    else this.#relay?.sendToClient(header, data);
  };

  #takeFragment(
    relay: DatagramRelay,
    destinations: Destinations,
    datagram: Buffer,
    header: DatagramHeader,
  ): void {
    const { data, lost } = this.#reassembly.add(datagram, header, this.#context.now());
    if (lost > 0) this.#count('fragments', lost);
    // While a sequence waits, standalone datagrams must be seen too.
    relay.watchClient(this.#reassembly.isActive);
    if (data === null) return;
    const standalone = Buffer.from(datagram.subarray(0, header.length));
    standalone[2] = 0;
    destinations.send(header, standalone, data, 0);
  }

  #isClient(from: Endpoint): boolean {
    const address = normalizeAddress(from.address);
    if (this.#lockedTo !== null && normalizeAddress(this.#lockedTo.address) !== address) return false;
    if (address !== this.#clientAddress && address !== this.#declared) return false;
    // What a player sends to us through the proxy is not from its own client, though it may come from that address.
    const ip = parseIp(address);
    const { ownPorts, isLocalAddress } = this.#context.udp;
    return ip !== null && !(ownPorts.isOutside(from.port) && isLocalAddress(ip));
  }

  /** The first destination that is refused is logged, so that a player can be helped; the rest is only counted. */
  #refused(reason: string, host: string, port: number): void {
    if (this.#dropped[reason] === undefined) {
      this.#context.log.info(
        {
          account: this.username,
          client: this.client.address,
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

  readonly #onControlClosed = (): void => {
    this.end('client-closed');
  };

  #forget(): void {
    this.#control.off('close', this.#onControlClosed);
    this.#control.off('end', this.#onControlClosed);
    this.#context.sessions.remove(this);
    this.#onEnded();
  }

  #log(relay: DatagramRelay): void {
    const { bytesUp, bytesDown, datagramsUp, datagramsDown, unsendable, overRate } = relay.counts;
    this.#count('unsendable', unsendable);
    this.#count('over-rate', overRate);
    this.#context.log.info(
      {
        account: this.username,
        client: this.client.address,
        destination: formatHostPort(this.destination.host, this.destination.port),
        address: this.destination.address,
        ...(this.#via === null ? {} : { via: this.#via }),
        protocol: 'udp',
        bytesUp,
        bytesDown,
        datagramsUp,
        datagramsDown,
        dropped: this.#dropped,
        durationMs: this.#context.now() - this.openedAt,
        game: this.gameId,
        end: this.#reason,
        session: this.id,
      },
      'session ended',
    );
  }
}
