// Accounts over HTTP: lists, pages, single accounts by id, changes.
import { startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import type { Numbers } from '../load.js';
import type { SqliteJob } from './bare-sqlite.js';
import { requestText, type SendHttp } from './http-load.js';
import { AUTHORIZED, importAccounts, startWith } from './many-accounts.js';
import { type ApiMeasure, type Group, OURS, type Side, withCpu } from './measure.js';
import { type Part, startPart } from './parts.js';

const EMPTY_KOA = 'empty Koa handler';
const KOA_LIST = 'Koa, JSON of as many objects';
const BARE_SQLITE = 'bare sqlite3';
const CALLERS = 16;

/** Reads among `count` accounts. `scale` 1 makes some thousands of requests of each kind. */
export function readingGroup(sendHttp: SendHttp, count: number, scale: number): Group {
  return {
    name: `reading ${count.toLocaleString('en')} accounts`,
    async open(t) {
      const koa = await startPart(t, 'koa-handler');
      const daemon = await startWith(t, count);
      const ids = await accountIds(daemon);
      const koaPort = (await koa.run(null))['port'] ?? 0;
      const toDaemon = { pid: daemon.pid, port: portOf(daemon), sendHttp };
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
            slow(OURS, toDaemon, lists, requestText('GET', '/ProxyAccount/GetProxyAccountList', AUTHORIZED)),
            slow(KOA_LIST, toKoa, lists, requestText('GET', `/list/${count}`, AUTHORIZED)),
          ],
        },
        page('first page of 50', v1('')),
        page('first page of 50, found by a part of the name', v1('&search=77')),
        {
          name: `one of ${count.toLocaleString('en')} by its id`,
          moreIsBetter: ['requests/s'],
          sides: [
            quick(OURS, toDaemon, single, ids.map(byId)),
            quick(`${OURS}, /api/v1`, toDaemon, single, ids.map(byIdV1)),
            quick(EMPTY_KOA, toKoa, single, [empty]),
          ],
        },
      ];

      function page(description: string, request: string): ApiMeasure {
        return {
          name: `${description}, of ${count.toLocaleString('en')}`,
          moreIsBetter: [],
          sides: [slow(OURS, toDaemon, pages, request), slow(KOA_LIST, toKoa, pages, fifty)],
        };
      }
    },
  };
}

const byId = (id: string): string =>
  requestText('GET', `/ProxyAccount/GetProxyAccountByID?AID=${id}`, AUTHORIZED);
const byIdV1 = (id: string): string => requestText('GET', `/api/v1/accounts/${id}`, AUTHORIZED);

/** Adds and changes accounts, one account per request, `CALLERS` requests at once. */
export function writingGroup(sendHttp: SendHttp, scale: number): Group {
  return {
    name: 'writing accounts',
    async open(t) {
      const daemon = await startTestDaemon(t);
      const sqlite = await startPart(t, 'bare-sqlite');
      const many = Math.ceil(1000 * scale);
      await importAccounts(daemon, many);
      const ids = await accountIds(daemon);
      const toDaemon = { pid: daemon.pid, port: portOf(daemon), sendHttp };
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
          name: 'accounts added, one per request',
          moreIsBetter: ['requests/s'],
          sides: [
            { name: OURS, run: () => requests(toDaemon, many, Array.from({ length: many }, add)) },
            bare(sqlite, 'add', many),
          ],
        },
        {
          name: 'accounts changed, one per request',
          moreIsBetter: ['requests/s'],
          sides: [quick(OURS, toDaemon, many, ids.map(update)), bare(sqlite, 'update', many)],
        },
      ];
    },
  };
}

async function accountIds(daemon: TestDaemon): Promise<string[]> {
  const { json } = await daemon.api('GET', '/ProxyAccount/GetProxyAccountList');
  const ids = (json as { AID: string }[]).map(({ AID }) => AID);
  // Spread over the whole list, and few enough for one job.
  const step = Math.ceil(ids.length / 1000);
  return ids.filter((_, i) => i % step === 0);
}

interface Target {
  readonly pid: number;
  readonly port: number;
  readonly sendHttp: SendHttp;
}

/** Requests that take milliseconds: one at a time, so that the time of each is measured. */
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
      const { numbers, cpuUs } = await withCpu(sqlite.pid, count, () => sqlite.run(job));
      return { 'requests/s': numbers['perSecond'] ?? 0, 'CPU µs each': cpuUs };
    },
  };
}

function portOf({ adminUrl }: TestDaemon): number {
  return Number(new URL(adminUrl).port);
}
