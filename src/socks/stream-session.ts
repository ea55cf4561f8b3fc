// One TCP session of a player, from its request to its log line: first dialling, then relaying, then ended.
import type { Socket } from 'node:net';
import type { Account } from '../core/accounts/account.js';
import { formatHostPort } from '../core/ip.js';
import type { AccountRates } from '../core/sessions/rate-limit.js';
import type { Relay, RelayEnd } from '../core/sessions/relay.js';
import type { Session, SessionEnd } from '../core/sessions/session.js';
import { clientEnd } from './client-end.js';
import type { SocksContext } from './context.js';
import { keepAlive } from './keep-alive.js';

export class StreamSession implements Session {
  readonly id: string;
  readonly accountId: string;
  readonly username: string;
  readonly protocol = 'tcp';
  readonly client: { readonly address: string; readonly port: number };
  readonly destination: { readonly host: string; address: string; readonly port: number };
  readonly openedAt: number;
  gameId: string | null = null;
  /** The parent proxy that it goes through, as `host:port`; null when it goes directly. */
  via: string | null = null;

  readonly #context: SocksContext;
  readonly #socket: Socket;
  /** Gives up whatever is under way before the relay: a lookup or an attempt to connect. */
  #cancel: (() => void) | null = null;
  #relay: Relay | null = null;
  #upstream: Socket | null = null;
  #isKeptAlive = false;
  #reason: SessionEnd | null = null;
  #bytesSeen = 0;
  #movedAt: number;

  constructor(
    context: SocksContext,
    readonly command: 'connect' | 'bind',
    account: Account,
    socket: Socket,
    destination: { host: string; port: number },
  ) {
    this.#context = context;
    this.#socket = socket;
    this.id = context.newId();
    this.accountId = account.id;
    this.username = account.username;
    this.client = clientEnd(socket);
    this.destination = { host: destination.host, address: '', port: destination.port };
    this.openedAt = context.now();
    this.#movedAt = this.openedAt;
    context.sessions.add(this);
    socket.once('close', this.#onClientClosed);
  }

  bytesUp(): number {
    return this.#relay?.bytesUp() ?? 0;
  }

  bytesDown(): number {
    return this.#relay?.bytesDown() ?? 0;
  }

  get isEnded(): boolean {
    return this.#reason !== null;
  }

  /** What `end` has to stop while there is no relay yet. */
  whileWaiting(cancel: () => void): void {
    this.#cancel = cancel;
  }

  /** The session is refused before it was relayed: it leaves no heartbeat and no session line. */
  abandon(): void {
    this.#reason ??= 'client-closed';
    this.#forget();
  }

  /** Both sides are connected: relays until one of them, a time limit or `end` is done with it. */
  startRelay(upstream: Socket, address: string): void {
    this.#cancel = null;
    this.#socket.off('close', this.#onClientClosed);
    this.destination.address = address;
    const { relay, recorder, limits, now } = this.#context;
    this.#upstream = upstream;
    this.#movedAt = now();
    const inspect = recorder.opened(this) ?? undefined;
    this.#relay = relay(this.#socket, upstream, {
      onEnd: this.#onRelayEnd,
      inspect,
      rates: limits.rates(this.accountId),
    });
  }

  enforceTimeLimits(now: number): void {
    if (!this.#relay || this.#reason !== null) return;
    this.#keepAlive();
    const bytes = this.#relay.bytesUp() + this.#relay.bytesDown();
    if (bytes !== this.#bytesSeen) {
      this.#bytesSeen = bytes;
      this.#movedAt = now;
      return;
    }
    const quietMs = now - this.#movedAt;
    if (quietMs >= this.#context.idleTimeoutMs) this.end('idle-timeout');
    else if (quietMs >= this.#context.halfCloseTimeoutMs && this.#relay.isHalfClosed())
      this.end('half-close-timeout');
  }

  #keepAlive(): void {
    if (this.#isKeptAlive) return;
    this.#isKeptAlive = true;
    keepAlive(this.#socket);
    if (this.#upstream) keepAlive(this.#upstream);
  }

  limitRates(rates: AccountRates): void {
    // One that is not relayed yet asks for the rates when it is.
    this.#relay?.limitRates(rates);
  }

  end(reason: SessionEnd): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    if (this.#relay) {
      this.#relay.end();
      return;
    }
    this.#cancel?.();
    this.#socket.destroy();
    this.#forget();
  }

  readonly #onClientClosed = (): void => {
    this.end('client-closed');
  };

  readonly #onRelayEnd = (end: RelayEnd): void => {
    // 'ended' is the echo of our own end(), which has given the reason.
    if (end !== 'ended') this.#reason ??= end;
    this.#forget();
    const { recorder, log, now } = this.#context;
    recorder.closed(this);
    log.info(
      {
        account: this.username,
        client: this.client.address,
        destination: formatHostPort(this.destination.host, this.destination.port),
        address: this.destination.address,
        ...(this.via === null ? {} : { via: this.via }),
        bytesUp: this.bytesUp(),
        bytesDown: this.bytesDown(),
        durationMs: now() - this.openedAt,
        game: this.gameId,
        end: this.#reason,
        session: this.id,
      },
      'session ended',
    );
  };

  #forget(): void {
    this.#cancel = null;
    this.#socket.off('close', this.#onClientClosed);
    this.#context.sessions.remove(this);
  }
}
