// kill -9 at any moment of accepting, running and delivering: nothing that was answered is lost, nothing is left running.
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
const SIDE_BY_SIDE = 2;
const REQUESTS_A_ROUND = 12;
const SESSIONS = 4;

interface Wish {
  readonly key: string;
  readonly session: string;
}

/** What one sequence of crashes has asked for, and been promised. */
interface Ledger {
  readonly promised: Map<string, string>;
  /** Requests that got no answer: they are made again. */
  open: Wish[];
}

test(`${ROUNDS} kills over accept, run and deliver: no answered run is lost, repeated requests make one run`, async (t) => {
  const rounds = Array.from({ length: SIDE_BY_SIDE }, (_, i) => Math.ceil((ROUNDS - i) / SIDE_BY_SIDE));
  await Promise.all(rounds.map((count, i) => crashes(t, count, i)));
});

async function crashes(t: TestContext, rounds: number, seed: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-kill-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const world = await startAgentServer(t, async ({ path }) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return path === '/in' ? 'taken' : 'reply';
  });
  const ledger: Ledger = { promised: new Map(), open: [] };
  for (let round = 0; round < rounds; round++) {
    const daemon = await start(t, dataDir, world.url);
    const fresh = Array.from({ length: REQUESTS_A_ROUND }, (_, i) => ({
      key: `${seed}-${round}-${i}`,
      session: `s${i % SESSIONS}`,
    }));
    const wishes = [...ledger.open, ...fresh];
    ledger.open = [];
    const asked = Promise.all(wishes.map((wish) => ask(daemon, wish, ledger)));
    // From the first byte of the first request to well after the last delivery.
    await new Promise((resolve) => setTimeout(resolve, (round / rounds) * 150));
    daemon.signal('SIGKILL');
    await daemon.exited();
    await asked;
  }
  await settle(t, dataDir, world, ledger);
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

async function ask(daemon: TestDaemon, wish: Wish, ledger: Ledger): Promise<void> {
  try {
    const answer = await send(`${daemon.adminUrl}/hooks/agent`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${SECRET}`,
        'content-type': 'application/json',
        'idempotency-key': wish.key,
      },
      body: JSON.stringify({ agent: 'a', message: wish.key, sessionKey: wish.session }),
    });
    assert.equal(answer.status, 200);
    ledger.promised.set(wish.key, (answer.json as { runId: string }).runId);
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    ledger.open.push(wish);
  }
}

async function settle(t: TestContext, dataDir: string, world: AgentServer, ledger: Ledger): Promise<void> {
  const daemon = await start(t, dataDir, world.url);
  const wishes = ledger.open;
  ledger.open = [];
  await Promise.all(wishes.map((wish) => ask(daemon, wish, ledger)));
  assert.deepEqual(ledger.open, []);
  const isOver = async () => {
    const { items } = (await daemon.api('GET', '/api/v1/runs?limit=1000')).json as { items: Run[] };
    return items.every(({ status, delivery }) => status === 'succeeded' && delivery === 'delivered');
  };
  await eventually(isOver, 30_000);
  daemon.signal('SIGTERM');
  assert.equal(await daemon.exited(), 0);

  const store = await openStore(await databaseOf(dataDir));
  const runs = (await store.runs.list({ limit: 100_000 })).reverse();
  const runners = await store.runs.runners();
  await store.close();
  assert.deepEqual(runners, []);
  const byMessage = new Map(runs.map((run) => [run.message ?? '', run]));
  assert.equal(byMessage.size, runs.length, 'a request made two runs');
  assert.deepEqual([...byMessage.keys()].sort(), [...ledger.promised.keys()].sort());
  for (const [key, id] of ledger.promised) assert.equal(byMessage.get(key)?.id, id);

  const asked = world.requests.filter(({ path }) => path !== '/in');
  const delivered = new Set(
    world.requests.filter(({ path }) => path === '/in').map(({ json }) => json.runId),
  );
  for (const { id } of runs) assert.ok(delivered.has(id), `${id} was never delivered`);
  for (let i = 0; i < SESSIONS; i++) {
    const firstSeen = [
      ...new Set(asked.filter(({ json }) => json.session === `s${i}`).map(({ json }) => json.runId)),
    ];
    const accepted = runs.filter(({ session }) => session === `s${i}`).map(({ id }) => id);
    assert.deepEqual(firstSeen, accepted, 'a session was not run in the order of acceptance');
  }
}

test('kill -9 while commands run: what they left is killed at the next start, and the runs are tried again', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-orphan-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const pids = join(dataDir, 'pids');
  // Says who it is, leaves a child in a session of its own, and ends by itself only at the second attempt.
  const script = `echo $$ >> ${pids}; setsid sh -c 'echo $$ >> ${pids}; exec sleep 300' & [ "$PULSEGATE_ATTEMPT" = 2 ] && echo done || sleep 300`;
  const config = {
    webhooks: { enabled: true, secret: SECRET, concurrency: 8, agents: { a: {} } },
    agents: {
      a: { type: 'command', command: ['sh', '-c', script], channel: { type: 'file', path: 'replies.jsonl' } },
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
  const started = async () =>
    (await readFile(pids, 'utf8').catch(() => '')).trimEnd().split('\n').map(Number);
  await eventually(async () => (await started()).length === 10);
  const orphans = await started();
  first.signal('SIGKILL');
  await first.exited();
  assert.ok(orphans.every(isAlive), 'they outlive the daemon');

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
  for (const pid of (await started()).filter(isAlive)) process.kill(pid, 'SIGKILL');
});

test('a shutdown, and a second signal, take the commands along', async (t) => {
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
        agents: { a: { type: 'command', command: ['sh', '-c', script] } },
      },
    });
    await daemon.api('POST', '/api/v1/agents/a/messages', { message: 'x' });
    const started = async () =>
      (await readFile(pids, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    await eventually(async () => (await started()).length >= 2);
    daemon.signal('SIGTERM');
    if (signals === 2) {
      await daemon.waitForLine(({ msg }) => msg.startsWith('stopping'));
      daemon.signal('SIGTERM');
    }
    await once(daemon.process, 'exit');
    // They were killed; the kernel may take a moment.
    await eventually(async () => (await started()).every((pid) => !isAlive(pid)));
  }
});

/** A zombie, which its parent has not asked after yet, is dead. */
const isAlive = (pid: number): boolean => processStart(pid) !== '';
