// Calls of /api/v1 in the process of a command that has opened the database itself, without a network. Without koa too, because
// reading it takes longer than most commands.
import type { Readable } from 'node:stream';
import type { ParameterizedContext } from 'koa';
import { sendProblem } from './api/problem.js';
import type { Route } from './api/route.js';
import { answerRoute } from './api/serve.js';
import { type AdminState, type Caller, FILE_TYPE } from './caller.js';
import { fieldsOf } from './request.js';
import type { Services } from './services.js';

/** `path` is that of the route: `/accounts/{id}`. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body?: unknown;
  /** A file, for a route that reads its body as a stream. */
  readonly content?: Readable;
  readonly ifMatch?: string | undefined;
  /** Answers a list in memory in one page: each page would search and sort it anew. */
  readonly isWhole?: boolean;
}

export async function callInProcess(
  routes: readonly Route[],
  services: Services,
  caller: Caller,
  { method, path, params, query, body, content, ifMatch, isWhole }: Call,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const route = routes.find((each) => each.method === method && each.path === `/api/v1${path}`);
  if (!route) throw new Error(`there is no ${method} ${path}`);
  const readJsonObject = async () => {
    const sent = JSON.parse(JSON.stringify(body)) as object;
    const read = fieldsOf(Object.entries(sent));
    return read.ok ? { ...read, names: Object.keys(sent) } : read;
  };
  const answer = { status: 404, body: '' };
  // What handlers use of a request and its answer.
  const ctx = Object.assign(answer, {
    method,
    path: route.path,
    params,
    querystring: query.toString(),
    hostname: 'localhost',
    host: 'localhost',
    state: { client: '', isForwarded: false, hosts: [], caller } satisfies AdminState,
    request: { type: FILE_TYPE },
    req: Object.assign(content ?? {}, { headers: { 'if-match': ifMatch }, socket: {} }),
    res: { setHeader: () => undefined },
    set: () => undefined,
  });
  const readers = {
    unknownFields: 'refused',
    readJsonObject,
    readBulkJsonObject: readJsonObject,
    lostAccess: () => null,
    isConfirmed: async () => true,
  } as const;
  let returned: unknown;
  await answerRoute(
    ctx as unknown as ParameterizedContext<AdminState>,
    isWhole ? inOnePage(route) : route,
    () => services,
    readers,
    (to, result) => {
      if ('problem' in result) sendProblem(to, result);
      else returned = result.body;
    },
  );
  return { status: answer.status, body: returned ?? (answer.body && JSON.parse(answer.body)) };
}

const inOnePage = (route: Route): Route => ({
  ...route,
  handle: (input, services) =>
    route.handle({ ...input, query: { ...input.query, limit: Infinity } }, services),
});
