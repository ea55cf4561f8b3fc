// One worker of the data plane: serves the connections of its accounts, and reports events to the control plane. It is the
// same on both engines; thread.ts runs it in its own thread.

import { createSchedules } from '../../core/accounts/access/schedule.js';
import type { EgressPolicy } from '../../core/egress/egress.js';
import { type Geo, presentGeo } from '../../core/geo.js';
import { createGameRules, type GameRules } from '../../core/heartbeats/game-rules.js';
import type { Endpoint, IpBytes } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import { compilePattern } from '../../games-pattern.js';
import { openGeo } from '../../geo.js';
import { AuthorizedClients } from '../connection/authorized-clients.js';
import { Connection } from '../connection/connection.js';
import { Connections } from '../connection/connections.js';
import { tryExit } from '../connection/exit-trial.js';
import type { ConnectionHost } from '../connection/host.js';
import { createLoginGuard, type LoginGuard } from '../connection/login-guard.js';
import { Logins } from '../connection/logins.js';
import { Relayed } from '../connection/relayed.js';
import { createEgressPolicies } from '../connection/target.js';
import { createRemoteResolver, type Question, type RemoteResolver, type Resolve } from '../dns/messages.js';
import { takeOver } from '../handover/take-over.js';
import type { Io } from '../io/io.js';
import { Handshakes } from '../memory/handshakes.js';
import { createOwnPorts, type OwnPorts } from '../memory/own-ports.js';
import { Places } from '../memory/places.js';
import { viewSessionCounts } from '../memory/session-counts.js';
import { type Gauges, viewGauges } from '../memory/shared.js';
import { SourceTable } from '../memory/source-table.js';
import type { PassedConnection, WorkerEvent, WorkerMessage, WorkerStart } from '../messages.js';
import type { ProxySettings } from '../plane-settings.js';
import { createFragmentMemory, type FragmentMemory } from '../protocols/fragments.js';
import { createProxySources, type ProxySources } from '../protocols/proxy-header.js';
import { ExitChecks } from '../upstreams/checks.js';
import { WorkerExits } from '../upstreams/exits.js';
import { createUpstreams, type Upstreams } from '../upstreams/rules.js';
import { WorkerAccounts } from './accounts.js';
import { createEventLog, Events } from './events.js';
import { Guards } from './guards.js';
import { WorkerListeners } from './listeners.js';
import { createIsLocalAddress } from './local-addresses.js';
import { WorkerPermits } from './permits.js';
import { WorkerSessions } from './sessions.js';

/** How often time limits of sessions and expiry of accounts are checked, in ms. */
const TICK_MS = 1_000;

export interface WorkerDeps {
  readonly io: Io;
  readonly start: WorkerStart;
  /** Sends events to the control plane. */
  readonly post: (events: readonly WorkerEvent[]) => void;
  /** Sends a lookup to the resolver's thread. */
  readonly ask: (question: Question) => void;
  /** Sends a message to another worker, if it is alive. */
  readonly sendToPeer: (worker: number, message: WorkerMessage) => void;
  /** Passes a connection to another worker; false when that worker is dead: the caller still owns the descriptor. */
  readonly passConnection: (worker: number, connection: PassedConnection) => boolean;
  /** Reads pending messages of the control plane. */
  readonly readMessages: () => void;
  /** Called when events wait for `events.flush`. */
  readonly onEventsWaiting: () => void;
  /** Ends the loop. */
  readonly stop: () => void;
}

export class ProxyWorker implements ConnectionHost {
  readonly io: Io;
  readonly settings: ProxySettings;
  readonly upstreams: Upstreams;
  readonly exits: WorkerExits;
  readonly ownPorts: OwnPorts;
  readonly isLocalAddress: (ip: IpBytes) => boolean;
  readonly fragmentMemory: FragmentMemory;
  readonly resolver: RemoteResolver;
  readonly resolve: Resolve;
  readonly events: Events;
  readonly log: Log;
  readonly isTrustedProxy: ProxySources;
  readonly handshakes: Handshakes;
  readonly logins: Logins;
  readonly permits: WorkerPermits;
  readonly guards: Guards;
  readonly connections: Connections;
  readonly #deps: WorkerDeps;
  readonly #gauges: Gauges;
  readonly accounts: WorkerAccounts;
  readonly #authorized = new AuthorizedClients();
  readonly #places: Places;
  readonly sessions: WorkerSessions;
  readonly #guard: LoginGuard;
  readonly egressOf: (egressClass: string | null) => EgressPolicy | null;
  readonly #listeners: WorkerListeners;
  /** Null in all workers but the first. */
  readonly #exitChecks: ExitChecks | null;
  #games: GameRules;
  /** From the present files. */
  #geo: Geo;
  /** Asked to freeze, and to capture: the tokens of the requests, until they are answered. */
  #freezing: number | null = null;
  #capturing: number | null = null;
  #isFrozen = false;
  /** Messages that came after `capture`: what has been captured must not change. */
  #deferred: WorkerMessage[] | null = null;

  constructor(deps: WorkerDeps) {
    const { io, start } = deps;
    const { settings, shared, index } = start;
    this.#deps = deps;
    this.io = io;
    this.settings = settings;
    this.ownPorts = createOwnPorts(shared.ownPorts, index + 1);
    this.exits = new WorkerExits(
      settings,
      start.exits,
      () => io.now(),
      (event) => this.events.push(event),
    );
    const isOfInterface = createIsLocalAddress(() => io.now());
    this.isLocalAddress = (ip) => isOfInterface(ip) || this.exits.hasAddress(ip);
    this.upstreams = createUpstreams(settings.upstreams);
    this.#gauges = viewGauges(shared.gauges);
    this.fragmentMemory = createFragmentMemory(settings.udp.fragmentMemoryBytes, (bytes) =>
      this.#gauges.add(index, 'fragmentBytes', bytes),
    );
    this.#games = createGameRules(start.games, compilePattern);
    this.#geo = openGeo(start.geo);
    const geo = presentGeo(() => this.#geo);
    this.egressOf = createEgressPolicies(settings, this.ownPorts, this.isLocalAddress, geo);
    this.events = new Events({
      post: deps.post,
      setWaiting: (isWaiting) => {
        this.#gauges.setSign(index, 'eventsWaiting', isWaiting ? 1 : 0);
        if (isWaiting) deps.onEventsWaiting();
      },
      batchesRead: () => this.#gauges.getSign(index, 'batchesRead'),
      now: () => io.now(),
      date: Date.now,
    });
    this.log = createEventLog(this.events);
    const schedules = createSchedules(settings.timeZone);
    this.accounts = new WorkerAccounts({
      io,
      egressOf: this.egressOf,
      schedules,
      geo,
      onMost: (places) => this.#places.setMost(places),
    });
    this.#places = new Places({
      ...settings,
      index,
      workers: start.workers,
      gauges: this.#gauges,
      accounts: this.accounts,
      sources: new SourceTable(shared.connectionSources, index + 1),
      sendToPeer: deps.sendToPeer,
      log: this.log,
    });
    this.permits = new WorkerPermits(this.events);
    this.guards = new Guards({
      settings,
      report: (event) => this.events.push(event),
      now: () => io.now(),
    });
    this.sessions = new WorkerSessions({
      accounts: this.accounts,
      counts: viewSessionCounts(shared.sessionCounts),
      events: this.events,
      permits: this.permits,
      places: this.#places,
      games: () => this.#games,
      gameIntervalMs: settings.gameIntervalMs,
      now: () => io.now(),
      date: Date.now,
    });
    this.connections = new Connections({
      io,
      create: (stream, arrival) => new Connection(this, stream, arrival),
      index,
      workers: start.workers,
      passConnection: deps.passConnection,
      ...settings,
      count: (by) => this.#gauges.add(index, 'connections', by),
      makePlace: () => this.handshakes.makePlace(),
      log: this.log,
    });
    const thread = index + 1;
    this.handshakes = new Handshakes({
      ...settings,
      index,
      workers: start.workers,
      gauges: this.#gauges,
      sendToPeer: deps.sendToPeer,
      sources: new SourceTable(shared.handshakes, thread),
    });
    this.#guard = createLoginGuard({
      ...settings.login,
      sources: new SourceTable(shared.loginSources, thread),
      names: new SourceTable(shared.loginNames, thread),
      now: sharedClock,
    });
    this.isTrustedProxy = createProxySources(settings.proxyProtocolFrom);
    this.logins = new Logins({
      accounts: this.accounts,
      schedules,
      geo,
      authorized: this.#authorized,
      isTrustedProxy: this.isTrustedProxy,
      readMessages: deps.readMessages,
      guard: this.#guard,
      mayChooseExit: settings.exitSuffix.length > 0 ? this.exits.mayChoose : null,
      events: this.events,
      log: this.log,
    });
    this.#listeners = new WorkerListeners(io, this.events, (stream, arrival) =>
      this.connections.accept(stream, arrival),
    );
    this.resolver = createRemoteResolver(deps.ask);
    this.resolve = this.resolver.resolve;
    this.#exitChecks = index === 0 ? new ExitChecks(this, this.exits) : null;
    io.timer(TICK_MS, this.#tick);
  }

  // ── Messages of the control plane ──────────────────────────────────────────────────────────────────────────────────

  receive(message: WorkerMessage): void {
    if (this.#deferred !== null && message.kind !== 'thaw' && message.kind !== 'stop')
      return void this.#deferred.push(message);
    switch (message.kind) {
      case 'accounts': {
        const now = Date.now();
        for (const record of message.records) this.accounts.put(record, now);
        return;
      }
      case 'authorized':
        for (const account of message.accounts) this.#authorized.put(account);
        return;
      case 'account-removed':
        this.#authorized.remove(message.id);
        return this.accounts.remove(message.id, message.reason);
      case 'games':
        this.#games = createGameRules(message.games, compilePattern);
        return;
      case 'exits':
        this.#exitChecks?.checkSoon();
        return this.exits.set(message.exits);
      case 'exit-ways':
        return this.exits.setWays(message.ways);
      case 'try-exit':
        return tryExit(this, message, (trial) => {
          this.events.push({ kind: 'exit-tried', token: message.token, trial });
          this.events.send();
        });
      case 'geo':
        this.#geo = openGeo(message.files);
        return;
      case 'end-session':
        return this.sessions.get(message.slot, message.generation)?.end(message.reason);
      case 'end-account':
        return this.accounts.end(message.accountId, message.reason);
      case 'end-all':
        return this.sessions.endAll(message.reason);
      case 'permit':
        return this.permits.answered(message.token, message.refusal);
      case 'penalties':
        for (const penalty of message.penalties) this.#guard.penalize(penalty);
        return;
      case 'revoke-permit':
        return this.permits.revoke(message.token);
      case 'listen':
        return this.#listeners.listen(message.listener);
      case 'refuse':
        this.connections.isRefusing = message.isRefusing;
        return;
      case 'drain':
        this.#listeners.closeAll();
        // They were accepted, so nobody else can serve them.
        this.io.timer(message.handshakeMs, () => this.handshakes.close());
        return;
      case 'sync':
        this.events.push({ kind: 'synced', token: message.token });
        return this.events.send();
      case 'find-outbound':
        this.events.push({ kind: 'outbound', token: message.token, remotes: this.#findOutbound(message) });
        return this.events.send();
      case 'adopt':
        return this.connections.adopt(message.connection);
      case 'evict-handshake':
        return this.handshakes.evictForPeer(message.source, message.hops);
      case 'make-room':
        this.#places.makeRoomHere();
        return;
      case 'freeze':
        this.#freezing = message.token;
        this.#isFrozen = this.io.name === 'native';
        return this.#isFrozen ? undefined : this.freeze();
      case 'capture':
        this.#capturing = message.token;
        return this.#isFrozen ? undefined : this.capture();
      case 'thaw':
        return this.#thaw();
      case 'take-over':
        return takeOver(this, message.connections);
      case 'stop':
        if (this.#deferred === null) this.#end();
        this.#isFrozen = false;
        return this.#deps.stop();
    }
  }

  // ── Handover ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The engine calls `freeze` and `capture` between two turns, and nothing else until the worker is not frozen any more. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Answers the request to freeze, now that no event is under way. */
  freeze(): void {
    if (this.#freezing !== null) this.events.push({ kind: 'synced', token: this.#freezing });
    this.#freezing = null;
    this.events.send();
  }

  /** Answers the request to capture, if there is one. All connections that other workers have passed have been adopted. */
  capture(): void {
    if (this.#capturing === null) return;
    const token = this.#capturing;
    this.#capturing = null;
    this.#deferred = [];
    const sessions = this.sessions.all().flatMap((session) => session.capture() ?? []);
    const connections = [...sessions, ...this.connections.capture()];
    this.events.push({ kind: 'captured', token, connections });
    this.events.send();
  }

  #thaw(): void {
    const deferred = this.#deferred ?? [];
    this.#deferred = null;
    this.#isFrozen = false;
    for (const message of deferred) this.receive(message);
  }

  /** Ends all sessions and connections, and reports this. */
  #end(): void {
    this.#listeners.closeAll();
    this.sessions.endAll('shutdown');
    this.connections.closeAll();
    this.events.send();
  }

  /** The worker has failed: ends its sessions and reports this. */
  failed(): void {
    for (const session of this.sessions.all()) session.finish('relay-failed');
    this.events.send();
  }

  // ── Connections ──────────────────────────────────────────────────────────────────────────────────────────────────

  #findOutbound({ address, port }: Endpoint): Endpoint[] {
    const found: Endpoint[] = [];
    for (const { transfer } of this.sessions.all()) {
      if (!(transfer instanceof Relayed) || transfer.outboundPort !== port) continue;
      const { local, remote } = transfer.outbound;
      if (local.address === address) found.push(remote);
    }
    return found;
  }

  readonly #tick = (): void => {
    this.io.timer(TICK_MS, this.#tick);
    this.sessions.tick();
    this.accounts.endPast(Date.now());
    this.connections.tick();
    this.guards.tick();
    this.#exitChecks?.tick();
    this.exits.tick();
    this.#places.tick();
    const evicted = this.handshakes.takeEvicted();
    if (evicted > 0) this.log.warn({ evicted }, 'handshake limit reached; oldest connections closed');
    this.logins.tick();
  };
}

/** The system's monotonic clock, which is the same in every thread, in tenths of a second. */
function sharedClock(): number {
  return Math.floor(Number(process.hrtime.bigint() / 100_000_000n)) | 0;
}
