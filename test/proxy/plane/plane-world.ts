// A data plane for a test: real threads and sockets, with a control plane that records its events.
import { randomUUID } from 'node:crypto';
import type { LoginOutcome } from '../../../src/core/accounts/access/login-log.js';
import { hashPassword } from '../../../src/core/accounts/access/password.js';
import { NO_LIMITS } from '../../../src/core/accounts/usage/limits.js';
import type { Exit } from '../../../src/core/exits/exit.js';
import type { GameRule } from '../../../src/core/heartbeats/game-rules.js';
import type { Session, SessionSummary } from '../../../src/core/sessions/session.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import { loadLibc } from '../../../src/proxy/io/native/libc.js';
import { openListener } from '../../../src/proxy/io/native/listen.js';
import { packAccount } from '../../../src/proxy/memory/packed-account.js';
import { AccountWriter } from '../../../src/proxy/plane/account-writer.js';
import { type PlaneFailure, type PlaneOptions, ProxyPlane } from '../../../src/proxy/plane/plane.js';
import type { AccountRecord, ProxySettings } from '../../../src/proxy/plane-settings.js';
import type { WorkerAccounts } from '../../../src/proxy/worker/accounts.js';
import type { Scope } from '../../helpers/suite.js';

export const PASSWORD = 'secret';
/** The worker's thread of the bundle that users start: it loads in a third of the time of its modules. */
const PROGRAM_THREAD = new URL('../../../program/proxy/worker/thread.js', import.meta.url);
/** A worker's thread that breaks at the login of some names (plane-thread.ts). */
export const BREAKABLE_THREAD = new URL('./plane-thread.js', import.meta.url);

/** The options of a plain TCP listener. */
export const PLAIN = {
  path: null,
  mode: 0,
  isDualStack: false,
  hasProxyHeader: false,
  isFromTls: false,
  protocols: ['socks5', 'http'],
} as const;

/** The resolver's settings, without a name server. */
export const RESOLVER = {
  servers: [],
  timeoutMs: 1_000,
  cacheSize: 10,
  maxPending: 10,
  maxPendingPerAccount: 10,
  maxPendingPerSource: 10,
  maxLookupsPerMinutePerAccount: 1_000,
  maxLookupsPerMinutePerSource: 1_000,
};

export const SETTINGS: ProxySettings = {
  exitChecks: { intervalMs: 0, timeoutMs: 1_000 },
  handshakeTimeoutMs: 60_000,
  connectTimeoutMs: 5_000,
  idleTimeoutMs: 60_000,
  halfCloseTimeoutMs: 60_000,
  maxConnections: 1_000,
  maxConnectionsPerAccount: null,
  maxConnectionsPerSource: null,
  maxHandshakes: 100,
  maxHandshakesPerSource: 100,
  login: {
    maxFailuresPerSource: 1_000,
    maxFailuresPerUser: 1_000,
    failureWindowMs: 60_000,
    maxSources: 1_000,
  },
  proxyProtocolFrom: [],
  timeZone: 'UTC',
  egress: { private: 'allow', allow: [], deny: [] },
  egressClasses: {},
  guard: {
    limits: {
      connectionsPerSecond: 0,
      connectionsPerMinute: 0,
      destinationsPerMinute: 0,
      udpDestinationsPerSecond: 0,
      failedConnectionsPerMinute: 0,
    },
    maxWaitMs: 1_000,
    suspend: { after: 0, withinMs: 1, forMs: 1 },
  },
  allowUnderscore: true,
  gameIntervalMs: 1_000,
  http: { maxHeaderBytes: 16_384, maxHeaderFields: 100 },
  udp: {
    enabled: true,
    portRange: null,
    publicAddresses: [],
    idleTimeoutMs: 60_000,
    dnsIdleTimeoutMs: 15_000,
    fullCone: false,
    maxDestinations: 100,
    recordedDestinations: 4,
    maxWaitingForUpstream: 10,
    fragmentMemoryBytes: 65_536,
    maxAssociationsPerAccount: 32,
    maxDecisionsPerSecond: 1_000,
  },
  bind: { enabled: true, portRange: null, publicAddresses: [], timeoutMs: 5_000 },
  upstreams: [],
  exitSuffix: [],
};

export function accountRecord(username: string): AccountRecord {
  return {
    id: randomUUID(),
    username,
    passwordHash: hashPassword(Buffer.from(PASSWORD)),
    link: null,
    passwordVersion: 0,
    isEnabled: true,
    suspendedUntil: null,
    expiresAt: null,
    allowedClients: [],
    schedule: null,
    quotaLeft: null,
    quotaCounted: 0,
    needsPermit: false,
    otherNodes: 0,
    authorizedAddresses: [],
    owner: null,
    exit: null,
    limits: NO_LIMITS,
  };
}

/** Returns a function that puts an account into those of a worker, as the control plane does. */
export function accountsFor(accounts: WorkerAccounts): (record: AccountRecord, now: number) => void {
  const writer = new AccountWriter((chunk, memory) => accounts.setChunk(chunk, memory));
  return (record, now) => accounts.put(writer.add(packAccount(record)), now);
}

export interface Line {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface PlaneWorld {
  readonly plane: ProxyPlane;
  readonly port: number;
  readonly lines: Line[];
  readonly sessions: SessionRegistry;
  readonly opened: Session[];
  readonly closed: { session: Session; summary: SessionSummary }[];
  /** The number of logins by outcome. */
  readonly logins: Partial<Record<LoginOutcome, number>>;
  readonly failures: PlaneFailure[];
}

export interface PlaneWorldOptions extends Partial<PlaneOptions> {
  readonly games?: readonly GameRule[];
  readonly exits?: readonly Exit[];
  readonly accounts?: Iterable<AccountRecord>;
}

/** Starts a data plane with one listener on loopback. With the native engine the test owns the listening socket, as the daemon does. */
export async function startPlane(
  t: Scope,
  usernames: readonly string[],
  { games, exits, accounts, ...options }: PlaneWorldOptions = {},
): Promise<PlaneWorld> {
  const libc = loadLibc();
  const lines: Line[] = [];
  const opened: Session[] = [];
  const closed: PlaneWorld['closed'] = [];
  const sessions = new SessionRegistry();
  const logins: PlaneWorld['logins'] = {};
  const failures: PlaneFailure[] = [];
  const record = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push({ level, fields, message });
  sessions.subscribe({
    opened: (session) => void opened.push(session),
    closed: (session, summary) => void closed.push({ session, summary }),
    passed(session, summary) {
      opened.push(session);
      closed.push({ session, summary });
    },
  });
  const plane = new ProxyPlane({
    engine: 'native',
    workers: 1,
    settings: SETTINGS,
    resolver: RESOLVER,
    geo: { country: null, asn: null },
    libc,
    maxDescriptors: 65_536,
    observer: {
      sessions,
      permits: null,
      exits: { wayChanged() {}, failed() {} },
      logins({ outcome, count }) {
        logins[outcome] = (logins[outcome] ?? 0) + count;
      },
      rehashed() {},
      penalty() {},
      guarded() {},
    },
    onBroken: (broken) => void failures.push(broken),
    log: { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') },
    threadUrl: PROGRAM_THREAD,
    ...options,
  });
  t.after(() => plane.stop());
  // What was handed over applies in place of these.
  if (!options.handed) {
    plane.tell({ kind: 'games', games: games ?? [] });
    plane.tell({ kind: 'exits', exits: exits ?? [] });
    plane.accounts.replace(accounts ?? usernames.map(accountRecord));
  }
  await plane.start();
  const spec = { fd: null, host: '127.0.0.1', port: 0, ...PLAIN };
  if (options.engine === 'node') {
    const listening = await plane.listeners.listen(spec);
    if ('code' in listening) throw new Error(listening.code);
    return { plane, port: listening.port, lines, sessions, opened, closed, logins, failures };
  }
  const listener = openListener(libc, { address: '127.0.0.1', port: 0 });
  if ('code' in listener) throw new Error(listener.code);
  t.after(() => libc.close(listener.fd));
  plane.listeners.acceptFrom({ ...spec, fd: listener.fd });
  return { plane, port: listener.local.port, lines, sessions, opened, closed, logins, failures };
}
