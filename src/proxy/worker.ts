// One worker of the data plane: serves the connections of its accounts, and tells the control plane what happens.
// It runs the same on both drivers; thread.ts starts it in a thread of its own.

import type { LimitRefusal } from '../core/accounts/limits.js';
import type { EgressPolicy } from '../core/egress/egress.js';
import { createGameRules, type GameRules } from '../core/heartbeats/game-rules.js';
import type { IpBytes } from '../core/ip.js';
import { compilePattern } from '../games-pattern.js';
import type { Account } from './account.js';
import { Accounts } from './accounts.js';
import { AuthorizedClients } from './authorized-clients.js';
import type { Arrival, ConnectionHost, HostedConnection } from './connection-host.js';
import { Connections } from './connections.js';
import type { Answer, Question } from './dns/messages.js';
import { createRemoteResolver } from './dns/remote.js';
import type { Resolve } from './dns/resolve.js';
import { createEgressPolicies } from './egress.js';
import { Events } from './events.js';
import { Handshakes } from './handshakes.js';
import type { Endpoint, Io, Stream } from './io/io.js';
import { createIsLocalAddress } from './local-addresses.js';
import { createLoginGuard } from './login-guard.js';
import { Logins } from './logins.js';
import type { ListenerSpec, Order, PassedConnection, WorkerEvent, WorkerStart } from './messages.js';
import { createOwnPorts, type OwnPorts } from './own-ports.js';
import { type PermitAnswer, type PermitQuestion, Permits } from './permits.js';
import { createFragmentMemory, type FragmentMemory } from './protocols/fragments.js';
import { createProxySources, type ProxySources } from './protocols/proxy-header.js';
import { Relayed } from './relayed.js';
import type { Session, SessionRequest } from './session.js';
import { viewSessionCounts } from './session-counts.js';
import { Sessions } from './sessions.js';
import type { ProxySettings } from './settings.js';
import { type Gauges, viewGauges } from './shared.js';
import { SourceTable } from './source-table.js';
import { createUpstreams, type Upstreams } from './upstreams/rules.js';

/** How often sessions are held to their time limits and accounts to their expiry, in ms. */
const TICK_MS = 1_000;

export interface WorkerUses {
  readonly io: Io;
  readonly start: WorkerStart;
  /** Sends events to the control plane. */
  readonly post: (events: readonly WorkerEvent[]) => void;
  /** Asks the resolver's thread. */
  readonly ask: (question: Question) => void;
  /** Sends an order to another worker, if it is alive. */
  readonly sendToPeer: (worker: number, order: Order) => void;
  /** Passes a connection to another worker; false when that one is dead: the descriptor stays the caller's. */
  readonly passConnection: (worker: number, connection: PassedConnection) => boolean;
  /** Opens a socket to listen on, where the control plane has not done so. */
  readonly listen: (
    spec: ListenerSpec,
    onConnection: (stream: Stream) => void,
    done: (result: { address: string; port: number; close(): void } | { code: string }) => void,
  ) => void;
  /** Reads the orders that have come. */
  readonly readOrders: () => void;
  /** Events wait to be sent by `events.flush`. */
  readonly onEventsWaiting: () => void;
  /** Ends the loop. */
  readonly stop: () => void;
}

export class ProxyWorker implements ConnectionHost {
  readonly io: Io;
  readonly settings: ProxySettings;
  readonly upstreams: Upstreams;
  readonly ownPorts: OwnPorts;
  readonly isLocalAddress: (ip: IpBytes) => boolean;
  readonly fragmentMemory: FragmentMemory;
  readonly resolve: Resolve;
  readonly answered: (answer: Answer) => void;
  readonly events: Events;
  readonly #uses: WorkerUses;
  readonly #gauges: Gauges;
  readonly #accounts: Accounts;
  readonly #authorized = new AuthorizedClients();
  readonly #sessions: Sessions;
  readonly #permits: Permits;
  readonly #handshakes: Handshakes;
  readonly #logins: Logins;
  readonly #isProxy: ProxySources;
  readonly #egressOf: (egressClass: string | null) => EgressPolicy | null;
  readonly #connections: Connections;
  readonly #listeners = new Map<number, { close(): void }>();
  #games: GameRules;

  constructor(uses: WorkerUses) {
    const { io, start } = uses;
    const { settings, shared, index } = start;
    this.#uses = uses;
    this.io = io;
    this.settings = settings;
    this.ownPorts = createOwnPorts(shared.ownPorts, index + 1);
    this.isLocalAddress = createIsLocalAddress(() => io.now());
    this.upstreams = createUpstreams(settings.upstreams);
    this.#gauges = viewGauges(shared.gauges);
    this.fragmentMemory = createFragmentMemory(settings.udp.fragmentMemoryBytes, (bytes) =>
      this.#gauges.add(index, 'fragmentBytes', bytes),
    );
    this.#games = createGameRules(start.games, compilePattern);
    this.#egressOf = createEgressPolicies(settings, this.ownPorts, this.isLocalAddress);
    this.events = new Events({
      post: uses.post,
      setWaiting: (isWaiting) => {
        this.#gauges.setSign(index, 'eventsWaiting', isWaiting ? 1 : 0);
        if (isWaiting) uses.onEventsWaiting();
      },
      batchesRead: () => this.#gauges.getSign(index, 'batchesRead'),
      now: () => io.now(),
      date: Date.now,
    });
    this.#accounts = new Accounts({ io, egressOf: this.#egressOf });
    this.#permits = new Permits(this.events);
    this.#sessions = new Sessions({
      accounts: this.#accounts,
      counts: viewSessionCounts(shared.sessionCounts),
      events: this.events,
      permits: this.#permits,
      games: () => this.#games,
      gameIntervalMs: settings.gameIntervalMs,
      now: () => io.now(),
      date: Date.now,
    });
    this.#connections = new Connections(this, {
      io,
      index,
      workers: start.workers,
      passConnection: uses.passConnection,
      maxConnections: settings.maxConnections,
      count: (by) => this.#gauges.add(index, 'connections', by),
      log: this.log,
    });
    const owner = index + 1;
    this.#handshakes = new Handshakes({
      ...settings,
      count: (by) => this.#gauges.add(index, 'handshakes', by),
      evictElsewhere: (source, hasOwn) => this.#evictElsewhere(source, hasOwn),
      sources: new SourceTable(shared.handshakes, owner),
    });
    this.#logins = new Logins({
      accounts: this.#accounts,
      guard: createLoginGuard({
        ...settings.login,
        sources: new SourceTable(shared.loginSources, owner),
        names: new SourceTable(shared.loginNames, owner),
        now: sharedClock,
      }),
      events: this.events,
      log: this.log,
    });
    this.#isProxy = createProxySources(settings.proxyProtocolFrom);
    const resolver = createRemoteResolver(uses.ask);
    this.resolve = resolver.resolve;
    this.answered = resolver.answered;
    io.timer(TICK_MS, this.#tick);
  }

  readonly log = {
    debug: (fields: Readonly<Record<string, unknown>>, message: string) =>
      this.events.log('debug', fields, message),
    info: (fields: Readonly<Record<string, unknown>>, message: string) =>
      this.events.log('info', fields, message),
    warn: (fields: Readonly<Record<string, unknown>>, message: string) =>
      this.events.log('warn', fields, message),
    error: (fields: Readonly<Record<string, unknown>>, message: string) =>
      this.events.log('error', fields, message),
  };

  // ── Orders of the control plane ──────────────────────────────────────────────────────────────────────────────────

  obey(order: Order): void {
    switch (order.kind) {
      case 'accounts':
        for (const record of order.records) this.#accounts.put(record);
        return;
      case 'authorized':
        for (const account of order.accounts) this.#authorized.put(account);
        return;
      case 'account-removed':
        this.#authorized.remove(order.id);
        return this.#accounts.remove(order.id, order.reason);
      case 'games':
        this.#games = createGameRules(order.games, compilePattern);
        return;
      case 'end-session':
        return this.#sessions.get(order.slot, order.generation)?.end(order.reason);
      case 'end-account':
        return this.#accounts.end(order.accountId, order.reason);
      case 'end-all':
        return this.#sessions.endAll(order.reason);
      case 'permit':
        return this.#permits.answered(order.token, order.refusal);
      case 'listen':
        return this.#listen(order.listener);
      case 'refuse':
        this.#connections.isRefusing = order.isRefusing;
        return;
      case 'drain':
        for (const listener of this.#listeners.values()) listener.close();
        this.#listeners.clear();
        return this.#handshakes.evictAll();
      case 'sync':
        this.events.push({ kind: 'synced', token: order.token });
        return this.events.send();
      case 'find-outbound':
        this.events.push({ kind: 'outbound', token: order.token, remotes: this.#findOutbound(order) });
        return this.events.send();
      case 'adopt':
        return this.#connections.adopt(order.connection);
      case 'evict-handshake':
        return this.#evictHandshake(order.source, order.hops);
      case 'stop':
        this.end();
        return this.#uses.stop();
    }
  }

  /** Ends everything and reports it. */
  end(): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
    this.#sessions.endAll('shutdown');
    this.#connections.closeAll();
    this.events.send();
  }

  /** The worker has failed: its sessions end, and that is reported. */
  failed(): void {
    for (const session of this.#sessions.all()) session.finish('relay-failed');
    this.events.send();
  }

  #listen(spec: ListenerSpec): void {
    const { hasProxyHeader, isFromTls, protocols } = spec;
    const arrival: Arrival = { hasProxyHeader, isFromTls, protocols, isUnix: spec.path !== null };
    const onConnection = (stream: Stream): void => this.#connections.accept(stream, arrival);
    if (spec.fd !== null && this.io.name === 'native') {
      this.#listeners.set(spec.id, this.io.acceptFrom(spec.fd, onConnection));
      return;
    }
    this.#uses.listen(spec, onConnection, (result) => {
      if ('code' in result) this.events.push({ kind: 'listen-failed', id: spec.id, code: result.code });
      else {
        this.#listeners.set(spec.id, result);
        this.events.push({ kind: 'listening', id: spec.id, address: result.address, port: result.port });
      }
      this.events.send();
    });
  }

  // ── Connections ──────────────────────────────────────────────────────────────────────────────────────────────────

  passOn(connection: HostedConnection, username: Uint8Array): boolean {
    return this.#connections.passOn(connection, username);
  }

  connectionClosed(connection: HostedConnection): void {
    this.#connections.closed(connection);
  }

  connectionRelayed(connection: HostedConnection): void {
    this.#connections.relayed(connection);
  }

  relayedClosed(): void {
    this.#connections.release();
  }

  tryAcquireConnection(): (() => void) | null {
    return this.#connections.tryAcquire() ? () => this.#connections.release() : null;
  }

  handshakeBegins(connection: HostedConnection, source: string | null): boolean {
    return this.#handshakes.add(connection, source);
  }

  handshakeSource(connection: HostedConnection, source: string): boolean {
    return this.#handshakes.setSource(connection, source);
  }

  handshakeEnds(connection: HostedConnection): void {
    this.#handshakes.delete(connection);
  }

  #evictHandshake(source: string | null, hops: number): void {
    if (this.#handshakes.evictOldest(source) || hops === 0) return;
    const next = (this.#uses.start.index + 1) % this.#uses.start.workers;
    this.#uses.sendToPeer(next, { kind: 'evict-handshake', source, hops: hops - 1 });
  }

  #evictElsewhere(source: string | null, hasOwn: boolean): boolean {
    const { index, workers } = this.#uses.start;
    if (workers === 1) return false;
    let most = index;
    for (let worker = 0; worker < workers; worker += 1) {
      if (this.#gauges.getOf(worker, 'handshakes') > this.#gauges.getOf(most, 'handshakes')) most = worker;
    }
    if (most === index && hasOwn) return false;
    const other = most === index ? (index + 1) % workers : most;
    this.#uses.sendToPeer(other, { kind: 'evict-handshake', source, hops: workers - 1 });
    return true;
  }

  isTrustedProxy(peer: Endpoint): boolean {
    return this.#isProxy(peer);
  }

  #findOutbound({ address, port }: { readonly address: string; readonly port: number }): Endpoint[] {
    const found: Endpoint[] = [];
    for (const { owner } of this.#sessions.all()) {
      if (!(owner instanceof Relayed) || owner.outboundPort !== port) continue;
      const { local, remote } = owner.outbound;
      if (local.address === address) found.push(remote);
    }
    return found;
  }

  // ── Logins ───────────────────────────────────────────────────────────────────────────────────────────────────────

  logIn(client: Endpoint, username: Uint8Array, password: Uint8Array): Account | null {
    this.#uses.readOrders();
    return this.#logins.logIn(client, username, password);
  }

  /** What a listed load balancer does not name a client of is its own: its address is nobody's account. */
  authorizedName(client: Endpoint): Uint8Array | null {
    this.#uses.readOrders();
    if (this.#isProxy(client)) return null;
    const account = this.#authorized.find(client.address);
    return account === undefined ? null : Buffer.from(account.username);
  }

  logInByAddress(client: Endpoint, username: Uint8Array): Account | null {
    return this.#logins.logInByAddress(client, username);
  }

  withoutCredentials(client: Endpoint, isAsked: boolean): void {
    this.#logins.withoutCredentials(client, isAsked);
  }

  gaveCredentials(client: Endpoint): void {
    this.#logins.gaveCredentials(client);
  }

  isStillKnown(account: Account): boolean {
    return this.#accounts.byId(account.record.id) === account;
  }

  refusal(account: Account, client: Endpoint): string | null {
    return this.#logins.refusal(account, client);
  }

  refused(account: Account, client: Endpoint, reason: LimitRefusal): void {
    this.#logins.refused(account, client, reason);
  }

  acquirePermit(account: Account, client: Endpoint, done: (answer: PermitAnswer) => void): PermitQuestion {
    return this.#permits.acquire(account, client, done);
  }

  // ── Sessions ─────────────────────────────────────────────────────────────────────────────────────────────────────

  openSession(request: SessionRequest): Session | null {
    return this.#sessions.open(request);
  }

  associations(account: Account): number {
    return this.#accounts.associations(account);
  }

  egressOf(account: Account): EgressPolicy | null {
    return this.#egressOf(account.record.limits.egressClass);
  }

  date(): number {
    return Date.now();
  }

  readonly #tick = (): void => {
    this.io.timer(TICK_MS, this.#tick);
    this.#sessions.tick();
    this.#accounts.endExpired(Date.now());
    this.#connections.tick();
    const evicted = this.#handshakes.takeEvicted();
    if (evicted > 0) this.log.warn({ evicted }, 'too many unfinished handshakes: the oldest were closed');
    this.#logins.tick();
  };
}

/** Tenths of a second of the system's monotonic clock, which is the same in every thread. */
function sharedClock(): number {
  return Math.floor(Number(process.hrtime.bigint() / 100_000_000n)) | 0;
}
