// kill -9 at any moment of accepting, running and delivering: no accepted run is lost, and no agent process keeps running.
// Only by name: CI runs the kills themselves, with more rounds.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { processStart } from '../../src/agents/processes.js';
import type { Run } from '../../src/core/agents/runs.js';
import { openStore } from '../../src/store/store.js';
import { type AgentServer, startAgentServer } from '../helpers/agent-server.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { databaseOf } from '../helpers/database.js';
import { eventually } from '../helpers/eventually.js';
import { SECRET } from '../helpers/hooks.js';
import { send } from '../helpers/http.js';
import { scaled } from '../helpers/scale.js';

const ROUNDS = scaled(4);
const PARALLEL_SEQUENCES = 2;
const REQUESTS_PER_ROUND = 12;
const SESSIONS = 4;

interface HookRequest {
  readonly key: string;
  readonly session: string;
}

/** The requests of one sequence of crashes, and their answers. */
interface Ledger {
  /** The run ids of accepted requests, by key. */
  readonly runIds: Map<string, string>;
  /** Requests that got no answer: the next daemon gets them again. */
  unanswered: HookRequest[];
}

test(`${ROUNDS} kills during accepting, running and delivering lose no accepted run, and a repeated request makes one run`, async (t) => {
  const rounds = Array.from({ length: PARALLEL_SEQUENCES }, (_, i) =>
    Math.ceil((ROUNDS - i) / PARALLEL_SEQUENCES),
  );
  await Promise.all(rounds.map((count, i) => killRepeatedly(t, count, i)));
});

async function killRepeatedly(t: TestContext, rounds: number, seed: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-kill-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const agent = await startAgentServer(t, async ({ path }) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return path === '/in' ? 'accepted' : 'reply';
  });
  const ledger: Ledger = { runIds: new Map(), unanswered: [] };
  for (let round = 0; round < rounds; round++) {
    const daemon = await start(t, dataDir, agent.url);
    const newRequests = Array.from({ length: REQUESTS_PER_ROUND }, (_, i) => ({
      key: `${seed}-${round}-${i}`,
      session: `s${i % SESSIONS}`,
    }));
    const requests = [...ledger.unanswered, ...newRequests];
    ledger.unanswered = [];
    const answered = Promise.all(requests.map((request) => sendRequest(daemon, request, ledger)));
    // From the first byte of the first request to well after the last delivery.
    await new Promise((resolve) => setTimeout(resolve, (round / rounds) * 150));
    daemon.signal('SIGKILL');
    await daemon.exited();
    await answered;
  }
  await settle(t, dataDir, agent, ledger);
}

function start(t: TestContext, dataDir: string, url: string): Promise<TestDaemon> {
  const channel = {
    type: 'http',
    url: `${url}/in`,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    backoff: '20ms',
  };
  return startTestDaemon(t, {
    dataDir,
    config: {
      webhooks: { enabled: true, secret: SECRET, maxAttempts: 100, agents: { a: {} } },
      agents: { a: { type: 'http', url, channel } },
    },
  });
}

async function sendRequest(daemon: TestDaemon, request: HookRequest, ledger: Ledger): Promise<void> {
  try {
    const answer = await send(`${daemon.adminUrl}/hooks/agent`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${SECRET}`,
        'content-type': 'application/json',
        'idempotency-key': request.key,
      },
      body: JSON.stringify({ agent: 'a', message: request.key, sessionKey: request.session }),
    });
    assert.equal(answer.status, 200);
    ledger.runIds.set(request.key, (answer.json as { runId: string }).runId);
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    ledger.unanswered.push(request);
  }
}

async function settle(t: TestContext, dataDir: string, agent: AgentServer, ledger: Ledger): Promise<void> {
  const daemon = await start(t, dataDir, agent.url);
  const requests = ledger.unanswered;
  ledger.unanswered = [];
  await Promise.all(requests.map((request) => sendRequest(daemon, request, ledger)));
  assert.deepEqual(ledger.unanswered, []);
  await eventually(async () => {
    const { items } = (await daemon.api('GET', '/api/v1/runs?limit=1000')).json as { items: Run[] };
    const open = items.filter(({ status, delivery }) => status !== 'succeeded' || delivery !== 'delivered');
    assert.deepEqual(open, []);
  }, 30_000);
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), 0);

  const store = await openStore(await databaseOf(dataDir));
  const runs = (await store.runs.list({ limit: 100_000 })).reverse();
  const runners = await store.runs.runners();
  await store.close();
  assert.deepEqual(runners, []);
  const byMessage = new Map(runs.map((run) => [run.message ?? '', run]));
  assert.equal(byMessage.size, runs.length, 'a request made two runs');
  assert.deepEqual([...byMessage.keys()].sort(), [...ledger.runIds.keys()].sort());
  for (const [key, id] of ledger.runIds) assert.equal(byMessage.get(key)?.id, id);

  const runRequests = agent.requests.filter(({ path }) => path !== '/in');
  const delivered = new Set(
    agent.requests.filter(({ path }) => path === '/in').map(({ json }) => json.runId),
  );
  for (const { id } of runs) assert.ok(delivered.has(id), `${id} was never delivered`);
  for (let i = 0; i < SESSIONS; i++) {
    const startedRuns = [
      ...new Set(runRequests.filter(({ json }) => json.session === `s${i}`).map(({ json }) => json.runId)),
    ];
    const acceptedRuns = runs.filter(({ session }) => session === `s${i}`).map(({ id }) => id);
    assert.deepEqual(startedRuns, acceptedRuns, 'the runs of a session started in another order');
  }
}

test('after kill -9 the next start kills the processes that agent commands left, and retries their runs', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-orphan-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const pids = join(dataDir, 'pids');
  // Writes its process id, starts a child in another session, and ends by itself only at the second attempt.
  const script = `echo $$ >> ${pids}; setsid sh -c 'echo $$ >> ${pids}; exec sleep 300' & [ "$PULSEGATE_ATTEMPT" = 2 ] && echo done || sleep 300`;
  const config = {
    webhooks: { enabled: true, secret: SECRET, concurrency: 8, agents: { a: {} } },
    agents: {
      a: {
        type: 'command',
        command: ['sh', '-c', script],
        allow: { write: [dataDir] },
        channel: { type: 'file', path: 'replies.jsonl' },
      },
    },
  };
  const first = await startTestDaemon(t, { dataDir, config });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const answer = await send(`${first.adminUrl}/hooks/agent`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'a', message: 'x' }),
    });
    ids.push((answer.json as { runId: string }).runId);
  }
  await eventually(async () => (await pidsIn(pids)).length === 10);
  const orphans = await pidsIn(pids);
  first.signal('SIGKILL');
  await first.exited();
  assert.ok(orphans.every(isAlive), 'the processes outlive the daemon');

  const second = await startTestDaemon(t, { dataDir, config });
  await eventually(() => !orphans.some(isAlive));
  const line = await second.waitForLine(({ msg }) => msg.includes('interrupted'));
  assert.equal(line['interrupted'], 5);
  assert.ok(Number(line['killed']) >= 10);
  for (const id of ids) {
    await eventually(async () =>
      (await second.api('GET', `/api/v1/runs/${id}`)).text.includes('"delivered"'),
    );
    const run = (await second.api('GET', `/api/v1/runs/${id}`)).json as Run;
    assert.deepEqual([run.status, run.attempt, run.reply], ['succeeded', 2, 'done']);
  }
  for (const pid of (await pidsIn(pids)).filter(isAlive)) process.kill(pid, 'SIGKILL');
});

test('a shutdown kills the running agent commands after the grace period, or at a second signal', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-shutdown-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  for (const signals of [1, 2]) {
    const pids = join(dataDir, `pids-${signals}`);
    const script = `trap '' TERM; echo $$ >> ${pids}; sleep 300 & echo $! >> ${pids}; wait; wait; sleep 300`;
    const daemon = await startTestDaemon(t, {
      dataDir,
      config: {
        shutdownGrace: signals === 1 ? '100ms' : '60s',
        webhooks: { enabled: true, secret: SECRET, agents: { a: {} } },
        agents: { a: { type: 'command', command: ['sh', '-c', script], allow: { write: [dataDir] } } },
      },
    });
    await daemon.api('POST', '/api/v1/agents/a/messages', { message: 'x' });
    await eventually(async () => (await pidsIn(pids)).length >= 2);
    daemon.signal('SIGTERM');
    if (signals === 2) {
      await daemon.waitForLine(({ msg }) => msg.startsWith('stopping'));
      daemon.signal('SIGTERM');
    }
    await once(daemon.process, 'exit');
    // The kernel may need a moment to end the killed processes.
    await eventually(async () => (await pidsIn(pids)).every((pid) => !isAlive(pid)));
  }
});

/** Returns the process ids in `file`, one per line; none before the file exists. */
async function pidsIn(file: string): Promise<number[]> {
  const lines = await readFile(file, 'utf8').catch(() => '');
  return lines.split('\n').filter(Boolean).map(Number);
}

/** A zombie, which its parent has not waited for yet, is not alive. */
const isAlive = (pid: number): boolean => processStart(pid) !== '';
