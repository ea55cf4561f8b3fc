// This daemon as a node: holds a lease on the node name, publishes its load, and refuses new connections while drained.
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../config.js';
import { StartError } from '../../core/errors.js';
import { NODES_KEY, type NodeAddresses, type NodeClaim, type NodeLoad } from '../../core/nodes/nodes.js';
import { createPoller, nodeTimers } from '../../core/time/timers.js';
import { readVersion } from '../../program.js';
import type { PartDeps } from '../core.js';

/** The values that the node publishes, and the function that refuses new connections. */
interface NodeDuties {
  addresses(): NodeAddresses;
  load(): Omit<NodeLoad, 'cpuPercent' | 'databaseDelayMs'>;
  /** Closes new connections immediately, or accepts them again. */
  refuse(isRefusing: boolean): void;
}

/** Why a node refuses new connections, as in the response of /readyz. */
type NodeProblem = 'drained' | 'node-name-in-use';

const RENEWALS_PER_LEASE = 3;
/** How much longer a lease is on SQLite, where it is also renewed when the load changes: nobody waits for it, and each renewal is a write. */
const LONE_LEASES = 10;
/** How often to retry the claim of a name that another process has leased, in ms. */
const CLAIM_RETRY_MS = 250;

export const nodeNameOf = ({ node }: Pick<Config, 'node'>): string => node.name ?? hostname();

export type NodePart = Awaited<ReturnType<typeof createNodePart>>;

/** `start` throws StartError `node-name-in-use`, when another daemon of the database has the name. */
export async function createNodePart(deps: PartDeps<'dataDir' | 'node' | 'database', 'store'>) {
  const { config, log } = deps;
  const { store } = deps.core;
  const { nodes } = store;
  const leaseMs = config.node.leaseMs;
  const isShared = config.database.client === 'pg';
  const claim: NodeClaim = {
    name: nodeNameOf(config),
    folderId: await folderIdOf(config.dataDir),
    process: store.process,
    version: readVersion(),
    leaseMs: isShared ? leaseMs : LONE_LEASES * leaseMs,
  };
  let duties: NodeDuties | null = null;
  let problem: NodeProblem | null = null;
  let isRefusing = false;
  let isFirst = false;
  let refusal: NodeJS.Timeout | undefined;
  let databaseDelayMs: number | null = null;
  let published = '';
  let renewedAt = 0;
  /** Versions of other nodes that were logged. */
  const reported = new Set<string>();
  const cpuPercent = createCpuMeter();

  async function renewIfDue(): Promise<void> {
    const isDue = performance.now() - renewedAt >= claim.leaseMs / RENEWALS_PER_LEASE;
    if (isShared || isDue || JSON.stringify(duties?.load()) !== published) await renew();
  }

  async function renew(): Promise<void> {
    if (!duties) return;
    const served = duties.load();
    const load = { ...served, cpuPercent: cpuPercent(), databaseDelayMs };
    const startedAt = performance.now();
    const renewed = await nodes.renew(claim, { addresses: duties.addresses(), load });
    published = JSON.stringify(served);
    renewedAt = startedAt;
    databaseDelayMs = Math.round((performance.now() - startedAt) * 10) / 10;
    if (renewed) {
      isFirst = renewed.isFirst;
      for (const version of renewed.otherVersions) reportVersion(version);
      return setProblem(renewed.isDrained ? 'drained' : null);
    }
    isFirst = false;
    // The lease expired while this process was frozen or had no connection to the database.
    const claimed = await nodes.claim(claim);
    setProblem(!claimed.ok ? 'node-name-in-use' : claimed.isDrained ? 'drained' : null);
  }

  function reportVersion(version: string): void {
    if (reported.has(version)) return;
    reported.add(version);
    log.warn(
      { node: claim.name, version: claim.version, otherVersion: version },
      'nodes of different versions share this database; upgrade all nodes to enable every feature',
    );
  }

  function setProblem(next: NodeProblem | null): void {
    if (next === problem) return;
    problem = next;
    clearTimeout(refusal);
    if (next === null) {
      log.info({ node: claim.name }, 'node accepts new connections');
      refuse(false);
    } else if (next === 'drained') {
      log.info({ node: claim.name, refusesInMs: leaseMs }, 'node drained');
      // Refuse only after the load balancer has seen the failing /readyz and sends no more clients.
      refusal = setTimeout(refuse, leaseMs, true).unref();
    } else {
      log.error({ node: claim.name }, 'node name in use by another daemon; refusing new connections');
      refuse(true);
    }
  }

  function refuse(next: boolean): void {
    isRefusing = next;
    duties?.refuse(next);
  }

  const poller = createPoller({
    intervalMs: leaseMs / RENEWALS_PER_LEASE,
    poll: renewIfDue,
    onError: (err) => log.error({ err, node: claim.name }, 'node lease renewal failed'),
    timers: nodeTimers,
  });

  async function stopRenewing(): Promise<void> {
    clearTimeout(refusal);
    await poller.stop();
  }

  return {
    name: 'node',
    nodeName: claim.name,
    key: NODES_KEY,
    /** Whether this is the first of the live nodes, which runs the tasks that only one node may run. */
    isFirst: (): boolean => isFirst,
    /** Why the node refuses new connections; null when it accepts them. */
    problem: (): NodeProblem | null => problem,
    reload: renew,

    async start() {
      const claimed = await acquire();
      problem = claimed.isDrained ? 'drained' : null;
      isRefusing = claimed.isDrained;
    },

    /** Starts publishing. If the node was drained before the start, it refuses connections from the beginning. */
    async serve(given: NodeDuties): Promise<void> {
      duties = given;
      if (isRefusing) given.refuse(true);
      await renew();
      poller.start();
    },

    async stop() {
      await stopRenewing();
      await nodes.release(claim);
    },

    // The successor has the same data folder, and claims the name while it is leased.
    handOver: stopRenewing,
  };

  /** Claims the name. Waits for the expiry of a lease that another process no longer renews. */
  async function acquire(): Promise<{ readonly isDrained: boolean }> {
    let seenAt: number | null = null;
    for (;;) {
      const claimed = await nodes.claim(claim);
      if (claimed.ok) return claimed;
      if (seenAt !== null && claimed.renewedAt !== seenAt) throw nameInUse(claim.name);
      if (seenAt === null) {
        const { leaseLeftMs } = claimed;
        log.info(
          { node: claim.name, leaseLeftMs },
          'node name is leased by another daemon; waiting for the lease to expire',
        );
      }
      seenAt = claimed.renewedAt;
      await pause(CLAIM_RETRY_MS);
    }
  }
}

function nameInUse(name: string): StartError {
  return new StartError(
    'node-name-in-use',
    `Another daemon on this database runs as the node ${JSON.stringify(name)}. Give each daemon a unique name with node.name (or $PULSEGATE_NODE__NAME).`,
  );
}

/** The GUID of the data folder, created at first use. Only one daemon at a time uses a data folder. */
async function folderIdOf(dataDir: string): Promise<string> {
  const file = join(dataDir, 'node-id');
  const known = await readFile(file, 'utf8').catch(() => '');
  if (/^[0-9a-f-]{36}$/.test(known.trim())) return known.trim();
  const created = randomUUID();
  await writeFile(file, `${created}\n`, { mode: 0o600 });
  return created;
}

/** Returns a function for the CPU use of this process since its previous call, in percent of one core. */
function createCpuMeter(): () => number {
  let seen = { at: performance.now(), cpu: process.cpuUsage() };
  return () => {
    const now = { at: performance.now(), cpu: process.cpuUsage() };
    const usedMs = (now.cpu.user + now.cpu.system - seen.cpu.user - seen.cpu.system) / 1000;
    const spanMs = now.at - seen.at;
    seen = now;
    return spanMs <= 0 ? 0 : Math.round((1000 * usedMs) / spanMs) / 10;
  };
}
