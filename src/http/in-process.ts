// Calls of /api/v1 in the process of a command that has opened the database itself, without a network. Without koa too, because
// reading it takes longer than most commands.
import type { ParameterizedContext } from 'koa';
import type { Route } from './api/route.js';
import { answerRoute } from './api/serve.js';
import type { AdminState, Caller } from './caller.js';
import { fieldsOf } from './fields.js';
import type { Services } from './services.js';

/** `path` is that of the route: `/accounts/{id}`. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly ifMatch: string | undefined;
}

export async function callInProcess(
  routes: readonly Route[],
  services: Services,
  caller: Caller,
  { method, path, params, query, body, ifMatch }: Call,
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
    ...{ method, path: route.path, params, querystring: query.toString(), hostname: 'localhost' },
    host: 'localhost',
    state: { client: '', isForwarded: false, hosts: [], caller } satisfies AdminState,
    req: { headers: { 'if-match': ifMatch }, socket: {} },
    res: { setHeader: () => undefined },
    set: () => undefined,
  });
  await answerRoute(ctx as unknown as ParameterizedContext<AdminState>, route, () => services, {
    unknownFields: 'refused',
    readJsonObject,
    readBulkJsonObject: readJsonObject,
    lostAccess: () => null,
    isConfirmed: async () => true,
  });
  return { status: answer.status, body: answer.body && JSON.parse(answer.body) };
}
