// Measures the work of one, two or three nodes per second on this machine, and the database's share of the CPU time.
import { readFileSync } from 'node:fs';
import { eventually } from '../helpers/eventually.js';
import { SECRET } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';
import type { RawClient } from '../helpers/socks-client.js';
import type { Scope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';
import { createLedger } from './ledger.js';
import { callApi, newAccount } from './operators.js';
import { PLAYERS, play } from './players.js';
import { type Servers, startServers } from './servers.js';
import { startAgent } from './webhooks.js';

const PHASE_MS = 8_000;
const AT_ONCE = 32;
const CHANGES = 50;
const CLOSES = 30;

export interface Measured {
  readonly nodes: number;
  readonly loginsPerSecond: number;
  readonly heartbeatsPerSecond: number;
  readonly webhooksPerSecond: number;
  /** The database's share of the CPU time of database and nodes: during logins, and during webhooks. */
  readonly databaseShareAtLogins: string;
  readonly databaseShareAtWebhooks: string;
  /** CPU time of the nodes, in microseconds. */
  readonly nodeMicrosPerLogin: number;
  readonly nodeMicrosPerWebhook: number;
  /** The longest time from the answer to a change until every node knew it, in ms. */
  readonly longestChangeMs: number;
  /** The longest time from the answer to a change that closes an account until its sessions at all nodes had ended, in ms. */
  readonly longestCloseMs: number;
}

/** Measures with load through haproxy, by players and webhooks. */
export async function measure(t: Scope, nodes: number): Promise<Measured> {
  const agent = await startAgent(t, createLedger());
  agent.server.answer = () => ({ reply: 'done' });
  const servers = await startServers(t, agent.server.url, nodes);
  const target = await startTarget(t, echo);
  await servers.allReady();
  const load = { players: servers.players, targetPort: target.port };
  for (const { username, password } of PLAYERS)
    await newAccount(servers.nodes[0]?.adminUrl ?? '', username, password);
  // Waits until every node that haproxy chooses knows the account.
  for (const player of PLAYERS) await eventually(async () => (await play(load, player)).destroy());
  const playSession = async (n: number): Promise<boolean> => {
    const client = await play(load, PLAYERS[n % PLAYERS.length] as (typeof PLAYERS)[0]);
    await echoOnce(client);
    client.destroy();
    return true;
  };
  await runPhase(servers, playSession, 1_000);

  const entriesBefore = await heartbeatEntries(servers);
  const logins = await runPhase(servers, playSession, PHASE_MS);
  const heartbeats = (await heartbeatEntries(servers)) - entriesBefore;
  const webhooks = await runPhase(servers, (n) => sendWebhook(servers, n), PHASE_MS);
  const longestChangeMs = await longestChange(servers);
  const longestCloseMs = await longestClose(servers, load);
  return {
    nodes,
    longestChangeMs,
    longestCloseMs,
    loginsPerSecond: Math.round(logins.perSecond),
    heartbeatsPerSecond: Math.round(heartbeats / logins.seconds),
    webhooksPerSecond: Math.round(webhooks.perSecond),
    databaseShareAtLogins: `${Math.round(logins.databaseShare * 100)} %`,
    databaseShareAtWebhooks: `${Math.round(webhooks.databaseShare * 100)} %`,
    nodeMicrosPerLogin: Math.round(logins.nodeMicros),
    nodeMicrosPerWebhook: Math.round(webhooks.nodeMicros),
  };
}

/** Makes changes one after another, and waits after each until every node knows it. */
async function longestChange({ nodes, operatorsUrl }: Servers): Promise<number> {
  const id = await newAccount(nodes[0]?.adminUrl ?? '', 'changed', 'secret');
  const path = `/api/v1/accounts/${id}`;
  const knows = async (url: string, n: number): Promise<boolean> =>
    ((await callApi(url, 'GET', path)).json as { remarks?: string }).remarks === String(n);
  for (const { adminUrl } of nodes)
    await eventually(async () => (await callApi(adminUrl, 'GET', path)).status === 200);
  let longestMs = 0;
  for (let n = 1; n <= CHANGES; n += 1) {
    const { status, text } = await callApi(operatorsUrl, 'PATCH', path, { remarks: String(n) });
    if (status !== 200) throw new Error(`${status} ${text}`);
    const answeredAt = performance.now();
    for (const { adminUrl } of nodes) while (!(await knows(adminUrl, n)));
    longestMs = Math.max(longestMs, performance.now() - answeredAt);
  }
  return Math.round(longestMs);
}

/** Closes an account with sessions at all nodes, in each of three ways in turn, and waits until they have ended. */
async function longestClose(
  { nodes, operatorsUrl }: Servers,
  load: Parameters<typeof play>[0],
): Promise<number> {
  const id = await newAccount(nodes[0]?.adminUrl ?? '', 'closed', 'secret');
  const path = `/api/v1/accounts/${id}`;
  const change = async (fields: object): Promise<void> => {
    const { status, text } = await callApi(operatorsUrl, 'PATCH', path, fields);
    if (status !== 200) throw new Error(`${status} ${text}`);
  };
  const open = { isEnabled: true, allowedClients: [], schedule: null };
  const isOpen = async (url: string): Promise<boolean> => {
    const { json } = await callApi(url, 'GET', path);
    const { isEnabled, allowedClients, schedule } = json as Record<string, unknown>;
    return (
      isEnabled === true && schedule === null && Array.isArray(allowedClients) && allowedClients.length === 0
    );
  };
  const inFourDays = new Date(Date.now() + 4 * 86_400_000).getUTCDay();
  const schedule = `${['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][inFourDays]} 00:00-24:00`;
  let longestMs = 0;
  for (let n = 0; n < CLOSES; n += 1) {
    for (const { adminUrl } of nodes) await eventually(() => isOpen(adminUrl));
    const sessions = await Promise.all(
      PLAYERS.map(({ from }) => play(load, { username: 'closed', password: 'secret', from })),
    );
    const changes = [{ isEnabled: false }, { allowedClients: ['192.0.2.1'] }, { schedule }];
    await change(changes[n % changes.length] ?? {});
    const answeredAt = performance.now();
    await Promise.all(sessions.map((playSession) => playSession.closed()));
    longestMs = Math.max(longestMs, performance.now() - answeredAt);
    await change(open);
  }
  return Math.round(longestMs);
}

async function echoOnce(client: RawClient): Promise<void> {
  client.send(Buffer.alloc(500));
  await client.read(500);
}

async function sendWebhook({ operatorsUrl }: Servers, n: number): Promise<boolean> {
  const { status } = await send(`${operatorsUrl}/hooks/agent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'campaign', message: String(n), sessionKey: `key-${n % 1000}` }),
  });
  return status === 200;
}

/** Returns the number of heartbeat entries, after the nodes have written the waiting ones. */
async function heartbeatEntries({ nodes, postgres }: Servers): Promise<number> {
  let last = -1;
  await eventually(async () => {
    const [row] = await postgres.query('select count(*)::int as n from heartbeats', 'fleet');
    const isSame = Number(row?.['n']) === last;
    last = Number(row?.['n']);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return isSame && nodes.length > 0;
  });
  return last;
}

/** Runs as many steps as possible in `ms`, `AT_ONCE` at a time. Counts the successful ones. */
async function runPhase(servers: Servers, step: (n: number) => Promise<boolean>, ms: number) {
  const cpuBefore = cpuOf(servers);
  const startedAt = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, first) => {
      for (let n = first; performance.now() - startedAt < ms; n += AT_ONCE) {
        if (await step(n)) done += 1;
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = cpuOf(servers);
  const database = cpu.database - cpuBefore.database;
  const nodes = cpu.nodes - cpuBefore.nodes;
  return {
    seconds,
    perSecond: done / seconds,
    databaseShare: database / (database + nodes),
    nodeMicros: (nodes / done) * 1e6,
  };
}

/** Returns CPU times in seconds. PostgreSQL has one process per connection. */
function cpuOf({ nodes, postgres }: Servers): { database: number; nodes: number } {
  const first = postgres.pid ?? 0;
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ');
  const database = [first, ...children.map(Number)].reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  return { database, nodes: nodes.reduce((sum, { daemon }) => sum + cpuSeconds(daemon.pid), 0) };
}

const TICKS = 100;

/** Returns the CPU time of a process and of its ended children, in seconds. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}
