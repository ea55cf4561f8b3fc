// The OpenAPI document of /api/v1: routes, access, errors and responses are as it says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { routes } from '../../../src/http/v1/routes.js';
import { startTestAdmin } from '../../helpers/admin.js';
import { startTestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { send } from '../../helpers/http.js';
import { openApi } from '../../helpers/openapi.js';
import { connectThrough } from '../../helpers/socks-client.js';
import { echo, startTarget } from '../../helpers/targets.js';

test('the served routes and the documented ones are the same', async (t) => {
  const admin = await startTestAdmin(t);
  const documented = Object.entries(openApi()['paths'] as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual([...admin.server.v1Routes].sort(), documented.sort());
  const answer = await admin.api('GET', '/api/v1/openapi.json');
  assert.deepEqual(answer.json, JSON.parse(JSON.stringify(openApi())));
});

test('the document names the operations that need a confirmation, and no other gives lasting access', () => {
  const needing = routes.filter((route) => route.needsConfirmation).map((route) => route.operationId);
  assert.deepEqual(needing.sort(), [
    'addEventReceiver',
    'changeEventReceiver',
    'changeOperator',
    'confirmTotp',
    'createOperator',
    'createToken',
    'downloadBackup',
    'enrolTotp',
    'exportAccounts',
    'resetOperatorTotp',
    'setNoticeSettings',
  ]);
  assert.match(
    JSON.stringify(openApi()),
    /"operationId":"createToken"[^}]*"description":"A console session needs a recent/,
  );
});

test('every route refuses callers without credentials, and lists its methods', async (t) => {
  const admin = await startTestAdmin(t);
  const browser = { 'user-agent': 'Mozilla/5.0' };
  for (const { method, path, access } of routes) {
    const url = path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
    if (access === 'public') continue;
    const refused = await send(admin.url + url, { method, headers: browser });
    if (path === '/api/v1/docs') assert.deepEqual([refused.status, refused.headers['location']], [302, '/']);
    else assert.equal(refused.status, 401, `${method} ${path}`);
    const wrong = await admin.api('PROPFIND', url);
    assert.equal(wrong.status, 405, path);
    assert.ok(wrong.headers['allow']?.includes(method), path);
  }
});

test('errors under /api/v1 are problems (RFC 9457); those of the account API are JSON strings', async (t) => {
  const admin = await startTestAdmin(t);
  const unknown = await admin.api('GET', '/api/v1/nowhere');
  assert.equal(unknown.headers['content-type'], 'application/problem+json; charset=utf-8');
  const problem = unknown.json as Record<string, unknown>;
  assert.deepEqual([problem['status'], problem['code'], problem['type']], [404, 'not-found', 'about:blank']);
  assert.equal((await admin.api('GET', '/nowhere')).text, '"路径不存在"');
  await admin.whitelist.save('10.9.8.7');
  const refused = await admin.api('GET', '/api/v1/me');
  assert.deepEqual([refused.status, (refused.json as Record<string, unknown>)['code']], [403, 'forbidden']);
});

test('the web page of the document has no scripts and lists every operation', async (t) => {
  const admin = await startTestAdmin(t);
  const page = await admin.api('GET', '/api/v1/docs');
  assert.equal(page.status, 200);
  assert.ok(!/<script|javascript:|\son\w+=|https?:\/\//i.test(page.text));
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
  for (const { operationId } of routes) assert.ok(page.text.includes(`id="${operationId}"`), operationId);
});

test('responses match the schemas of the document', async (t) => {
  const target = await startTarget(t, echo);
  const daemon = await startTestDaemon(t, {
    config: {
      heartbeats: { games: [{ id: 'arena' }] },
      agents: { parrot: { type: 'command', command: ['node', '-e', '0'] } },
    },
  });
  const id = await daemon.addAccount('alice', 'secret', { ExpiresAt: '2030-01-01T00:00:00' });
  await daemon.api('POST', '/api/v1/tokens', { name: 't', scopes: ['audit:read'] });
  const sent = await daemon.api('POST', '/api/v1/agents/parrot/messages', {
    message: 'x',
    sessionKey: 'key',
  });
  const { runId } = sent.json as { runId: string };
  const account = { port: daemon.socks.port, username: 'alice', password: 'secret' };
  await connectThrough(account, '127.0.0.1', target.port);
  await daemon.api('POST', '/api/v1/exits', { name: 'jp', addresses: ['127.0.0.7'] });
  // The lists have something to check.
  for (const list of ['sessions', 'logins', 'heartbeats']) {
    await eventually(async () => {
      const { items } = (await daemon.api('GET', `/api/v1/${list}`)).json as { items: unknown[] };
      assert.ok(items.length > 0, list);
    });
  }
  // Its end starts the conversation.
  await eventually(async () => {
    const run = (await daemon.api('GET', `/api/v1/runs/${runId}`)).json as { status: string };
    assert.equal(run.status, 'succeeded');
  });
  let checked = 0;
  for (const { method, path, success } of routes) {
    const [, , schema] = success;
    if (method !== 'GET' || !(schema instanceof z.ZodType)) continue;
    const url = path
      .replace('/runs/{id}', `/runs/${runId}`)
      .replace('{id}', id)
      .replace('{key}', 'key')
      .replace('{name}', 'jp');
    const search = `?destination=127.0.0.1&at=${new Date().toISOString()}`;
    const answer = await daemon.api('GET', path === '/api/v1/trace' ? url + search : url);
    assert.equal(answer.status, 200, `${url}: ${answer.text}`);
    const parsed = schema.safeParse(answer.json);
    assert.ok(parsed.success, `${url}: ${parsed.error?.message}`);
    // The response has no field that the document does not describe.
    assert.deepEqual(parsed.data, answer.json, url);
    checked += 1;
  }
  assert.ok(checked >= 20, `${checked} routes`);
});
