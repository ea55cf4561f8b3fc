// The servers of a campaign: PostgreSQL behind haproxy, the nodes, haproxy in front of them, and an agent. A fault can kill, freeze
// and start each.
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Balancer, documentedConfig, startHaproxy } from '../helpers/balancer.js';
import { NO_GUARD, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { SECRET } from '../helpers/hooks.js';
import { freePort } from '../helpers/ports.js';
import { openFolder, type Postgres, startPostgres } from '../helpers/postgres.js';
import type { Scope } from '../helpers/suite.js';
import { type Standby, startStandby } from './standby.js';

export interface Node {
  readonly name: string;
  readonly adminUrl: string;
  readonly socksPort: number;
  /** The node's current process. */
  readonly daemon: TestDaemon;
  start(): Promise<void>;
  isReady(): Promise<boolean>;
}

export interface Servers {
  readonly nodes: readonly Node[];
  /** The server that accepts writes. */
  readonly postgres: Pick<Postgres, 'query' | 'signal' | 'stop' | 'start' | 'pid'>;
  /** The port for players. */
  readonly players: number;
  readonly operatorsUrl: string;
  balancer(): Balancer;
  restartBalancer(): Promise<void>;
  /** Starts a synchronous standby. Resolves with null when PostgreSQL's programs for it are not installed. */
  makeStandby(): Promise<Standby | null>;
  /** Makes the standby the new `postgres`. */
  replacePrimary(standby: Standby): void;
  allReady(): Promise<void>;
}

const READY_MS = 180_000;
const HOSTS = ['10.0.0.11', '10.0.0.12', '10.0.0.13'];
const DATABASE = 'fleet';

/**
 * @param agentUrl URL of the agent `campaign`
 * @param count number of nodes, 1 to 3
 */
export async function startServers(t: Scope, agentUrl: string, count = 3): Promise<Servers> {
  process.env['TEST_POSTGRES'] ??= installedPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-fleet-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  // On a disk, where a standby that was away finds enough of the log.
  const primary = await startPostgres({ max_connections: '100', max_wal_size: '1GB' }, openFolder());
  t.after(() => primary.remove());
  await primary.query('create role pulsegate login superuser');
  await primary.query(`create database ${DATABASE}`);

  const databasePort = await freePort();
  const standbyFolder = join(primary.folder, 'standby');
  const socketIn = (folder: string) => `unix@${folder}/.s.PGSQL.5432`;
  const database = await startHaproxy(
    folder,
    'database',
    await documentedConfig('/etc/haproxy/database.cfg', {
      '127.0.0.1:5432': `127.0.0.1:${databasePort}`,
      '10.0.0.21:5432': socketIn(primary.folder),
      '10.0.0.22:5432': socketIn(standbyFolder),
    }),
  );
  t.after(() => database.stop());

  const ports: { socks: number; admin: number }[] = [];
  for (let n = 0; n < count; n += 1) ports.push({ socks: await freePort(), admin: await freePort() });
  const nodes: Node[] = [];
  for (const [n, { socks, admin }] of ports.entries()) {
    const node = createNode(t, join(folder, `data-${n}`), {
      node: { name: `gate-${n + 1}`, lease: '5s' },
      database: {
        client: 'pg',
        connection: `postgres://pulsegate@127.0.0.1:${databasePort}/${DATABASE}`,
        poolSize: 6,
        checkInterval: '1s',
      },
      socks: {
        port: socks,
        proxyProtocol: true,
        proxyProtocolFrom: ['127.0.0.1'],
        login: { maxFailuresPerSource: 1_000_000 },
      },
      admin: { port: admin, trustedProxies: ['127.0.0.1'] },
      heartbeats: { interval: '1s' },
      webhooks: {
        enabled: true,
        secret: SECRET,
        concurrency: 16,
        // A full queue would refuse webhooks with 429 during a fault.
        queue: { perAgent: 10_000, total: 10_000 },
        agents: { campaign: {} },
      },
      agents: { campaign: { type: 'http', url: agentUrl } },
    });
    await node.start();
    nodes.push(node);
  }

  const [players, operators] = [await freePort(), await freePort()];
  const config = await documentedConfig('/etc/haproxy/haproxy.cfg', {
    'bind :1080': `bind 127.0.0.1:${players}`,
    'bind :8080': `bind 127.0.0.1:${operators}`,
    ...Object.fromEntries(
      HOSTS.flatMap((host, n) => {
        const { socks, admin } = ports[n] ?? { socks: 1, admin: 1 };
        return [
          [`${host}:1080 check port 8080`, `127.0.0.1:${socks} check port ${admin}`],
          [`${host}:8080`, `127.0.0.1:${admin}`],
        ];
      }),
    ),
  });
  let balancer = await startHaproxy(folder, 'haproxy', config);
  t.after(() => balancer.stop());

  let current: Servers['postgres'] = primary;
  return {
    nodes,
    get postgres() {
      return current;
    },
    players,
    operatorsUrl: `http://127.0.0.1:${operators}`,
    balancer: () => balancer,
    async restartBalancer() {
      balancer = await startHaproxy(folder, 'haproxy', config);
    },
    makeStandby: () => startStandby(t, primary, standbyFolder),
    replacePrimary(standby) {
      current = standby;
    },
    async allReady() {
      await eventually(async () => {
        for (const node of nodes) if (!(await node.isReady())) return false;
        const { ok } = await fetch(`http://127.0.0.1:${operators}/readyz`);
        return ok;
      }, READY_MS);
    },
  };
}

function createNode(t: Scope, dataDir: string, config: NodeConfig): Node {
  let daemon: TestDaemon | null = null;
  return {
    name: config.node.name,
    adminUrl: `http://127.0.0.1:${config.admin.port}`,
    socksPort: config.socks.port,
    get daemon() {
      if (!daemon) throw new Error('not started');
      return daemon;
    },
    async start() {
      daemon = await startTestDaemon(t, { dataDir, config: { guard: NO_GUARD, ...config } });
    },
    async isReady() {
      const answer = await fetch(`http://127.0.0.1:${config.admin.port}/readyz`).catch(() => null);
      return answer?.ok === true;
    },
  };
}

interface NodeConfig {
  readonly node: { readonly name: string; readonly lease: string };
  readonly socks: Readonly<Record<string, unknown>> & { readonly port: number };
  readonly admin: Readonly<Record<string, unknown>> & { readonly port: number };
  readonly [section: string]: unknown;
}

/** Returns the newest PostgreSQL of Debian. That of the npm package has no programs for a standby. */
function installedPostgres(): string {
  const root = '/usr/lib/postgresql';
  try {
    const versions = readdirSync(root).sort((one, other) => Number(other) - Number(one));
    return versions[0] ? join(root, versions[0], 'bin') : '';
  } catch {
    return '';
  }
}
