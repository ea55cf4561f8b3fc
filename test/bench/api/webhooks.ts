// Webhooks: requests that are accepted after their run is stored, and runs that are executed.
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { SECRET } from '../../helpers/hooks.js';
import type { Scope } from '../../helpers/suite.js';
import type { Numbers } from '../load.js';
import type { SqliteJob } from './bare-sqlite.js';
import { type HttpJob, requestText, type SendHttp } from './http-load.js';
import type { IntakeJob } from './intake-part.js';
import { type ApiMeasure, type Group, OURS, withCpu } from './measure.js';
import { startPart } from './parts.js';

const CALLERS = 64;
const MESSAGE = 'a message of ordinary length, about as long as this one is';
const REQUEST = requestText(
  'POST',
  '/hooks/agent',
  { Authorization: `Bearer ${SECRET}` },
  { agent: 'a', message: MESSAGE },
);
/** Interval at which the log is read for the end of the last run. */
const POLL_MS = 20;

export function webhookGroup(sendHttp: SendHttp, scale: number): Group {
  return {
    name: 'webhooks',
    async open(t) {
      return [
        await accepting(t, sendHttp, Math.ceil(4000 * scale)),
        await finishing(t, sendHttp, Math.ceil(1500 * scale)),
      ];
    },
  };
}

async function accepting(t: Scope, sendHttp: SendHttp, count: number): Promise<ApiMeasure> {
  // The first run never ends, so that only accepting is measured.
  const daemon = await startGateway(t, 1, { type: 'command', command: ['sleep', '10000'], timeout: '1h' });
  const intake = await startPart(t, 'intake-part');
  return {
    name: 'webhooks accepted, the run stored first',
    moreIsBetter: ['requests/s'],
    sides: [
      {
        name: OURS,
        async run() {
          const { numbers, cpuUs } = await withCpu(daemon.pid, count, () => sendHttp(posts(daemon, count)));
          const { perSecond = 0, p99Ms = 0 } = numbers;
          return { 'requests/s': perSecond, 'CPU µs each': cpuUs, 'p99 ms': p99Ms };
        },
      },
      {
        name: 'the same inserts without HTTP',
        async run() {
          const job: IntakeJob = { callers: CALLERS, count, message: MESSAGE };
          const { numbers, cpuUs } = await withCpu(intake.pid, count, () => intake.run(job));
          return { 'requests/s': numbers['perSecond'] ?? 0, 'CPU µs each': cpuUs };
        },
      },
    ],
  };
}

/** Measures runs of an agent that answers at once, from the first request to the end of the last run. */
async function finishing(t: Scope, sendHttp: SendHttp, count: number): Promise<ApiMeasure> {
  const koa = await startPart(t, 'koa-handler');
  const sqlite = await startPart(t, 'bare-sqlite');
  const url = `http://127.0.0.1:${(await koa.run(null))['port'] ?? 0}/agent`;
  const sides = await Promise.all(
    [4, 32].map(async (concurrency) => {
      const daemon = await startGateway(t, concurrency, { type: 'http', url });
      return {
        name: `${OURS}, ${concurrency} at once`,
        run: async (): Promise<Numbers> => {
          const { numbers, cpuUs } = await withCpu(daemon.pid, count, () => runAll(daemon, sendHttp, count));
          return { ...numbers, 'CPU µs each': cpuUs };
        },
      };
    }),
  );
  return {
    name: 'webhook runs accepted and executed',
    moreIsBetter: ['runs/s'],
    sides: [
      ...sides,
      {
        name: 'bare sqlite3, start and end of each on the disk',
        async run() {
          const { perSecond = 0 } = await sqlite.run({ kind: 'run', count } satisfies SqliteJob);
          return { 'runs/s': perSecond };
        },
      },
    ],
  };
}

async function runAll(daemon: TestDaemon, sendHttp: SendHttp, count: number): Promise<Numbers> {
  let read = daemon.lines.length;
  let ended = 0;
  const startedAt = performance.now();
  await sendHttp(posts(daemon, count));
  for (; ended < count; await sleep(POLL_MS)) {
    for (; read < daemon.lines.length; read += 1) {
      const line = daemon.lines[read];
      if (line?.msg !== 'run finished') continue;
      if (line['status'] !== 'succeeded') throw new Error(`a run is ${String(line['status'])}`);
      ended += 1;
    }
  }
  return { 'runs/s': count / ((performance.now() - startedAt) / 1000) };
}

function posts(daemon: TestDaemon, count: number): HttpJob {
  const port = Number(new URL(daemon.adminUrl).port);
  return { port, callers: CALLERS, requests: [REQUEST], count };
}

function startGateway(t: Scope, concurrency: number, agent: object): Promise<TestDaemon> {
  const queue = { perAgent: 1_000_000, total: 1_000_000 };
  return startTestDaemon(t, {
    config: {
      webhooks: { enabled: true, secret: SECRET, concurrency, queue, agents: { a: {} } },
      agents: { a: agent },
    },
  });
}
