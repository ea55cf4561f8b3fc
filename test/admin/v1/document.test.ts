// The document of /api/v1: equal to the routes both ways, readable by whoever is signed in, and all answers problems.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routes } from '../../../src/admin/v1/contract/index.js';
import { buildOpenApi } from '../../../src/admin/v1/openapi.js';
import { startTestAdmin } from '../../helpers/admin.js';
import { send } from '../../helpers/http.js';

test('what is served and what is documented are the same', async (t) => {
  const admin = await startTestAdmin(t);
  const documented = Object.entries(buildOpenApi()['paths'] as Record<string, object>).flatMap(
    ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual([...admin.server.v1Routes].sort(), documented.sort());
  const answer = await admin.api('GET', '/api/v1/openapi.json');
  assert.deepEqual(answer.json, JSON.parse(JSON.stringify(buildOpenApi())));
});

test('every route refuses who is nobody, and names its other methods', async (t) => {
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

test('refusals under /api/v1 are problems; those of the account API stay JSON strings', async (t) => {
  const admin = await startTestAdmin(t);
  const unknown = await admin.api('GET', '/api/v1/nowhere');
  assert.equal(unknown.headers['content-type'], 'application/problem+json; charset=utf-8');
  const problem = unknown.json as Record<string, unknown>;
  assert.deepEqual([problem['status'], problem['code'], problem['type']], [404, 'not-found', 'about:blank']);
  assert.equal((await admin.api('GET', '/nowhere')).text, '"路径不存在"');
  await admin.whitelist.save('10.9.8.7');
  const shut = await admin.api('GET', '/api/v1/me');
  assert.deepEqual([shut.status, (shut.json as Record<string, unknown>)['code']], [403, 'forbidden']);
});

test('the page to read it by runs nothing, and lists every operation', async (t) => {
  const admin = await startTestAdmin(t);
  const page = await admin.api('GET', '/api/v1/docs');
  assert.equal(page.status, 200);
  assert.ok(!/<script|javascript:|\son\w+=|https?:\/\//i.test(page.text));
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
  for (const { operationId } of routes) assert.ok(page.text.includes(`id="${operationId}"`), operationId);
});
