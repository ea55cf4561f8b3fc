// A session while its bytes are relayed, from the reply to its end: time limits, rates, and how it ends.
// It takes the place of the connection that negotiated it, which is needed no longer: of thousands of idle sessions
// only this is kept.
import type { Endpoint, Io, Relay, RelayEnd, RelayOwner, Stream } from './io/io.js';
import type { AccountRates } from './io/rates.js';
import type { OwnPorts } from './own-ports.js';
import type { Session, SessionEnd, SessionOwner } from './session.js';
import type { ProxySettings } from './settings.js';

/** Who serves it: the worker. */
export interface RelayedHost {
  readonly io: Io;
  readonly settings: Pick<ProxySettings, 'idleTimeoutMs' | 'halfCloseTimeoutMs'>;
  readonly ownPorts: OwnPorts;
  /** It is over: its connection counts no longer. */
  relayedClosed(): void;
}

export interface RelayedOptions {
  readonly session: Session;
  readonly destination: Stream;
  /** The local port of `destination`, which is counted as ours. */
  readonly outboundPort: number;
}

/** Not looked at yet: keepalive, which sessions of a moment do not need, is not on either. */
const NEVER_LOOKED = -1;

export class Relayed implements SessionOwner, RelayOwner {
  readonly #host: RelayedHost;
  readonly #session: Session;
  readonly #destination: Stream;
  readonly #relay: Relay;
  readonly outboundPort: number;
  /** When bytes were last seen to have moved, in whole ms: small integers cost no memory of their own. */
  #movedMs: number;
  /** The sum of both counts, as an integer of 32 bits: it is only compared. */
  #bytesSeen = NEVER_LOOKED;

  /** @param start makes what moves the bytes; it reports nothing before it has returned */
  constructor(host: RelayedHost, options: RelayedOptions, start: (owner: RelayOwner) => Relay) {
    const { session, destination, outboundPort } = options;
    this.#host = host;
    this.#session = session;
    this.#destination = destination;
    this.outboundPort = outboundPort;
    this.#movedMs = host.io.now() | 0;
    session.setOwner(this);
    this.#relay = start(this);
  }

  /** Where the session's connection leads, for those who ask whose local port this is. */
  get outbound(): { readonly local: Endpoint; readonly remote: Endpoint } {
    return { local: this.#destination.local, remote: this.#destination.peer };
  }

  relayEnded(end: RelayEnd): void {
    this.finish(end);
  }

  end(reason: SessionEnd): void {
    if (this.#session.isEnded) return;
    this.#relay.close();
    this.finish(reason);
  }

  tick(nowMs: number): void {
    const { idleTimeoutMs, halfCloseTimeoutMs } = this.#host.settings;
    if (this.#bytesSeen === NEVER_LOOKED) {
      this.#bytesSeen = 0;
      this.#relay.keepAlive();
    }
    const { counts, countAt } = this.#session;
    const bytes = ((counts[countAt] ?? 0) + (counts[countAt + 1] ?? 0)) & 0x7fff_ffff;
    if (bytes !== this.#bytesSeen) {
      this.#bytesSeen = bytes;
      this.#movedMs = nowMs | 0;
      return;
    }
    const quietMs = (nowMs - this.#movedMs) | 0;
    if (quietMs >= idleTimeoutMs) this.end('idle-timeout');
    else if (quietMs >= halfCloseTimeoutMs && this.#relay.isHalfClosed) this.end('half-close-timeout');
  }

  setRates(rates: AccountRates | null): void {
    this.#relay.setRates(rates);
  }

  /** The bytes are moved, or will not be. */
  finish(end: SessionEnd): void {
    this.#session.finish(end);
    this.#host.ownPorts.remove('tcp-outbound', this.outboundPort);
    this.#host.relayedClosed();
  }
}
