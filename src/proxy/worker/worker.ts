// One worker of the data plane: serves the connections of its accounts, and reports events to the control plane. It is the
// same on both engines; thread.ts runs it in its own thread.
import type { Endpoint } from '../../core/addresses/ip.js';
import { Connection } from '../connection/connection.js';
import type { Arrival } from '../connection/connections.js';
import { Relayed } from '../connection/relayed.js';
import { takeOver } from '../handover/take-over.js';
import type { Stream } from '../io/io.js';
import type { ListenerSpec, WorkerMessage } from '../messages.js';
import { ExitChecks } from '../upstreams/checks.js';
import { tryExit } from '../upstreams/exit-trial.js';
import type { WorkerDeps } from './base.js';
import { createHost, type WorkerHost } from './host.js';

/** How often time limits of sessions and expiry of accounts are checked, in ms. */
const TICK_MS = 1_000;

type Handlers = {
  readonly [Kind in WorkerMessage['kind']]: (
    message: Extract<WorkerMessage, { readonly kind: Kind }>,
  ) => void;
};

export class ProxyWorker {
  readonly host: WorkerHost;
  /** By id: sockets that the control plane has opened, or that the node engine opens. */
  readonly #listeners = new Map<number, { close(): void }>();
  /** Null in all workers but the first. */
  readonly #exitChecks: ExitChecks | null;
  /** Asked to freeze, and to capture: the tokens of the requests, until they are answered. */
  #freezing: number | null = null;
  #capturing: number | null = null;
  #isFrozen = false;
  #isTakingOver = false;
  /** What has been captured must not change. */
  #isCaptured = false;

  constructor(private readonly deps: WorkerDeps) {
    this.host = createHost(deps);
    this.#exitChecks = deps.start.index === 0 ? new ExitChecks(this.host, this.host.exits) : null;
    this.host.io.timer(TICK_MS, this.#tick);
  }

  // ── Messages of the control plane ──────────────────────────────────────────────────────────────────────────────────

  receive(message: WorkerMessage): void {
    if (this.#isCaptured && message.kind !== 'stop') return;
    const handle: (message: never) => void = this.#handlers[message.kind];
    handle(message as never);
  }

  readonly #handlers: Handlers = {
    'account-chunk': ({ chunk, memory }) => this.host.accounts.setChunk(chunk, memory),
    accounts: ({ places }) => {
      const now = Date.now();
      for (const place of places) this.host.accounts.put(place, now);
    },
    'account-removed': ({ id }) => this.host.accounts.remove(id),
    games: ({ games }) => this.host.setGames(games),
    exits: ({ exits }) => {
      this.#exitChecks?.checkSoon();
      this.host.exits.set(exits);
    },
    'exit-ways': ({ ways }) => this.host.exits.setWays(ways),
    'try-exit': (message) => {
      const { token } = message;
      tryExit(this.host, message, (trial) =>
        this.host.events.pushAtOnce({ kind: 'exit-tried', token, trial }),
      );
    },
    geo: ({ files }) => this.host.setGeo(files),
    'end-session': ({ slot, generation, reason }) => this.host.sessions.get(slot, generation)?.end(reason),
    'end-account': ({ accountId, reason }) => this.host.accounts.end(accountId, reason),
    'end-all': ({ reason }) => this.host.sessions.endAll(reason),
    permit: ({ token, refusal }) => this.host.permits.answered(token, refusal),
    penalties: ({ penalties }) => {
      for (const penalty of penalties) this.host.loginGuard.penalize(penalty);
    },
    'revoke-permit': ({ token }) => this.host.permits.revoke(token),
    listen: ({ listener }) => this.#listen(listener),
    refuse: ({ isRefusing }) => {
      this.host.connections.isRefusing = isRefusing;
    },
    drain: ({ handshakeMs }) => {
      this.#closeListeners();
      // They were accepted, so nobody else can serve them.
      this.host.io.timer(handshakeMs, () => this.host.handshakes.close());
    },
    sync: ({ token }) => this.host.events.pushAtOnce({ kind: 'synced', token }),
    'find-outbound': ({ token, ...local }) =>
      this.host.events.pushAtOnce({ kind: 'outbound', token, remotes: this.#findOutbound(local) }),
    adopt: ({ connection: { fd, client, isProxied, isUnix, protocols, bytes } }) => {
      const arrival = { hasProxyHeader: false, isFromTls: false, isUnix, protocols };
      const connection = new Connection(this.host, this.host.io.adopt(fd), arrival);
      connection.resume(client, isProxied, true, Buffer.from(bytes));
    },
    'evict-handshake': ({ source, hops }) => this.host.handshakes.evictForPeer(source, hops),
    'make-room': () => this.host.places.makeRoomHere(),
    freeze: ({ token }) => {
      this.#freezing = token;
      this.#isFrozen = this.host.io.name === 'native';
      if (!this.#isFrozen) this.freeze();
    },
    capture: ({ token }) => {
      this.#capturing = token;
      if (!this.#isFrozen) this.capture();
    },
    'take-over': ({ isLast, connections, capturedAt }) => {
      this.#isTakingOver = !isLast;
      takeOver(this.host, connections, capturedAt);
    },
    stop: () => {
      if (!this.#isCaptured) this.#end();
      this.#isFrozen = false;
      this.deps.stop();
    },
  };

  // ── Handover ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The engine calls `freeze` and `capture` between two turns, and nothing else until the worker is not frozen any more. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** More connections of another process follow. Until the last, nothing else may open a session or change an account. */
  get isTakingOver(): boolean {
    return this.#isTakingOver;
  }

  /** Answers the request to freeze, now that no event is under way. */
  freeze(): void {
    if (this.#freezing !== null) this.host.events.push({ kind: 'synced', token: this.#freezing });
    this.#freezing = null;
    this.host.events.send();
  }

  /** Answers the request to capture, if there is one. All connections that other workers have passed have been adopted. */
  capture(): void {
    if (this.#capturing === null) return;
    const token = this.#capturing;
    this.#capturing = null;
    this.#isCaptured = true;
    const sessions = this.host.sessions.all().flatMap((session) => session.capture() ?? []);
    const connections = [...sessions, ...this.host.connections.capture()];
    this.host.events.pushAtOnce({ kind: 'captured', token, connections });
  }

  /** Ends all sessions and connections, and reports this. */
  #end(): void {
    this.#closeListeners();
    this.host.sessions.endAll('shutdown');
    this.host.connections.closeAll();
    this.host.events.send();
  }

  /** The worker has failed: ends its sessions and reports this. */
  failed(): void {
    for (const session of this.host.sessions.all()) session.finish('relay-failed');
    this.host.events.send();
  }

  // ── Connections ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Accepts connections, and reports `listening` or `listen-failed`. */
  #listen(spec: ListenerSpec): void {
    const { io, connections } = this.host;
    const { id, hasProxyHeader, isFromTls, protocols } = spec;
    const arrival: Arrival = { hasProxyHeader, isFromTls, protocols, isUnix: spec.path !== null };
    const begin = (stream: Stream): void => new Connection(this.host, stream, arrival).begin();
    const onConnection = (stream: Stream): void => connections.accept(stream, begin);
    io.serve(spec, onConnection, (result) => {
      if (result.ok) this.#listeners.set(id, result);
      this.host.events.pushAtOnce(
        result.ok
          ? { kind: 'listening', id, ...result.local }
          : { kind: 'listen-failed', id, code: result.code },
      );
    });
  }

  #closeListeners(): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }

  #findOutbound({ address, port }: Endpoint): Endpoint[] {
    const found: Endpoint[] = [];
    for (const { transfer } of this.host.sessions.all()) {
      if (!(transfer instanceof Relayed) || transfer.outboundPort !== port) continue;
      const { local, remote } = transfer.outbound;
      if (local.address === address) found.push(remote);
    }
    return found;
  }

  readonly #tick = (): void => {
    this.host.io.timer(TICK_MS, this.#tick);
    if (this.#isTakingOver) return;
    this.host.sessions.tick();
    this.host.accounts.endPast(Date.now());
    this.host.connections.tick();
    this.host.guards.tick();
    this.#exitChecks?.tick();
    this.host.exits.tick();
    this.host.places.tick();
    const evicted = this.host.handshakes.takeEvicted();
    if (evicted > 0) this.host.log.warn({ evicted }, 'handshake limit reached; oldest connections closed');
    this.host.logins.tick();
  };
}
