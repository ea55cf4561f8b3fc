// Accounts over HTTP: lists, pages, one by its id, changes, and logins while many are brought in.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { basic } from '../../helpers/http.js';
import type { Scope } from '../../helpers/suite.js';
import type { Numbers } from '../load.js';
import type { SqliteJob } from './bare-sqlite.js';
import { requestText, type SendHttp } from './http-load.js';
import type { LoginJob } from './logins.js';
import { type ApiMeasure, type Group, inScope, OURS, type Side, withCpu } from './measure.js';
import { type Part, startPart } from './parts.js';

const AUTHORIZED = { Authorization: basic(ADMIN.username, ADMIN.password) };
const EMPTY_KOA = 'empty Koa handler';
const KOA_LIST = 'Koa, JSON of as many objects';
const BARE_SQLITE = 'bare sqlite3';
const CALLERS = 16;

/** Reading among `count` accounts. `scale` 1 makes some thousands of requests of each kind. */
export function readingGroup(sendHttp: SendHttp, count: number, scale: number): Group {
  return {
    name: `reading ${count.toLocaleString('en')} accounts`,
    async open(t) {
      const koa = await startPart(t, 'koa-handler');
      const daemon = await startWith(t, count);
      const ids = await accountIds(daemon);
      const koaPort = (await koa.ask(null))['port'] ?? 0;
      const toUs = { pid: daemon.pid, port: portOf(daemon), sendHttp };
      const toKoa = { pid: koa.pid, port: koaPort, sendHttp };
      const empty = requestText('GET', '/empty', AUTHORIZED);
      const fifty = requestText('GET', '/list/50', AUTHORIZED);

      const lists = Math.ceil(10 * scale);
      const pages = Math.ceil(100 * scale);
      const single = Math.ceil(8000 * scale);
      const v1 = (query: string): string =>
        requestText('GET', `/api/v1/accounts?limit=50${query}`, AUTHORIZED);
      return [
        {
          name: `list of all ${count.toLocaleString('en')} accounts`,
          moreIsBetter: [],
          sides: [
            slow(OURS, toUs, lists, requestText('GET', '/ProxyAccount/GetProxyAccountList', AUTHORIZED)),
            slow(KOA_LIST, toKoa, lists, requestText('GET', `/list/${count}`, AUTHORIZED)),
          ],
        },
        page('first page of 50', v1('')),
        page('first page of 50, found by a part of the name', v1('&search=77')),
        {
          name: `one of ${count.toLocaleString('en')} by its id`,
          moreIsBetter: ['requests/s'],
          sides: [
            quick(OURS, toUs, single, ids.map(byId)),
            quick(`${OURS}, /api/v1`, toUs, single, ids.map(byIdV1)),
            quick(EMPTY_KOA, toKoa, single, [empty]),
          ],
        },
      ];

      function page(what: string, request: string): ApiMeasure {
        return {
          name: `${what}, of ${count.toLocaleString('en')}`,
          moreIsBetter: [],
          sides: [slow(OURS, toUs, pages, request), slow(KOA_LIST, toKoa, pages, fifty)],
        };
      }
    },
  };
}

const byId = (id: string): string =>
  requestText('GET', `/ProxyAccount/GetProxyAccountByID?AID=${id}`, AUTHORIZED);
const byIdV1 = (id: string): string => requestText('GET', `/api/v1/accounts/${id}`, AUTHORIZED);

/** Accounts added and changed one a request, `CALLERS` at once. */
export function writingGroup(sendHttp: SendHttp, scale: number): Group {
  return {
    name: 'writing accounts',
    async open(t) {
      const daemon = await startTestDaemon(t);
      const sqlite = await startPart(t, 'bare-sqlite');
      const many = Math.ceil(1000 * scale);
      await importAccounts(daemon, many);
      const ids = await accountIds(daemon);
      const us = { pid: daemon.pid, port: portOf(daemon), sendHttp };
      let added = 0;
      const add = (): string => {
        added += 1;
        const body = { Username: `added${added}`, Password: 'secret' };
        return requestText('POST', '/ProxyAccount/AddProxyAccount', AUTHORIZED, body);
      };
      const update = (id: string, i: number): string => {
        const body = { AID: id, Remarks: `remark ${i}`, IsEnabled: true };
        return requestText('POST', '/ProxyAccount/UpdateProxyAccount', AUTHORIZED, body);
      };
      return [
        {
          name: 'accounts added, one a request',
          moreIsBetter: ['requests/s'],
          sides: [
            { name: OURS, run: () => requests(us, many, Array.from({ length: many }, add)) },
            bare(sqlite, 'add', many),
          ],
        },
        {
          name: 'accounts changed, one a request',
          moreIsBetter: ['requests/s'],
          sides: [quick(OURS, us, many, ids.map(update)), bare(sqlite, 'update', many)],
        },
      ];
    },
  };
}

/** SOCKS logins beside an import of `count` accounts; each run has a daemon of its own. */
export function importGroup(count: number, scale: number): Group {
  const name = `logins while ${count.toLocaleString('en')} accounts are imported`;
  return {
    name,
    async open(t) {
      const logins = await startPart(t, 'logins');
      return [
        {
          name,
          moreIsBetter: ['accounts/s'],
          startsAnew: true,
          sides: [
            { name: OURS, run: () => withDaemon((daemon) => importing(logins, daemon, count)) },
            {
              name: `${OURS}, no import`,
              run: () => withDaemon((daemon) => loggingIn(logins, daemon, IDLE_MS * scale)),
            },
          ],
        },
      ];
    },
  };
}

const IDLE_MS = 3000;
const PLAYER = { user: 'player', password: 'secret' };

async function importing(logins: Part, daemon: TestDaemon, count: number): Promise<Numbers> {
  const startedAt = performance.now();
  const result = await duringLogins(logins, daemon, () => importAccounts(daemon, count));
  return { ...result, 'accounts/s': count / ((performance.now() - startedAt) / 1000) };
}

function loggingIn(logins: Part, daemon: TestDaemon, forMs: number): Promise<Numbers> {
  return duringLogins(logins, daemon, () => new Promise((resolve) => setTimeout(resolve, forMs)));
}

async function duringLogins(
  logins: Part,
  daemon: TestDaemon,
  work: () => Promise<unknown>,
): Promise<Numbers> {
  const job = {
    kind: 'logins',
    port: daemon.socks.port,
    ...PLAYER,
    callers: 2,
    pauseMs: 5,
  } satisfies LoginJob;
  const result = logins.ask(job);
  await work();
  await logins.ask({ kind: 'stop' } satisfies LoginJob);
  const { p50Ms = 0, p99Ms = 0, maxMs = 0 } = await result;
  return { 'p50 ms': p50Ms, 'p99 ms': p99Ms, 'longest ms': maxMs };
}

function withDaemon(work: (daemon: TestDaemon) => Promise<Numbers>): Promise<Numbers> {
  return inScope(async (t) => {
    const daemon = await startTestDaemon(t);
    await daemon.addAccount(PLAYER.user, PLAYER.password);
    return await work(daemon);
  });
}

/** A daemon that has found `count` accounts at its start: what an import leaves in the heap costs for a while. */
async function startWith(t: Scope, count: number): Promise<TestDaemon> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pulsegate-bench-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  await inScope(async (first) => {
    const daemon = await startTestDaemon(first, { dataDir });
    await importAccounts(daemon, count);
    daemon.signal('SIGTERM');
    await daemon.exited();
  });
  return await startTestDaemon(t, { dataDir });
}

/** As a file, over /api/v1. */
async function importAccounts(daemon: TestDaemon, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) => `player${String(i).padStart(6, '0')},secret\n`);
  const response = await fetch(`${daemon.adminUrl}/api/v1/accounts/import?format=csv`, {
    method: 'POST',
    headers: { ...AUTHORIZED, 'content-type': 'text/csv' },
    body: `username,password\n${lines.join('')}`,
  });
  const report = (await response.json()) as { added?: number };
  if (report.added !== count)
    throw new Error(`the import of ${count}: ${JSON.stringify(report).slice(0, 500)}`);
}

async function accountIds(daemon: TestDaemon): Promise<string[]> {
  const { json } = await daemon.api('GET', '/ProxyAccount/GetProxyAccountList');
  const ids = (json as { AID: string }[]).map(({ AID }) => AID);
  // Spread over the whole list, and few enough to hand over.
  const step = Math.ceil(ids.length / 1000);
  return ids.filter((_, i) => i % step === 0);
}

interface Target {
  readonly pid: number;
  readonly port: number;
  readonly sendHttp: SendHttp;
}

/** Requests that take milliseconds: one at a time, so that the time of each tells. */
function slow(name: string, target: Target, count: number, request: string): Side {
  return {
    name,
    async run() {
      const { numbers, cpuUs } = await send(target, 1, count, [request]);
      return { 'ms each': numbers['p50Ms'] ?? 0, 'CPU ms each': cpuUs / 1000 };
    },
  };
}

function quick(name: string, target: Target, count: number, texts: readonly string[]): Side {
  return { name, run: () => requests(target, count, texts) };
}

async function requests(target: Target, count: number, texts: readonly string[]): Promise<Numbers> {
  const { numbers, cpuUs } = await send(target, CALLERS, count, texts);
  return { 'requests/s': numbers['perSecond'] ?? 0, 'CPU µs each': cpuUs, 'p99 ms': numbers['p99Ms'] ?? 0 };
}

function send({ pid, port, sendHttp }: Target, callers: number, count: number, texts: readonly string[]) {
  return withCpu(pid, count, () => sendHttp({ port, callers, requests: texts, count }));
}

function bare(sqlite: Part, kind: SqliteJob['kind'], count: number): Side {
  return {
    name: BARE_SQLITE,
    async run() {
      const job: SqliteJob = { kind, count };
      const { numbers, cpuUs } = await withCpu(sqlite.pid, count, () => sqlite.ask(job));
      return { 'requests/s': numbers['perSecond'] ?? 0, 'CPU µs each': cpuUs };
    },
  };
}

function portOf({ adminUrl }: TestDaemon): number {
  return Number(new URL(adminUrl).port);
}
