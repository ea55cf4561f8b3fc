// A campaign: load of every kind during one fault after another, then the verdict.
import { eventually } from '../helpers/eventually.js';
import type { Scope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';
import { type Fault, failover, faultsOf, type Lengths, outagesOf, runFault } from './faults.js';
import { createLedger, type Ledger } from './ledger.js';
import { keepTryingLimit, LIMITED, MAX_SESSIONS } from './limit.js';
import { callApi, keepChanging, newAccount, type Operator } from './operators.js';
import { createTraffic, keepPlaying, type Load, PLAYERS, play } from './players.js';
import { type Servers, startServers } from './servers.js';
import { judge } from './verdict.js';
import { judgeWebhooks, KEYS, keepSending, startAgent } from './webhooks.js';

const OPERATORS = ['north', 'south'];
/** Nodes store traffic every second. A killed node loses at most the traffic of this time, in ms. */
const NOT_STORED_MS = 3_000;

/** Durations in a campaign of outages, in ms. */
const FROZEN_MS = 60_000;
const CALM_MS = 10_000;

/**
 * Runs a campaign. Returns whether every promise was kept.
 * @param outageMs for a campaign of only the database's faults: the duration of its first outage
 */
export async function campaign(t: Scope, seconds: number, outageMs: number | null): Promise<boolean> {
  const ledger = createLedger();
  const agent = await startAgent(t, ledger);
  const servers = await startServers(t, agent.server.url);
  const target = await startTarget(t, echo);
  await servers.allReady();
  const operators = await addAccounts(servers);

  let isOver = false;
  const load: Load = { players: servers.players, targetPort: target.port, ledger, isOver: () => isOver };
  await eventually(async () => (await play(load, PLAYERS[0] as (typeof PLAYERS)[0])).destroy());
  const traffic = createTraffic();
  const acknowledged = new Map<string, number[]>();
  const working = [
    ...PLAYERS.map((player, n) => keepPlaying(load, player, traffic, outageMs !== null && n % 2 === 0)),
    keepTryingLimit(load),
    ...operators.map((operator, i) =>
      keepChanging(servers, ledger, operator, OPERATORS[i] ?? '', load.isOver),
    ),
    ...KEYS.map(async (key) => {
      acknowledged.set(key, await keepSending(servers, ledger, key, load.isOver));
    }),
  ];
  let notStored = 0;
  const beforeFault = ({ name }: Fault) => {
    if (name.endsWith('killed')) notStored += traffic.recent(NOT_STORED_MS);
  };
  if (outageMs === null) await runFaults(servers, ledger, seconds, beforeFault);
  else await runOutages(servers, ledger, outageMs);
  isOver = true;
  await Promise.all(working);
  await servers.allReady();
  await judge(servers, ledger, operators, traffic, notStored);
  judgeWebhooks(agent, acknowledged, ledger);
  print(ledger);
  return ledger.broken.size === 0;
}

async function addAccounts(servers: Servers): Promise<Operator[]> {
  // One node creates all accounts, and the other nodes read them a moment later.
  const url = servers.nodes[0]?.adminUrl ?? '';
  for (const { username, password } of PLAYERS) await newAccount(url, username, password);
  const limited = await newAccount(url, 'limited', LIMITED[0]?.password ?? '');
  const limits = { maxSessions: MAX_SESSIONS };
  const { status, text } = await callApi(url, 'PATCH', `/api/v1/accounts/${limited}/limits`, limits);
  if (status !== 200) throw new Error(text);
  const operators = OPERATORS.map((name) => `marked-${name}`);
  const marked = await Promise.all(
    operators.map(async (username) => ({
      id: await newAccount(url, username, 'secret'),
      username,
      acknowledged: 0,
    })),
  );
  for (const { adminUrl } of servers.nodes) {
    await eventually(async () => {
      const list = (await callApi(adminUrl, 'GET', '/ProxyAccount/GetProxyAccountList')).json as unknown[];
      return list.length === PLAYERS.length + 1 + operators.length;
    });
  }
  return marked.map((each) => ({ created: [], marked: each }));
}

/** Runs every fault at least once, then repeats them until the time is over. The failover comes last. */
async function runFaults(
  servers: Servers,
  ledger: Ledger,
  seconds: number,
  beforeFault: (fault: Fault) => void,
): Promise<void> {
  const until = Date.now() + seconds * 1000;
  const ms = (divisor: number, minMs: number, maxMs: number) =>
    Math.min(maxMs, Math.max(minMs, (seconds * 1000) / divisor));
  const lengths: Lengths = {
    short: ms(60, 1_500, 10_000),
    long: ms(10, 6_000, 60_000),
    calm: ms(60, 1_000, 10_000),
  };
  const faults = faultsOf(servers, ledger, lengths);
  for (let n = 0; n < faults.length || Date.now() < until; n += 1) {
    const fault = faults[n % faults.length] as Fault;
    beforeFault(fault);
    await runFault(fault, servers, ledger, lengths.calm);
  }
  await runFault(failover(servers), servers, ledger, lengths.calm);
}

async function runOutages(servers: Servers, ledger: Ledger, outageMs: number): Promise<void> {
  for (const fault of outagesOf(servers, { outage: outageMs, frozen: FROZEN_MS }))
    await runFault(fault, servers, ledger, CALM_MS);
}

function print({ counts, longest, broken }: Ledger): void {
  const lines = (counted: ReadonlyMap<string, number>, unit = '') =>
    [...counted]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, n]) => `${String(n).padStart(12)}${unit}  ${name}`);
  console.log(['', ...lines(counts), '', 'longest:', ...lines(longest, ' ms')].join('\n'));
  if (broken.size === 0) console.log('\nEvery promise was kept.');
  else console.log(['\nBROKEN:', ...lines(broken)].join('\n'));
}
