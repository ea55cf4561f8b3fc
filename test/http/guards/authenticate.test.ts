// A console session of a removed operator must not authenticate as the administrator.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import Koa from 'koa';
import type { AdminState } from '../../../src/http/caller.js';
import { type AuthenticateDeps, authenticate } from '../../../src/http/guards/authenticate.js';

test('a console session of a removed operator does not authenticate', async (t) => {
  const session = { hash: 'h', username: 'kim', operatorId: 'gone' };
  const deps = {
    principals: { get: (id: string | null) => (id === null ? { operator: null } : null), verify: () => null },
    consoleSessions: { find: () => session, read: async () => session },
  } as unknown as AuthenticateDeps;
  const app = new Koa<AdminState>();
  app.use((ctx, next) => {
    ctx.state.client = '127.0.0.1';
    return next();
  });
  app.use(authenticate(deps));
  app.use((ctx) => {
    ctx.body = 'in';
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/me`, {
    headers: { cookie: 'pulsegate_session=x', connection: 'close' },
  });
  assert.equal(answer.status, 401, await answer.text());
});
