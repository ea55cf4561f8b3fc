// All features under load for a given time: several kinds of traffic, good and bad logins, API calls, accounts that are added, changed
// and removed. The report has the growth of memory and descriptors, and the errors.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { NO_GUARD, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../helpers/descriptors.js';
import { connectThrough, greeting, login, RawClient } from '../helpers/socks-client.js';
import type { Scope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';

export interface SoakReport {
  readonly seconds: number;
  readonly sessions: number;
  readonly bytes: number;
  readonly logins: number;
  readonly refusedLogins: number;
  readonly apiCalls: number;
  /** Growth of the resident memory over the second half, by least squares: the first fills caches. */
  readonly memoryMiBPerHour: number;
  readonly memoryMiB: number;
  readonly descriptorsBefore: number;
  readonly descriptorsAfter: number;
  /** The messages of errors, each with its count. */
  readonly errors: Readonly<Record<string, number>>;
  /** How sessions and connections ended according to the daemon's log, each message and reason with its count. */
  readonly logged: Readonly<Record<string, number>>;
}

const PLAYERS = 20;
const SAMPLE_MS = 500;

interface Soak {
  readonly daemon: TestDaemon;
  readonly targetPort: number;
  readonly counts: {
    sessions: number;
    bytes: number;
    logins: number;
    refusedLogins: number;
    apiCalls: number;
  };
  readonly hasEnded: () => boolean;
}

export interface SoakOptions {
  /** `socks.engine`. */
  readonly engine?: string;
  /** 1 is the full load; 0.2 makes the pauses between two steps five times as long. */
  readonly pace?: number;
  /** Called with memory (MiB), descriptors and sessions twice a second. */
  readonly onSample?: (line: string) => void;
  /** Called at each error with its kind, its message and the duration of the step. */
  readonly onError?: (line: string) => void;
}

/** Runs for `seconds`. */
export async function soak(
  t: Scope,
  seconds: number,
  { engine = 'auto', pace = 1, onSample = () => {}, onError = () => {} }: SoakOptions = {},
): Promise<SoakReport> {
  const daemon = await startTestDaemon(t, {
    config: {
      heartbeats: { interval: '1s' },
      guard: NO_GUARD,
      // The bad logins come from the address of the players.
      socks: { engine, login: { maxFailuresPerSource: 1_000_000 } },
    },
  });
  for (let i = 0; i < PLAYERS; i += 1) await daemon.addAccount(`player-${i}`, 'secret');
  const target = await startTarget(t, echo);
  const until = Date.now() + seconds * 1000;
  const run: Soak = {
    daemon,
    targetPort: target.port,
    counts: { sessions: 0, bytes: 0, logins: 0, refusedLogins: 0, apiCalls: 0 },
    hasEnded: () => Date.now() >= until,
  };
  await quickSession(run, 0);
  const descriptorsBefore = openDescriptors(daemon.pid);
  const errors: Record<string, number> = {};
  const worker = async (kind: string, step: () => Promise<void>, betweenMs: number): Promise<void> => {
    while (!run.hasEnded()) {
      const startedAt = performance.now();
      try {
        await step();
      } catch (error) {
        const message = `${kind}: ${messageWithCause(error)}`.slice(0, 200);
        errors[message] = (errors[message] ?? 0) + 1;
        onError(`${message}, after ${(performance.now() - startedAt).toFixed(0)} ms`);
      }
      await pause(betweenMs / pace);
    }
  };
  const samples: { at: number; mib: number }[] = [];
  const workers = [
    ...Array.from({ length: 6 }, (_, i) => worker('session', () => quickSession(run, i), 5)),
    ...Array.from({ length: 3 }, (_, i) => worker('bulk', () => bulkSession(run, i + 6), 20)),
    ...Array.from({ length: 2 }, (_, i) => worker('chat', () => chatSession(run, i + 9), 20)),
    worker('bad login', () => badLogin(run), 20),
    worker('stall', () => stalled(run), 20),
    worker('api', () => readApi(run), 20),
    worker('account', () => changeAccounts(run), 20),
    worker(
      'sample',
      async () => {
        const mib = residentMiB(daemon.pid);
        samples.push({ at: Date.now(), mib });
        onSample(
          `${mib.toFixed(1)} MiB, ${openDescriptors(daemon.pid)} descriptors, ${run.counts.sessions} sessions`,
        );
      },
      SAMPLE_MS,
    ),
  ];
  await Promise.all(workers);
  // Connections may still be closing.
  await descriptorsBackTo(daemon.pid, descriptorsBefore, 2_000).catch(() => undefined);
  for (const line of daemon.lines) {
    if (line['level'] === 'error' || Number(line['level']) >= 50)
      errors[`log: ${line.msg}`] = (errors[`log: ${line.msg}`] ?? 0) + 1;
  }
  if (daemon.stderr() !== '') errors[`stderr: ${daemon.stderr().slice(0, 200)}`] = 1;
  return {
    seconds,
    ...run.counts,
    memoryMiBPerHour: slope(samples.slice(samples.length >> 1)) * 3_600_000,
    memoryMiB: residentMiB(daemon.pid),
    descriptorsBefore,
    descriptorsAfter: openDescriptors(daemon.pid),
    errors,
    logged: countBy(daemon.lines.map((line) => `${line.msg}, ${line['reason'] ?? 'no reason'}`)),
  };
}

/** Returns the message of an error and of its causes: `fetch failed` alone says nothing. */
function messageWithCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messageWithCause(error.cause)}`;
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function session(run: Soak, player: number): Promise<RawClient> {
  run.counts.logins += 1;
  run.counts.sessions += 1;
  const account = { port: run.daemon.socks.port, username: `player-${player % PLAYERS}`, password: 'secret' };
  return connectThrough(account, '127.0.0.1', run.targetPort);
}

async function exchange(run: Soak, client: RawClient, bytes: number): Promise<void> {
  const sent = randomBytes(bytes);
  client.send(sent);
  if (!(await client.read(bytes)).equals(sent)) throw new Error('the echo has other bytes');
  run.counts.bytes += 2 * bytes;
}

async function quickSession(run: Soak, player: number): Promise<void> {
  const client = await session(run, player);
  await exchange(run, client, 64);
  client.socket.end();
  await client.closed();
}

async function bulkSession(run: Soak, player: number): Promise<void> {
  const client = await session(run, player);
  for (let i = 0; i < 8; i += 1) await exchange(run, client, 256 * 1024);
  client.destroy();
}

/** Small messages at intervals, as of a game, and a reset at the end. */
async function chatSession(run: Soak, player: number): Promise<void> {
  const client = await session(run, player);
  for (let i = 0; i < 40 && !run.hasEnded(); i += 1) {
    await exchange(run, client, 100);
    await pause(25);
  }
  client.socket.resetAndDestroy();
}

async function badLogin(run: Soak): Promise<void> {
  const client = await RawClient.connect(run.daemon.socks.port);
  // Each attempt has another name, because 20 failures of one name block it.
  client.send(Buffer.concat([greeting(2), login(`nobody-${run.counts.refusedLogins % 1000}`, 'guess')]));
  const answer = (await client.read(4)).toString('hex');
  if (answer !== '05020101') throw new Error(`answered ${answer}`);
  run.counts.refusedLogins += 1;
  client.destroy();
}

/** Sends a part of a greeting, and disconnects. */
async function stalled(run: Soak): Promise<void> {
  const client = await RawClient.connect(run.daemon.socks.port);
  client.send(greeting(2).subarray(0, 2));
  await pause(50);
  client.destroy();
}

async function call(run: Soak, method: string, path: string, body?: unknown): Promise<void> {
  const answer = await run.daemon.api(method, path, body);
  run.counts.apiCalls += 1;
  if (answer.status !== 200)
    throw new Error(`${method} ${path.replace(/[0-9a-f-]{36}/, 'ID')}: ${answer.status}`);
}

async function readApi(run: Soak): Promise<void> {
  await call(run, 'GET', '/ProxyAccount/GetProxyAccountList');
  await call(run, 'GET', '/api/v1/sessions');
}

async function changeAccounts(run: Soak): Promise<void> {
  const name = `guest-${run.counts.apiCalls}`;
  const id = await run.daemon.addAccount(name, 'secret');
  await call(run, 'PATCH', `/api/v1/accounts/${id}/limits`, { maxSessions: 1, bytesPerSecondDown: 100_000 });
  const client = await connectThrough(
    { port: run.daemon.socks.port, username: name, password: 'secret' },
    '127.0.0.1',
    run.targetPort,
  );
  await exchange(run, client, 2_000);
  await call(run, 'POST', '/ProxyAccount/UpdateProxyAccount', { AID: id, IsEnabled: false });
  await client.closed();
  await call(run, 'POST', `/ProxyAccount/DeleteProxyAccount?AID=${id}`);
}

function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** The slope of the regression line, in MiB per ms. */
function slope(samples: readonly { at: number; mib: number }[]): number {
  const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
  const at = mean(samples.map((sample) => sample.at));
  const mib = mean(samples.map((sample) => sample.mib));
  const spread = samples.reduce((sum, sample) => sum + (sample.at - at) ** 2, 0);
  return spread === 0
    ? 0
    : samples.reduce((sum, sample) => sum + (sample.at - at) * (sample.mib - mib), 0) / spread;
}
