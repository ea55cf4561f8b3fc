// The agent gateway behind the real HTTP server, over a real store in a temporary folder.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentGatewayDeps, AgentSettings } from '../../src/agents/context.js';
import type { createAgentGateway } from '../../src/agents/gateway.js';
import type { RunStore } from '../../src/core/agents/run-store.js';
import { isFinal, type Run } from '../../src/core/agents/runs.js';
import { openStore, type Store } from '../../src/store/store.js';
import { logInto, startTestAdmin, type TestAdmin } from './admin.js';
import { databaseOf, dropDatabaseOf } from './database.js';
import { eventually } from './eventually.js';
import { hookSettings, type LooseHookSettings, SECRET, testHooks } from './hooks.js';
import { type HttpAnswer, send } from './http.js';
import type { Scope } from './suite.js';

export interface GatewayOptions {
  readonly webhooks?: LooseHookSettings;
  readonly agents?: Readonly<Record<string, AgentSettings>>;
  /** Other dependencies from the daemon: the clock, and who may call. */
  readonly deps?: Partial<AgentGatewayDeps>;
  /** The clock of the store, which goes into ids; default: the system's. */
  readonly storeNow?: () => number;
  /** A folder that outlives this gateway. */
  readonly dataDir?: string;
  /** Whether the gateway executes runs; default true. */
  readonly isStarted?: boolean;
  readonly trustedProxies?: string[];
  /** Wraps the table of runs that the gateway uses. */
  readonly breakStore?: (runs: RunStore) => RunStore;
}

export interface Gateway {
  readonly url: string;
  readonly admin: TestAdmin;
  readonly hooks: ReturnType<typeof createAgentGateway>;
  readonly store: Store;
  readonly dataDir: string;
  readonly lines: Record<string, unknown>[];
  /** POSTs `body` as JSON with the correct token. `headers` replace default headers. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<HttpAnswer>;
  /** Queues a message, expects 200, and returns the id of the run. */
  queue(agent: string, message: string, sessionKey?: string): Promise<string>;
  /** Resolves with the run once `isReached` returns true; default: once the run has ended. */
  run(id: string, isReached?: (run: Run) => boolean): Promise<Run>;
  /** Returns every run, oldest first. */
  runs(): Promise<Run[]>;
  stop(graceMs?: number): Promise<void>;
}

export async function startGateway(t: Scope, options: GatewayOptions = {}): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-hooks-'));
  const dataDir = options.dataDir ?? join(folder, 'data');
  const store = await openStore({
    ...(await databaseOf(dataDir)),
    ...(options.storeNow ? { now: options.storeNow } : {}),
  });
  const lines: Record<string, unknown>[] = [];
  const log = logInto(lines);
  const agents = options.agents ?? {};
  const everyAgent = Object.fromEntries(Object.keys(agents).map((name) => [name, { sessionKey: null }]));
  const hooks = testHooks(store, {
    webhooks: hookSettings({ agents: everyAgent, ...options.webhooks }),
    agents,
    dataDir,
    log,
    ...(options.breakStore ? { runs: options.breakStore(store.runs) } : {}),
    ...options.deps,
  });
  if (options.isStarted ?? true) await hooks.start();

  let isStopped = false;
  async function stop(graceMs = 0): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await hooks.stop(graceMs);
    await hooks.release();
    await store.close();
  }
  t.after(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
    if (!options.dataDir) await dropDatabaseOf(dataDir);
  });

  const admin = await startTestAdmin(t, {
    opened: { store, dataDir },
    handleHook: hooks.handle,
    agents: {
      control: hooks.control,
      runs: store.runs,
      deliveries: store.deliveries,
      sessions: store.agentSessions,
    },
    trustedProxies: options.trustedProxies ?? [],
  });

  const post: Gateway['post'] = (path, body, headers = {}) =>
    send(admin.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  return {
    url: admin.url,
    admin,
    hooks,
    store,
    dataDir,
    lines,
    post,
    async queue(agent, message, sessionKey) {
      const answer = await post('/hooks/agent', { agent, message, ...(sessionKey ? { sessionKey } : {}) });
      if (answer.status !== 200) throw new Error(`not queued: ${answer.status} ${answer.text}`);
      return (answer.json as { runId: string }).runId;
    },
    run: (id, isReached = (run) => isFinal(run.status)) => reached(store, id, isReached),
    runs: async () => (await store.runs.list({ limit: 100_000 })).reverse(),
    stop,
  };
}

/** Resolves with the run once `isReached` returns true. */
export function reached(
  store: Pick<Store, 'runs'>,
  id: string,
  isReached: (run: Run) => boolean,
  timeoutMs?: number,
): Promise<Run> {
  return eventually(async () => {
    const run = await store.runs.get(id);
    assert.ok(run && isReached(run), `the run is not as it should be: ${JSON.stringify(run)}`);
    return run;
  }, timeoutMs);
}
