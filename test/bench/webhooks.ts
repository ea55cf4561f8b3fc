// How many webhook requests a second are accepted with their run on the disk, as a ratio to the same inserts without
// HTTP: `node dist/test/bench/webhooks.js`. Both use group commit; the daemon is the real one, in a process of its own.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrderedIds } from '../../src/core/ordered-id.js';
import { createIntake } from '../../src/hooks/intake.js';
import { createQueueRoom } from '../../src/hooks/room.js';
import { openStore } from '../../src/store/store.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { SECRET } from '../helpers/hooks.js';

const CALLERS = 64;
const REQUESTS = 4000;
const ROUNDS = 5;

const endings: (() => unknown)[] = [];
const t = { after: (end: () => unknown) => void endings.push(end) };

/** Calls `once` REQUESTS times, CALLERS at a time; returns calls a second. */
async function rate(call: () => Promise<void>): Promise<number> {
  let left = REQUESTS;
  const startedAt = performance.now();
  const caller = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return REQUESTS / ((performance.now() - startedAt) / 1000);
}

async function overHttp(): Promise<() => Promise<void>> {
  const daemon = await startTestDaemon(t, {
    config: {
      log: { level: 'warn' },
      webhooks: {
        enabled: true,
        secret: SECRET,
        concurrency: 1,
        queue: { perAgent: 1_000_000, total: 1_000_000 },
        agents: { a: {} },
      },
      // The first run never ends, so that only accepting is measured.
      agents: { a: { type: 'command', command: ['sleep', '1000'], timeout: '1h' } },
    },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const body = JSON.stringify({
    agent: 'a',
    message: 'a message of ordinary length, about as long as this one is',
  });
  const headers = {
    authorization: `Bearer ${SECRET}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return async () => {
    const req = request(`${daemon.adminUrl}/hooks/agent`, { method: 'POST', agent, headers });
    req.end(body);
    const [res] = await once(req, 'response');
    if (res.statusCode !== 200) throw new Error(`HTTP ${res.statusCode}`);
    res.resume();
    await once(res, 'end');
  };
}

async function withoutHttp(): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-bench-'));
  const store = await openStore({ dataDir, client: 'sqlite3', busyTimeoutMs: 5000 });
  t.after(async () => {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const newId = createOrderedIds(Date.now);
  const intake = createIntake({
    store: store.runs,
    owner: 'bench',
    room: createQueueRoom({ total: 1_000_000, perAgent: 1_000_000 }),
    now: Date.now,
    newId,
    onStored() {},
  });
  const message = 'a message of ordinary length, about as long as this one is';
  return async () => {
    const session = `hook:${newId()}`;
    const run = { kind: 'message', agent: 'a', session, message, origin: 'webhook', rerunOf: null } as const;
    const taken = await intake.take({ run, idempotency: null, answer: () => ({}) });
    if (taken.outcome !== 'stored') throw new Error(taken.outcome);
  };
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const http = await overHttp();
const direct = await withoutHttp();
const rates = { http: [] as number[], direct: [] as number[] };
// In turn, so that whatever else the machine does meets both.
for (let round = 0; round <= ROUNDS; round++) {
  const one = { http: await rate(http), direct: await rate(direct) };
  if (round === 0) continue;
  rates.http.push(one.http);
  rates.direct.push(one.direct);
}
const [accepted, inserted] = [median(rates.http), median(rates.direct)];
console.log(`accepted over HTTP, run stored: ${accepted.toFixed(0)} a second`);
console.log(`the same inserts without HTTP:  ${inserted.toFixed(0)} a second`);
console.log(`ratio: ${(accepted / inserted).toFixed(2)}`);
for (const end of endings.reverse()) await end();
