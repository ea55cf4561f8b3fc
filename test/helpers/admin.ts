// Starts the admin API over a real store in a temporary folder, without the rest of the daemon. The test controls the clock, the
// login delay and the connections that the API sees.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.js';
import { type Accounts, createAccounts } from '../../src/core/accounts/accounts.js';
import { AccountDirectory } from '../../src/core/accounts/directory.js';
import { createPlansSetting } from '../../src/core/accounts/plans/plans.js';
import { createPacSetting } from '../../src/core/accounts/player/pac.js';
import { createAccountUsage } from '../../src/core/accounts/usage/account-usage.js';
import { NO_GEO } from '../../src/core/addresses/geo.js';
import { createAdminCredentials } from '../../src/core/auth/admin-credentials.js';
import { createPenalties } from '../../src/core/auth/penalties.js';
import { createWhitelistSetting, type WhitelistSetting } from '../../src/core/auth/whitelist.js';
import { ExitFigures } from '../../src/core/exits/exit-figures.js';
import { createExitsSetting } from '../../src/core/exits/exits-setting.js';
import type { Heartbeat } from '../../src/core/heartbeats/heartbeat.js';
import { HeartbeatPool } from '../../src/core/heartbeats/heartbeat-pool.js';
import type { Log } from '../../src/core/log.js';
import { NODES_KEY } from '../../src/core/nodes/nodes.js';
import { SessionRegistry } from '../../src/core/sessions/session-registry.js';
import { createSettings } from '../../src/core/settings/setting.js';
import { createRecentLog } from '../../src/core/stats/recent-log.js';
import { type AdminServerOptions, createAdminServer } from '../../src/http/server.js';
import type { Services } from '../../src/http/services.js';
import { type ObservedParts, observe } from '../../src/parts/admin/http.js';
import { createServices, type ServiceParts } from '../../src/parts/admin/services.js';
import { openAuth } from '../../src/parts/auth.js';
import { createSessionsPart } from '../../src/parts/database/sessions.js';
import { openSettings } from '../../src/parts/operator-settings.js';
import { createStatsPart } from '../../src/parts/stats.js';
import { PROGRAM_FOLDER } from '../../src/program.js';
import { openStore, type Store } from '../../src/store/store.js';
import { databaseOf, dropDatabaseOf } from './database.js';
import { testHooks } from './hooks.js';
import { basic, type HttpAnswer, type HttpRequest, send } from './http.js';
import { quickPasswords } from './passwords.js';

// The password contains a colon and characters outside ASCII, as RFC 7617 allows.
export const ADMIN = { username: 'admin', password: 'pass:wörd:口令' };

export const TEST_CONNECTIONS = {
  max: 1_000,
  maxPerSource: 1_000,
  maxOutside: 1_000,
  outsideTimeoutMs: 5_000,
  idleTimeoutMs: 30_000,
  minRateBytes: 1_024,
};

export interface TestAdmin {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly server: ReturnType<typeof createAdminServer>;
  readonly dataDir: string;
  readonly store: Store;
  readonly directory: AccountDirectory;
  readonly pool: HeartbeatPool;
  readonly accounts: Accounts;
  readonly whitelist: WhitelistSetting;
  /** The lines logged so far, each with its level. */
  readonly lines: Record<string, unknown>[];
  /** What the admin API reads of the data plane. */
  readonly plane: { listeners: { areOpen: boolean } };
  /** The players' listeners that /readyz tries. */
  readonly listeners: { readonly addresses: string[] };
  /** Sends a request with the admin's credentials. `json` becomes the body, with its content type. */
  api(method: string, path: string, options?: HttpRequest & { json?: unknown }): Promise<HttpAnswer>;
  /** Adds an account through the API; returns its AID. */
  addAccount(username: string, fields?: Record<string, unknown>): Promise<string>;
  /** Listens on one more address and returns its URL. */
  listen(host: string): Promise<string>;
}

const ATTEMPTS = {
  maxFailuresPerSource: 20,
  failureWindowMs: 300_000,
  maxSources: 10_000,
  maxCodeFailures: 10,
  codeFailureWindowMs: 60_000,
};

interface TestAdminOptions
  extends Partial<Omit<AdminServerOptions, 'accountForm'> & Pick<Services, 'agents' | 'now'>> {
  readonly accountForm?: { readonly zone: string };
  readonly attempts?: typeof ATTEMPTS;
  readonly maxDelayedPerSource?: number;
  readonly random?: () => number;
  /** An open store on the database of `dataDir`, which the test closes. Opening one costs as much as all the rest. */
  readonly opened?: { readonly store: Store; readonly dataDir: string };
}

/** Starts the admin API on a free port of 127.0.0.1. The end of the test stops it and removes its folder. */
export async function startTestAdmin(
  t: { after(fn: () => Promise<void>): void },
  {
    accountForm,
    attempts = ATTEMPTS,
    maxDelayedPerSource = 64,
    random = () => 0,
    opened,
    ...options
  }: TestAdminOptions = {},
): Promise<TestAdmin> {
  const { store, dataDir, close } = opened ? { ...opened, close: async () => {} } : await openOwnStore();
  let stopServer = async (): Promise<void> => undefined;
  t.after(async () => {
    await stopServer();
    await close();
  });
  const directory = new AccountDirectory();
  const pool = new HeartbeatPool({ maxPending: 1_000, maxPerAccount: 1_000 });
  const now = options.now ?? Date.now;
  const sessions = new SessionRegistry();
  const usage = createAccountUsage({
    maxGames: 32,
    store: store.traffic,
    directory,
    sessions,
    calendar: store.calendar,
    now,
  });
  const settings = createSettings();
  const exits = await settings.open(createExitsSetting(store.settings, []));
  const accounts = createAccounts({
    hasExit: (name) => exits.byName(name) !== null,
    store: store.accounts,
    calendar: store.calendar,
    directory,
    usage,
    pool,
    egressClasses: [],
    maxAuthorizedAddresses: 16,
    maxAllowedClients: 16,
    geoFiles: { country: null, asn: null },
    now,
    newId: randomUUID,
  });
  const whitelist = await settings.open(createWhitelistSetting(store.settings));
  const plans = await settings.open(createPlansSetting(store.settings));
  const passwords = quickPasswords();
  const credentials = createAdminCredentials({ settings: store.settings, passwords });
  await credentials.ensure(ADMIN);
  const lines: Record<string, unknown>[] = [];
  const log = logInto(lines);
  const hooks = testHooks(store, { log, now });
  const { config } = await loadConfig({ file: undefined, env: {}, defaultFiles: [] });
  const pac = await settings.open(createPacSetting(store.settings));
  const core = {
    ...{ store, directory, pool, accounts, usage, sessions, plans, pac, exits },
    playerLinks: store.playerLinks,
    ...{ whitelist, passwords, credentials, settings },
  };
  const plane = { engines: { native: 0, node: 1 }, listeners: { areOpen: true } };
  const listeners = { addresses: [] as string[], listeners: [] };
  const common = {
    config: {
      ...config,
      dataDir,
      timeZone: accountForm?.zone ?? config.timeZone,
      admin: { ...config.admin, attempts, maxDelayedPerSource },
    },
    core,
    log,
    now,
    tlsListeners: { certificates: () => new Map(), isListening: () => true },
    startedAt: now(),
  };
  const stats = await createStatsPart({ ...common, node: { isFirst: () => true } });
  const parts: ServiceParts & ObservedParts = {
    ...common,
    recentLog: createRecentLog({ ...config.log.recent, startedAt: now() }),
    auth: await openAuth(common),
    exits: {
      machineProblem: () => null,
      testExit: async () => ({ ok: false, reason: 'no-data-plane' }),
      exitFigures: new ExitFigures(now),
    },
    settings: await openSettings({ ...common, source: { file: null, effective: () => [] } }),
    stats,
    geo: { geo: NO_GEO },
    events: { test: async () => null },
    notices: {
      confirmations: {
        states: async () => ({ email: null, telegram: null }),
        sendCode: async () => ({ ok: false, reason: 'no-address' }),
        handoverChannels: async () => [],
        sendHandover: async () => ({ ok: false, reason: 'no-address' }),
        confirm: async () => false,
      },
      test: async () => null,
      wake() {},
      preview: () => Promise.reject(new Error('no notices')),
    },
    liveSessions: createSessionsPart({ ...common, stats, node: { nodeName: 'test' } }),
    heartbeats: { write: async () => undefined },
    node: { nodeName: 'test', key: NODES_KEY, reload: async () => undefined, problem: () => null },
    problem: async () => null,
    plane,
    listeners,
    agents: options.agents ?? hooks,
    penalties: createPenalties({ store: null, monotonicNow: now }),
    random,
    monotonicNow: now,
  };
  const services = { ...createServices(parts), ...(options.agents ? { agents: options.agents } : {}) };
  const server = createAdminServer(services, {
    ...observe(parts, () => false),
    consoleFolder: join(PROGRAM_FOLDER, 'dist/console'),
    playerFolder: join(PROGRAM_FOLDER, 'dist/player'),
    handleHook: hooks.handle,
    tls: null,
    handshakeTimeoutMs: 10_000,
    handleFor: (_request, handle) => handle(),
    isOwnOutbound: () => false,
    settle() {},
    trustedProxies: [],
    allowedHosts: ['x'],
    maxBodyBytes: 65_536,
    maxBulkBodyBytes: config.admin.maxBulkBodyBytes,
    accountForm: accountForm !== undefined,
    connections: TEST_CONNECTIONS,
    mayCallHooks: () => false,
    maxSources: attempts.maxSources,
    ...options,
    monotonicNow: now,
  });

  async function listen(host: string): Promise<string> {
    const http = server.createHttpServer();
    http.listen(0, host);
    await once(http, 'listening');
    const { address, port, family } = http.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  const url = await listen('127.0.0.1');
  stopServer = async () => {
    await server.close();
    // A test may have closed the store already.
    await Promise.resolve(stats.stop?.()).catch(() => undefined);
  };

  const api: TestAdmin['api'] = (method, path, { headers, body, json } = {}) =>
    send(url + path, {
      method,
      headers: {
        authorization: basic(ADMIN.username, ADMIN.password),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? body : JSON.stringify(json),
    });

  async function addAccount(username: string, fields: Record<string, unknown> = {}): Promise<string> {
    const json = { Username: username, Password: 'secret', ...fields };
    const added = await api('POST', '/ProxyAccount/AddProxyAccount', { json });
    if (added.status !== 200) throw new Error(`adding ${username} failed: ${added.status} ${added.text}`);
    return accounts.getByUsername(username)?.account.id ?? '';
  }

  return {
    url,
    server,
    dataDir,
    store,
    directory,
    pool,
    accounts,
    whitelist,
    lines,
    plane,
    listeners,
    api,
    addAccount,
    listen,
  };
}

/** Opens a store in a new folder. `close` removes the folder. */
async function openOwnStore(): Promise<{ store: Store; dataDir: string; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-admin-'));
  const dataDir = join(folder, 'data');
  const store = await openStore(await databaseOf(dataDir));
  async function close(): Promise<void> {
    await store.close();
    await rm(folder, { recursive: true, force: true });
    await dropDatabaseOf(dataDir);
  }
  return { store, dataDir, close };
}

/** Makes a heartbeat entry of an account, for the pool. */
export function heartbeatOf(
  account: { id: string; username: string },
  gameId: string | null,
  at = Date.now(),
): Heartbeat {
  return {
    at,
    accountId: account.id,
    username: account.username,
    sessionId: randomUUID(),
    client: '127.0.0.1',
    destination: 'game.example:7000',
    protocol: 'tcp',
    bytesUp: 1,
    bytesDown: 1,
    kind: 'game',
    gameId,
  };
}

/** Returns a log that adds its lines to `lines`. */
export function logInto(lines: Record<string, unknown>[]): Log {
  const write = (level: string) => (fields: Readonly<Record<string, unknown>>, msg: string) => {
    lines.push({ level, msg, ...fields });
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
