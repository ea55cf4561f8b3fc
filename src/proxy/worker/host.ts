// What connections, commands and associations use of their worker. Everything is passed in: src/proxy uses no global state.
import { performance } from 'node:perf_hooks';
import { createSchedules } from '../../core/accounts/access/schedule.js';
import { NO_GEO, presentGeo } from '../../core/addresses/geo.js';
import type { IpBytes } from '../../core/addresses/ip.js';
import { createGameRules, type GameRule } from '../../core/heartbeats/game-rules.js';
import { compilePattern } from '../../games-pattern.js';
import { type GeoFiles, openGeo } from '../../geo.js';
import { Connections } from '../connection/connections.js';
import { createLoginGuard } from '../connection/login-guard.js';
import { Logins } from '../connection/logins.js';
import { createEgressPolicies } from '../connection/target.js';
import { createRemoteResolver } from '../dns/messages.js';
import { createIsLocalAddress } from '../local-addresses.js';
import { Handshakes } from '../memory/handshakes.js';
import { createOwnPorts } from '../memory/own-ports.js';
import { Places } from '../memory/places.js';
import { viewSessionCounts } from '../memory/session-counts.js';
import { SourceTable } from '../memory/source-table.js';
import { createFragmentMemory } from '../protocols/fragments.js';
import { createProxySources } from '../protocols/proxy-header.js';
import { WorkerExits } from '../upstreams/exits.js';
import { createUpstreams } from '../upstreams/rules.js';
import { WorkerAccounts } from './accounts.js';
import { createBase, type WorkerDeps } from './base.js';
import { Guards } from './guards.js';
import { WorkerPermits } from './permits.js';
import { WorkerSessions } from './sessions.js';

export type WorkerHost = ReturnType<typeof createHost>;

export function createHost(deps: WorkerDeps) {
  const base = createBase(deps);
  const { io, settings, index, gauges, events } = base;
  const { shared } = deps.start;
  /** The main thread has the first part of what is divided among threads. */
  const thread = index + 1;
  const now = (): number => io.now();
  let games = createGameRules([], compilePattern);
  let geoFiles = NO_GEO;
  const geo = presentGeo(() => geoFiles);

  const ownPorts = createOwnPorts(shared.ownPorts, thread);
  const exits = new WorkerExits(settings, [], now, (event) => events.push(event));
  const isOfInterface = createIsLocalAddress(now);
  /** Whether an address (IPv4-mapped ones as IPv4) belongs to this machine. */
  const isLocalAddress = (ip: IpBytes): boolean => isOfInterface(ip) || exits.hasAddress(ip);
  /** The policy of an egress class; null: the configuration has no such class. */
  const egressOf = createEgressPolicies(settings, ownPorts, isLocalAddress, geo);

  const schedules = createSchedules(settings.timeZone);
  const accounts = new WorkerAccounts({
    io,
    egressOf,
    schedules,
    geo,
    onMost: (places) => gauges.setSign(index, 'mostPlaces', places),
  });
  const places = new Places(base, accounts, new SourceTable(shared.connectionSources, thread));
  const permits = new WorkerPermits(events);
  const guards = new Guards(base);
  const sessions = new WorkerSessions({
    guards,
    accounts,
    counts: viewSessionCounts(shared.sessionCounts),
    events,
    permits,
    places,
    games: () => games,
    gameIntervalMs: settings.gameIntervalMs,
    now,
    date: Date.now,
  });

  const loginGuard = createLoginGuard({
    ...settings.login,
    sources: new SourceTable(shared.loginSources, thread),
    names: new SourceTable(shared.loginNames, thread),
    now: sharedClock,
  });
  const isTrustedProxy = createProxySources(settings.proxyProtocolFrom);
  const mayChooseExit = settings.exitSuffix.length > 0 ? exits.mayChoose : null;
  const logins = new Logins(base, {
    accounts,
    schedules,
    geo,
    isTrustedProxy,
    guard: loginGuard,
    mayChooseExit,
  });
  const handshakes = new Handshakes(base, new SourceTable(shared.handshakes, thread));
  const resolver = createRemoteResolver(deps.ask);

  return {
    ...base,
    ownPorts,
    exits,
    upstreams: createUpstreams(settings.upstreams),
    isLocalAddress,
    isTrustedProxy,
    egressOf,
    accounts,
    loginGuard,
    logins,
    guards,
    permits,
    places,
    sessions,
    handshakes,
    connections: new Connections(base, handshakes),
    resolver,
    resolve: resolver.resolve,
    fragmentMemory: createFragmentMemory(settings.udp.fragmentMemoryBytes, (bytes) =>
      gauges.add(index, 'fragmentBytes', bytes),
    ),
    setGames(rules: readonly GameRule[]): void {
      games = createGameRules(rules, compilePattern);
    },
    setGeo(files: GeoFiles): void {
      geoFiles = openGeo(files);
    },
  };
}

/** From this thread's clock to the system's monotonic clock, which is the same in every thread; in ms. */
const TO_SHARED_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The system's monotonic clock in tenths of a second. */
const sharedClock = (): number => Math.floor((performance.now() + TO_SHARED_MS) / 100) | 0;
