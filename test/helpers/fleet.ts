// Starts several daemons on one PostgreSQL database, each in a separate process.
import { type DaemonOptions, startTestDaemon, type TestDaemon } from './daemon.js';
import { newDatabase } from './shared-postgres.js';
import { connectThrough, type RawClient } from './socks-client.js';
import type { Scope } from './suite.js';

export interface Fleet {
  readonly nodes: readonly TestDaemon[];
  /** The connection string of the shared database. */
  readonly connection: string;
  /** Starts one more node. */
  start(name: string, options?: DaemonOptions & { readonly lease?: string }): Promise<TestDaemon>;
}

/** Longer than a busy machine delays a node: its sessions and permits count only while its lease is valid. */
const LEASE = '5m';

/**
 * Starts daemons with these node names on a new database, one after another. The first one creates the tables.
 * @param lease of each node whose start names no other; short where tests wait until one expires
 */
export async function startFleet(
  t: Scope,
  names: readonly string[],
  config: Readonly<Record<string, unknown>> = {},
  lease = LEASE,
): Promise<Fleet> {
  const connection = await newDatabase(t, { withAdmin: true });
  const start: Fleet['start'] = (name, options = {}) =>
    startTestDaemon(t, {
      ...options,
      config: {
        ...config,
        ...options.config,
        node: { name, lease: options.lease ?? lease },
        // A long timeout: a busy machine must not look like a silent database.
        database: { client: 'pg', connection, poolSize: 4, answerTimeout: '30s' },
      },
    });
  const nodes: TestDaemon[] = [];
  for (const name of names) nodes.push(await start(name));
  return { nodes, connection, start };
}

/** Opens a session of an account with the password `word` at a node, to a port of this machine. @param from the client's address */
export function openSession(
  { socks }: TestDaemon,
  username: string,
  targetPort: number,
  from?: string,
): Promise<RawClient> {
  return connectThrough({ port: socks.port, username, password: 'word', from }, '127.0.0.1', targetPort);
}
