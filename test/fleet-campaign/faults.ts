// The faults of a fleet. Each fault names what it may disturb, and ends with every part working again.
import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { basic, send } from '../helpers/http.js';
import type { Hit, Ledger } from './ledger.js';
import type { Node, Servers } from './servers.js';

export interface Fault {
  readonly name: string;
  readonly hits: readonly Hit[];
  run(): Promise<void>;
}

/** Durations of outages, in ms. */
export interface Lengths {
  readonly short: number;
  readonly long: number;
  /** Time between two faults, in which every part works. */
  readonly calm: number;
}

/** Time in which haproxy's checks, leases and polls notice that all parts work again. */
const SETTLE_MS = 3_000;
const DRAINED_MS = 120_000;

export function faultsOf(servers: Servers, ledger: Ledger, lengths: Lengths): Fault[] {
  const [one, two, three] = servers.nodes as [Node, Node, Node];
  const { short, long } = lengths;
  const frozen = (signal: (name: 'SIGSTOP' | 'SIGCONT') => unknown, ms: number) => async () => {
    await signal('SIGSTOP');
    await pause(ms);
    await signal('SIGCONT');
  };
  const killed = (node: Node) => async () => {
    ledger.count('nodes killed');
    node.daemon.signal('SIGKILL');
    await node.daemon.exited();
    await pause(short);
    await node.start();
  };
  const ofNode = (node: Node): Hit[] => ['players', 'changes', node.name];
  const ofDatabase: Hit[] = ['changes', ...servers.nodes.map(({ name }) => name)];
  return [
    { name: `${one.name} killed`, hits: ofNode(one), run: killed(one) },
    { name: 'PostgreSQL crashed', hits: ofDatabase, run: () => stopped(servers, 0) },
    { name: `${two.name} frozen`, hits: ofNode(two), run: frozen((s) => two.daemon.signal(s), short) },
    { name: `${three.name} upgraded`, hits: ['changes', three.name], run: () => upgrade(three) },
    {
      name: 'PostgreSQL frozen',
      hits: ofDatabase,
      run: frozen((s) => servers.postgres.signal(s), short),
    },
    {
      name: 'haproxy killed',
      hits: ['players', 'changes'],
      async run() {
        await servers.balancer().stop();
        await pause(1_000);
        await servers.restartBalancer();
      },
    },
    {
      name: `${three.name} frozen for long`,
      hits: ofNode(three),
      run: frozen((s) => three.daemon.signal(s), long),
    },
    { name: `${two.name} killed`, hits: ofNode(two), run: killed(two) },
    { name: 'PostgreSQL stopped', hits: ofDatabase, run: () => stopped(servers, long / 2) },
    {
      name: 'haproxy frozen',
      hits: ['players', 'changes'],
      run: frozen((s) => servers.balancer().signal(s), short),
    },
    { name: `${one.name} upgraded`, hits: ['changes', one.name], run: () => upgrade(one) },
  ];
}

/** Every kind of outage of the database, one after another. */
export function outagesOf(
  servers: Servers,
  ms: { readonly outage: number; readonly frozen: number },
): Fault[] {
  const hits: Hit[] = ['changes', ...servers.nodes.map(({ name }) => name)];
  return [
    { name: 'PostgreSQL stopped', hits, run: () => stopped(servers, ms.outage) },
    {
      name: 'PostgreSQL frozen',
      hits,
      async run() {
        await servers.postgres.signal('SIGSTOP');
        await pause(ms.frozen);
        await servers.postgres.signal('SIGCONT');
      },
    },
    { name: 'PostgreSQL restarted', hits, run: () => stopped(servers, 0) },
    failover(servers),
  ];
}

/** Runs one fault, waits until every part works, and then waits for the calm time. */
export async function runFault(
  fault: Fault,
  servers: Servers,
  ledger: Ledger,
  calmMs: number,
): Promise<void> {
  const startedAt = Date.now();
  const end = ledger.disturb(fault.hits);
  await fault.run();
  await servers.allReady();
  await pause(SETTLE_MS);
  end();
  ledger.count('faults');
  console.log(`${new Date().toISOString().slice(11, 19)} ${fault.name}: over after ${seconds(startedAt)} s`);
  await pause(calmMs);
}

/** The standby replaces the primary, which does not come back. */
export function failover(servers: Servers): Fault {
  return {
    name: 'PostgreSQL failed over',
    hits: ['changes', ...servers.nodes.map(({ name }) => name)],
    async run() {
      const standby = await servers.makeStandby();
      if (!standby) return console.log('skipped: the failover needs pg_basebackup (Debian: postgresql)');
      await servers.postgres.stop();
      servers.replacePrimary(standby);
      await standby.query('select pg_promote()');
    },
  };
}

async function stopped(servers: Servers, ms: number): Promise<void> {
  await servers.postgres.stop();
  await pause(ms);
  await servers.postgres.start();
}

/** Upgrades a node as the guide describes: drains it, waits until it has no session, restarts it, and ends the drain. */
async function upgrade(node: Node): Promise<void> {
  const callNodes = async (path: string) => {
    const headers = { authorization: basic(ADMIN.username, ADMIN.password) };
    const method = path === '' ? 'GET' : 'POST';
    const { status, json, text } = await send(`${node.adminUrl}/api/v1/nodes${path}`, { method, headers });
    if (status !== 200 && status !== 204) throw new Error(`${path}: ${status} ${text}`);
    return json;
  };
  await callNodes(`/${node.name}/drain`);
  await eventually(async () => {
    const { items } = (await callNodes('')) as { items: { name: string; state: string }[] };
    return items.find(({ name }) => name === node.name)?.state === 'drained';
  }, DRAINED_MS);
  node.daemon.signal('SIGTERM');
  await node.daemon.exited();
  await node.start();
  await callNodes(`/${node.name}/undrain`);
}

const seconds = (since: number): string => ((Date.now() - since) / 1000).toFixed(1);
