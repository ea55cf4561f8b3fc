// This daemon as a node of the service: it holds a lease on its name, says what it does, and takes no connections while it is drained.
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config.js';
import { StartError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { NODES_KEY, type NodeAddresses, type NodeClaim, type NodeLoad } from '../core/nodes/nodes.js';
import { createPoller } from '../core/poller.js';
import type { Reloadable } from '../core/settings/setting.js';
import { readVersion } from '../program.js';
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';

/** What the node says of itself, and what it does when it is drained. */
export interface NodeDuties {
  addresses(): NodeAddresses;
  load(): Omit<NodeLoad, 'cpuPercent' | 'databaseDelayMs'>;
  /** Closes every new connection at once, or serves them again. */
  refuse(isRefusing: boolean): void;
}

/** Why a node takes no new connections, as /readyz says it. */
export type NodeProblem = 'drained' | 'node-name-in-use';

export interface NodePart extends Part, Reloadable {
  /** Unlike the one of a part, the name that nodes are told apart by. */
  readonly nodeName: string;
  /** Whether it is the first of the live nodes: what one of them does for all is its task. */
  isFirst(): boolean;
  /** Why it takes no new connections; null: it does. */
  problem(): NodeProblem | null;
  /** From now on it reports this. Drained before, it refuses connections from the start. */
  serve(duties: NodeDuties): Promise<void>;
}

/** The lease is renewed so many times before it would run out. */
const RENEWALS_PER_LEASE = 3;
/** How often a name that another process held lately is asked for again, in ms. */
const ASK_AGAIN_MS = 250;

/** The name of the node that a configuration makes. */
export const nodeNameOf = ({ node }: Pick<Config, 'node'>): string => node.name ?? hostname();

/** `start` throws StartError `node-name-in-use`, when another daemon of the database has the name. */
export async function createNodePart(uses: {
  readonly config: Pick<Config, 'dataDir' | 'node'>;
  readonly core: Pick<Core, 'store'>;
  readonly log: Log;
}): Promise<NodePart> {
  const { config, log } = uses;
  const { store } = uses.core;
  const { nodes } = store;
  const leaseMs = config.node.leaseMs;
  const claim: NodeClaim = {
    name: nodeNameOf(config),
    owner: await ownerOf(config.dataDir),
    process: store.process,
    version: readVersion(),
    leaseMs,
  };
  let duties: NodeDuties | null = null;
  let problem: NodeProblem | null = null;
  let isRefusing = false;
  let isFirst = false;
  let refusal: NodeJS.Timeout | undefined;
  let databaseDelayMs: number | null = null;
  const cpuPercent = createCpuMeter();

  async function renew(): Promise<void> {
    if (!duties) return;
    const load = { ...duties.load(), cpuPercent: cpuPercent(), databaseDelayMs };
    const askedAt = performance.now();
    const renewed = await nodes.renew(claim, { addresses: duties.addresses(), load });
    databaseDelayMs = Math.round((performance.now() - askedAt) * 10) / 10;
    if (renewed) {
      isFirst = renewed.isFirst;
      return take(renewed.isDrained ? 'drained' : null);
    }
    isFirst = false;
    // Another process had it while this one was frozen, or cut off from the database.
    const claimed = await nodes.claim(claim);
    take(!claimed.ok ? 'node-name-in-use' : claimed.isDrained ? 'drained' : null);
  }

  function take(next: NodeProblem | null): void {
    if (next === problem) return;
    problem = next;
    clearTimeout(refusal);
    if (next === null) {
      log.info({ node: claim.name }, 'node takes new connections');
      refuse(false);
    } else if (next === 'drained') {
      log.info({ node: claim.name, refusesInMs: leaseMs }, 'node drained');
      // The load balancer sees /readyz first: nobody is turned away whom it still sends here.
      refusal = setTimeout(refuse, leaseMs, true).unref();
    } else {
      log.error({ node: claim.name }, 'node name taken by another daemon: new connections are refused');
      refuse(true);
    }
  }

  function refuse(next: boolean): void {
    isRefusing = next;
    duties?.refuse(next);
  }

  const poller = createPoller(leaseMs / RENEWALS_PER_LEASE, renew, (err) =>
    log.error({ err, node: claim.name }, 'lease of the node not renewed'),
  );

  return {
    name: 'node',
    nodeName: claim.name,
    key: NODES_KEY,
    isFirst: () => isFirst,
    problem: () => problem,
    reload: renew,

    async start() {
      const claimed = await acquire();
      problem = claimed.isDrained ? 'drained' : null;
      isRefusing = claimed.isDrained;
    },

    async serve(given) {
      duties = given;
      if (isRefusing) given.refuse(true);
      await renew();
      poller.start();
    },

    async stop() {
      clearTimeout(refusal);
      await poller.stop();
      await nodes.release(claim);
    },
  };

  /** Waits for the end of a lease that nobody renews any more. */
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
          'another daemon had the node name: waiting for its lease to end',
        );
      }
      seenAt = claimed.renewedAt;
      await pause(ASK_AGAIN_MS);
    }
  }
}

function nameInUse(name: string): StartError {
  return new StartError(
    'node-name-in-use',
    `Another daemon on this database runs as the node ${JSON.stringify(name)}. Give each daemon a name of its own with node.name (or $PULSEGATE_NODE__NAME).`,
  );
}

/** The GUID of the data folder, made at its first use. One daemon at a time runs on a folder. */
async function ownerOf(dataDir: string): Promise<string> {
  const file = join(dataDir, 'node-id');
  const known = await readFile(file, 'utf8').catch(() => '');
  if (/^[0-9a-f-]{36}$/.test(known.trim())) return known.trim();
  const made = randomUUID();
  await writeFile(file, `${made}\n`, { mode: 0o600 });
  return made;
}

/** Returns the share of one core that this process has used since the call before. */
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
