// The verdict after a campaign: compares every node's data with the database, and with the answers.
import { eventually } from '../helpers/eventually.js';
import type { Ledger } from './ledger.js';
import { callApi, type Operator } from './operators.js';
import { PLAYERS, type Traffic } from './players.js';
import type { Servers } from './servers.js';

interface Listed {
  readonly Username: string;
  readonly Remarks: string | null;
  readonly DataCount: number;
}

const DATABASE = 'fleet';
const END_MS = 180_000;

/** @param notStored the maximum number of bytes that killed nodes had counted and not stored */
export async function judge(
  servers: Servers,
  ledger: Ledger,
  operators: readonly Operator[],
  traffic: Pick<Traffic, 'sent' | 'received'>,
  notStored: number,
): Promise<void> {
  await checkRuns(servers, ledger);
  await checkNodes(servers, ledger);
  await checkAcknowledged(servers, ledger, operators);
  await checkTraffic(servers, ledger, traffic, notStored);
}

async function checkRuns({ postgres }: Servers, ledger: Ledger): Promise<void> {
  const open = () => postgres.query('select 1 from runs where finished_at is null', DATABASE);
  await eventually(async () => (await open()).length === 0, END_MS).catch(() => undefined);
  for (const { status, count } of await postgres.query(
    'select status, count(*)::int as count from runs group by status order by status',
    DATABASE,
  )) {
    ledger.count(`runs ${String(status)}`, Number(count));
    if (status !== 'succeeded') ledger.breach(`a run is ${String(status)}`);
  }
}

async function listOf(url: string): Promise<Listed[]> {
  const list = (await callApi(url, 'GET', '/ProxyAccount/GetProxyAccountList')).json as Listed[];
  return list.sort((one, other) => (one.Username < other.Username ? -1 : 1));
}

/** Checks that every node has the same accounts, times and counters as the database. */
async function checkNodes({ nodes, postgres }: Servers, ledger: Ledger): Promise<void> {
  const rows = async (sql: string) => Number((await postgres.query(sql, DATABASE))[0]?.['n']);
  const check = async () => {
    const lists = await Promise.all(nodes.map(({ adminUrl }) => listOf(adminUrl)));
    const [first = []] = lists;
    for (const list of lists)
      if (JSON.stringify(list) !== JSON.stringify(first)) return 'nodes list different accounts or counters';
    if (first.length !== (await rows('select count(*)::int as n from accounts')))
      return 'nodes list other accounts than are stored';
    const counted = first.reduce((sum, { DataCount }) => sum + DataCount, 0);
    if (counted !== (await rows('select count(*)::int as n from heartbeats')))
      return 'DataCount is not the number of entries';
    ledger.count('heartbeat entries', counted - (ledger.counts.get('heartbeat entries') ?? 0));
    return null;
  };
  let difference: string | null = null;
  await eventually(async () => {
    difference = await check();
    return difference === null;
  }, END_MS).catch(() => ledger.breach(difference ?? 'the nodes did not answer'));
}

async function checkAcknowledged(
  { nodes }: Servers,
  ledger: Ledger,
  operators: readonly Operator[],
): Promise<void> {
  for (const { adminUrl } of nodes) {
    const list = new Map((await listOf(adminUrl)).map((account) => [account.Username, account]));
    for (const { created, marked } of operators) {
      for (const username of created)
        if (!list.has(username)) ledger.breach('an account whose creation was answered 200 is missing');
      if (Number(list.get(marked.username)?.Remarks ?? 0) < marked.acknowledged)
        ledger.breach('a change that was answered 200 is missing');
    }
  }
}

async function checkTraffic(
  { postgres }: Servers,
  ledger: Ledger,
  { sent, received }: Pick<Traffic, 'sent' | 'received'>,
  notStored: number,
): Promise<void> {
  const names = PLAYERS.map(({ username }) => `'${username}'`).join(', ');
  const [row] = await postgres.query(
    `select sum(bytes_up)::bigint as up, sum(bytes_down)::bigint as down from traffic_days
     where account_id in (select id from accounts where username in (${names}))`,
    DATABASE,
  );
  const [up, down] = [Number(row?.['up']), Number(row?.['down'])];
  ledger.count('bytes sent by players', sent);
  ledger.count('bytes received by players', received);
  ledger.count('bytes counted up', up);
  ledger.count('bytes counted down', down);
  ledger.count('bytes lost with killed nodes, allowed', notStored);
  ledger.count('bytes received but not counted', Math.max(0, received - Math.min(up, down)));
  if (up > sent || down > sent) ledger.breach('more traffic was counted than was sent');
  if (Math.min(up, down) < received - notStored) ledger.breach('traffic was lost');
}
