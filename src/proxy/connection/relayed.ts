// A session while its bytes are relayed, from the reply to its end: time limits, rates, and the end. It replaces the object
// of the connection, so that thousands of idle sessions use little memory.
import type { Endpoint } from '../../core/addresses/ip.js';
import type { SessionEnd } from '../../core/sessions/session.js';
import type { HandedRelay } from '../handover/state.js';
import type { Relay, RelayEnd, RelayListener, Stream } from '../io/io.js';
import type { AccountRates } from '../io/rates.js';
import type { WorkerHost } from '../worker/host.js';
import type { SessionTransfer, WorkerSession } from '../worker/session.js';
import type { Connections } from './connections.js';

/** Its connection no longer counts when it has ended. */
type Host = Pick<WorkerHost, 'io' | 'settings' | 'ownPorts'> & {
  readonly connections: Pick<Connections, 'release'>;
};

export interface RelayedOptions {
  readonly session: WorkerSession;
  readonly destination: Stream;
  /** The local port of `destination`, counted in own-ports.ts. */
  readonly outboundPort: number;
  /** How long a session of another process has transferred nothing, in ms; left out: it is new. */
  readonly idleMs?: number;
}

/** Not checked yet: keepalive, which short sessions do not need, is not enabled yet. */
const NOT_CHECKED = -1;

export class Relayed implements SessionTransfer, RelayListener {
  readonly #host: Host;
  readonly #session: WorkerSession;
  readonly #destination: Stream;
  readonly #relay: Relay;
  readonly outboundPort: number;
  /** Time of the last observed transfer, in whole ms (V8 stores small integers without an allocation). */
  #movedMs: number;
  /** The sum of both counts modulo 2^31, to detect changes. */
  #bytesSeen = NOT_CHECKED;

  /** @param start creates the relay, which calls nothing before `start` has returned */
  constructor(host: Host, options: RelayedOptions, start: (listener: RelayListener) => Relay) {
    const { session, destination, outboundPort } = options;
    this.#host = host;
    this.#session = session;
    this.#destination = destination;
    this.outboundPort = outboundPort;
    this.#movedMs = host.io.now() | 0;
    session.setTransfer(this);
    this.#relay = start(this);
    if (options.idleMs === undefined) return;
    this.#movedMs = (host.io.now() - options.idleMs) | 0;
    this.#bytesSeen = this.#bytes();
  }

  handOver(nowMs: number): Omit<HandedRelay<never>, 'session'> | null {
    const handed = this.#relay.handOver?.() ?? null;
    if (handed === null) return null;
    const { descriptors, state: pair } = handed;
    return { kind: 'relay', descriptors, pair, outboundPort: this.outboundPort, idleMs: this.idleMs(nowMs) };
  }

  /** Both ends of the outbound connection, to identify admin requests that come through the proxy. */
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
    if (this.#bytesSeen === NOT_CHECKED) {
      this.#bytesSeen = 0;
      this.#relay.keepAlive();
    }
    const bytes = this.#bytes();
    if (bytes !== this.#bytesSeen) {
      this.#bytesSeen = bytes;
      this.#movedMs = nowMs | 0;
      return;
    }
    const quietMs = (nowMs - this.#movedMs) | 0;
    if (quietMs >= idleTimeoutMs) this.end('idle-timeout');
    else if (quietMs >= halfCloseTimeoutMs && this.#relay.isHalfClosed) this.end('half-close-timeout');
  }

  idleMs(nowMs: number): number {
    return this.#bytes() !== Math.max(0, this.#bytesSeen) ? 0 : (nowMs - this.#movedMs) | 0;
  }

  #bytes(): number {
    const { counts, countAt } = this.#session;
    return ((counts[countAt] ?? 0) + (counts[countAt + 1] ?? 0)) & 0x7fff_ffff;
  }

  setRates(rates: AccountRates | null): void {
    this.#relay.setRates(rates);
  }

  /** The relay has ended. */
  finish(end: SessionEnd): void {
    this.#session.finish(end);
    this.#host.ownPorts.remove('tcp-outbound', this.outboundPort);
    this.#host.connections.release();
  }
}
