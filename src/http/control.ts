// /api/v1 for the command line on this machine, over a Unix socket. No credentials are needed: a user who may open the
// socket owns the data folder, and could change the database directly.
import { createServer, type Server } from 'node:http';
import type Router from '@koa/router';
import Koa from 'koa';
import type { Log } from '../core/log.js';
import { printable } from '../core/text.js';
import { type AdminState, commandCaller, IDENTITY_PATH, USER_HEADER } from './caller.js';
import { answerFailures, otherMethods, unknownPath } from './guards/failures.js';

/** Most commands at the same time. A command sends one request after another. */
const MAX_CONNECTIONS = 64;
const REQUEST_TIMEOUT_MS = 30_000;

/** @param identity of the daemon, which a command reads before it asks anything else */
export function createControlServer(v1: Router<AdminState>, log: Log, identity: string): Server {
  const app = new Koa<AdminState>();
  app.use(answerFailures(log));
  app.use((ctx, next) => {
    if (ctx.path !== IDENTITY_PATH) return next();
    ctx.body = JSON.stringify(identity);
  });
  app.use((ctx, next) => {
    const name = userOf(ctx.get(USER_HEADER));
    Object.assign(ctx.state, {
      client: '',
      isForwarded: false,
      hosts: [],
      caller: commandCaller(name),
    } satisfies AdminState);
    return next();
  });
  app.use(v1.routes());
  app.use(otherMethods());
  app.use(unknownPath());
  app.on('error', (err: unknown) => log.debug({ err }, 'control socket response failed'));
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, app.callback());
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function userOf(header: string): string {
  try {
    return printable(decodeURIComponent(header), 60) || 'unknown';
  } catch {
    return 'unknown';
  }
}
