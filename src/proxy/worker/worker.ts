// One worker of the data plane: serves the connections of its accounts, and reports events to the control plane. It is the
// same on both engines; thread.ts runs it in its own thread.
import type { Endpoint } from '../../core/ip.js';
import { Connection } from '../connection/connection.js';
import type { Arrival } from '../connection/connections.js';
import { tryExit } from '../connection/exit-trial.js';
import { Relayed } from '../connection/relayed.js';
import { takeOver } from '../handover/take-over.js';
import type { Stream } from '../io/io.js';
import type { ListenerSpec, WorkerMessage } from '../messages.js';
import { ExitChecks } from '../upstreams/checks.js';
import type { WorkerDeps } from './base.js';
import { createHost, type WorkerHost } from './host.js';

/** How often time limits of sessions and expiry of accounts are checked, in ms. */
const TICK_MS = 1_000;

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
    switch (message.kind) {
      case 'accounts': {
        const now = Date.now();
        for (const record of message.records) this.host.accounts.put(record, now);
        return;
      }
      case 'authorized':
        for (const account of message.accounts) this.host.authorized.put(account);
        return;
      case 'account-removed':
        this.host.authorized.remove(message.id);
        return this.host.accounts.remove(message.id, message.reason);
      case 'games':
        return this.host.setGames(message.games);
      case 'exits':
        this.#exitChecks?.checkSoon();
        return this.host.exits.set(message.exits);
      case 'exit-ways':
        return this.host.exits.setWays(message.ways);
      case 'try-exit':
        return tryExit(this.host, message, (trial) => {
          this.host.events.push({ kind: 'exit-tried', token: message.token, trial });
          this.host.events.send();
        });
      case 'geo':
        return this.host.setGeo(message.files);
      case 'end-session':
        return this.host.sessions.get(message.slot, message.generation)?.end(message.reason);
      case 'end-account':
        return this.host.accounts.end(message.accountId, message.reason);
      case 'end-all':
        return this.host.sessions.endAll(message.reason);
      case 'permit':
        return this.host.permits.answered(message.token, message.refusal);
      case 'penalties':
        for (const penalty of message.penalties) this.host.loginGuard.penalize(penalty);
        return;
      case 'revoke-permit':
        return this.host.permits.revoke(message.token);
      case 'listen':
        return this.#listen(message.listener);
      case 'refuse':
        this.host.connections.isRefusing = message.isRefusing;
        return;
      case 'drain':
        this.#closeListeners();
        // They were accepted, so nobody else can serve them.
        this.host.io.timer(message.handshakeMs, () => this.host.handshakes.close());
        return;
      case 'sync':
        this.host.events.push({ kind: 'synced', token: message.token });
        return this.host.events.send();
      case 'find-outbound':
        this.host.events.push({
          kind: 'outbound',
          token: message.token,
          remotes: this.#findOutbound(message),
        });
        return this.host.events.send();
      case 'adopt':
        return Connection.adopt(this.host, message.connection);
      case 'evict-handshake':
        return this.host.handshakes.evictForPeer(message.source, message.hops);
      case 'make-room':
        this.host.places.makeRoomHere();
        return;
      case 'freeze':
        this.#freezing = message.token;
        this.#isFrozen = this.host.io.name === 'native';
        return this.#isFrozen ? undefined : this.freeze();
      case 'capture':
        this.#capturing = message.token;
        return this.#isFrozen ? undefined : this.capture();
      case 'take-over':
        this.#isTakingOver = !message.isLast;
        return takeOver(this.host, message.connections);
      case 'stop':
        if (!this.#isCaptured) this.#end();
        this.#isFrozen = false;
        return this.deps.stop();
    }
  }

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
    this.host.events.push({ kind: 'captured', token, connections });
    this.host.events.send();
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
    const { io, events, connections } = this.host;
    const { id, hasProxyHeader, isFromTls, protocols } = spec;
    const arrival: Arrival = { hasProxyHeader, isFromTls, protocols, isUnix: spec.path !== null };
    const begin = (stream: Stream): void => new Connection(this.host, stream, arrival).begin();
    const onConnection = (stream: Stream): void => connections.accept(stream, begin);
    io.serve(spec, onConnection, (result) => {
      if (result.ok) this.#listeners.set(id, result);
      events.push(
        result.ok
          ? { kind: 'listening', id, ...result.local }
          : { kind: 'listen-failed', id, code: result.code },
      );
      events.send();
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
